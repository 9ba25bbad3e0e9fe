"""How much of a build is done, and how long the rest takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of the cache: its time on 2 idle CPUs, and the lines that its commands print."""

    seconds: float
    lines: int


_KERNEL = Part(375, 1812)
PARTS = {
    "root": Part(42, 2390),
    "kernel": _KERNEL,
    "stable-kernel": _KERNEL,
    "vanilla-kernel": _KERNEL,
    "no-l3mdev-kernel": _KERNEL,
    "python": Part(25, 130),
    "pygnmi": Part(10, 35),
    "programs": Part(2, 1),
    "yang": Part(5, 8),
    "sysrepo": Part(1, 50),
    "netconfd": Part(15, 1),
    "debroot": Part(80, 2970),
    "wheels": Part(5, 1),
    "debs": Part(110, 221),
}
UNKNOWN = Part(30, 100)
# As if so much had been built at the speed of those figures before this machine's own speed shows.
PRIOR = 30.0


class Forecast:
    """The progress of a sequence of parts. Each is as far as it has printed lines."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self._left = {kind: PARTS.get(kind, UNKNOWN) for kind in kinds}
        self._total = sum(part.seconds for part in self._left.values())
        self._done = 0.0
        self._current: Part | None = None
        self._lines = 0

    def begin(self, kind: str) -> None:
        """A part of another sequence counts for nothing."""
        self._current = self._left.pop(kind, None)
        self._lines = 0

    def line(self) -> None:
        self._lines += 1

    def end(self) -> None:
        """The part is complete, however many lines it printed."""
        if self._current is not None:
            self._done += self._current.seconds
        self._current = None

    def describe(self, elapsed: float) -> str:
        """Per cent and the time left, after this many seconds."""
        done = self._done
        if self._current is not None:
            done += self._current.seconds * min(self._lines / self._current.lines, 0.99)
        left = (self._total - done) * (elapsed + PRIOR) / (done + PRIOR)
        return f"{100 * done / max(self._total, 1):3.0f} %, {duration(left)} left"


def duration(seconds: float) -> str:
    """In whole minutes."""
    return "less than a minute" if seconds < 60 else f"about {math.ceil(seconds / 60)} min"
