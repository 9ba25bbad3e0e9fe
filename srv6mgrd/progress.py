"""How far a commit or a repair is, and the proof that threads make progress.

Written by one thread each, read by the event loop: what is read is replaced as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Objects that are one step: on a router 20 times slower than a server, less than a second.
EVERY = 1000


@dataclass(frozen=True, slots=True)
class Work:
    """A commit or a repair: since when (ns) it goes on, its stage, how many of its actions are
    done, and the object that is written."""

    name: str
    since: int
    stage: str = ""
    done: int = 0
    total: int = 0
    object: str = ""


class Progress:
    """``work`` is what is carried out now, None when nothing is; ``steps`` moves with each step of
    it."""

    def __init__(self, clock: Callable[[], int] = time.time_ns) -> None:
        self._clock = clock
        self.work: Work | None = None
        self._steps = 0
        self._awaited: Progress | None = None

    @property
    def steps(self) -> int:
        """Those of a thread that this one waits for among them."""
        awaited = self._awaited
        return self._steps + (awaited.steps if awaited is not None else 0)

    def begin(self, name: str) -> None:
        self.work = Work(name, self._clock())
        self.step()

    def enter(self, stage: str) -> None:
        """The next stage of the work."""
        if self.work is not None:
            self.work = replace(self.work, stage=stage)
        self.step()

    def write(self, done: int, total: int, key: str) -> None:
        """So many actions are done, and this object is next."""
        if self.work is not None:
            self.work = replace(self.work, done=done, total=total, object=key)
        self.step()

    def end(self) -> None:
        self.work = None
        self.step()

    def step(self) -> None:
        """Something was done."""
        self._steps += 1

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """These, with a step for each thousand."""
        for number, item in enumerate(items):
            if number % EVERY == 0:
                self.step()
            yield item

    def awaits(
        self,
        thread: Executor,
        other: Progress,
        call: Callable[P, T],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """The result of a call in another thread, whose steps count as ours until then."""
        future = thread.submit(call, *arguments, **named)
        self._awaited = other
        try:
            return future.result()
        finally:
            self._awaited = None
            self.step()


# Those of this process: of the writer, and of thread ``state``.
progress, state_progress = Progress(), Progress()


class Heartbeat:
    """Whether a thread gets on: it does what it is handed, or reports steps of something long.
    Used by the event loop."""

    def __init__(self, thread: Executor, steps: Callable[[], int] = lambda: 0) -> None:
        self._thread = thread
        self._steps = steps
        self._seen = 0
        self._beat: Future[None] | None = None

    def is_alive(self) -> bool:
        """Whether it got on since this was asked last."""
        steps, before = self._steps(), self._seen
        self._seen = steps
        if self._beat is not None and not self._beat.done():
            return steps != before
        self._beat = self._thread.submit(_nothing)
        return True


def heartbeats(writer: Executor, state: Executor) -> tuple[Heartbeat, Heartbeat]:
    """Of the threads whose work grows with what is declared."""
    return (
        Heartbeat(writer, lambda: progress.steps),
        Heartbeat(state, lambda: state_progress.steps),
    )


def all_alive(heartbeats: Iterable[Heartbeat]) -> bool:
    """Whether each got on since this was asked last."""
    found = [heartbeat.is_alive() for heartbeat in heartbeats]
    return all(found)


def _nothing() -> None:
    pass
