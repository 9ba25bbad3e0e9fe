"""Order of commits: one after the other, northbounds in turn. Pure.

A client with many requests does not delay one with few: requests wait in one line for each client,
and the lines are served in turn. A request leaves its line when its deadline passes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class Job(Protocol):
    """A request that waits."""

    @property
    def client(self) -> Hashable: ...

    @property
    def deadline(self) -> float: ...


J = TypeVar("J", bound=Job)


class FairQueue(Generic[J]):
    """Not thread-safe; its owner holds a lock."""

    def __init__(self) -> None:
        self._lines: OrderedDict[Hashable, deque[J]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def put(self, job: J) -> None:
        """Behind the other requests of its client."""
        self._lines.setdefault(job.client, deque()).append(job)

    def take(self) -> J | None:
        """The next request: the oldest of the client that has waited longest for its turn."""
        if not self._lines:
            return None
        client, line = next(iter(self._lines.items()))
        job = line.popleft()
        del self._lines[client]
        if line:
            self._lines[client] = line
        return job

    def remove(self, job: J) -> bool:
        """Take a request out of its line; False when it is not there any more."""
        line = self._lines.get(job.client)
        if line is None or job not in line:
            return False
        line.remove(job)
        if not line:
            del self._lines[job.client]
        return True

    def expired(self, now: float) -> list[J]:
        """Take out the requests whose deadline has passed."""
        late = [job for line in self._lines.values() for job in line if job.deadline <= now]
        for job in late:
            self.remove(job)
        return late
