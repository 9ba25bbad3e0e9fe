"""How far a commit or a repair is, and the proof that its thread makes progress.

Written by the writer's thread, read by the event loop: what is read is replaced as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace


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
        self.steps = 0

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
        self.steps += 1


# That of this process: one thread writes.
progress = Progress()


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


def all_alive(heartbeats: Iterable[Heartbeat]) -> bool:
    """Whether each got on since this was asked last."""
    found = [heartbeat.is_alive() for heartbeat in heartbeats]
    return all(found)


def _nothing() -> None:
    pass
