"""How often work that takes time is done again: many objects must not cost a CPU for nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

# What may be used of a CPU by work that finds something.
_BUSY = 0.1
# Work that finds nothing is put off this many times its interval at most.
_PUT_OFF = 30.0


class DutyCycle:
    """The time from one piece of work to the next: ``seconds``, and longer where the work would
    take too great a part of a CPU: ``quiet`` of it where it finds nothing new. Work that uses no
    more than ``free`` seconds is not put off."""

    def __init__(self, seconds: float, *, quiet: float, free: float) -> None:
        self._seconds = seconds
        self._quiet = quiet
        self._free = free

    def after(self, cost: float, *, quiet: bool) -> float:
        """Seconds to wait after work that used ``cost`` seconds of a CPU."""
        if cost <= self._free:
            return self._seconds
        wait = max(self._seconds, cost / (self._quiet if quiet else _BUSY))
        return min(wait, self._seconds * _PUT_OFF)


class Allowance:
    """Time of a CPU that work may use whenever it is due: ``burst`` seconds, of which ``share`` of
    the time comes back. Work that has used it up waits until some is back, ``longest`` seconds at
    most."""

    def __init__(
        self, burst: float, *, share: float, longest: float, clock: Callable[[], float]
    ) -> None:
        self._burst, self._share, self._longest = burst, share, longest
        self._clock = clock
        self._left, self._at = burst, clock()

    def use(self, seconds: float) -> None:
        self._left = self._now() - seconds
        self._at = self._clock()

    @property
    def is_whole(self) -> bool:
        return self._now() >= self._burst

    def wait(self) -> float:
        """Seconds until work may be done again."""
        return min(max(-self._now() / self._share, 0.0), self._longest)

    def _now(self) -> float:
        return min(self._left + (self._clock() - self._at) * self._share, self._burst)


class Cost:
    """What a piece of work, the body of a ``with``, last used of a CPU."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.seconds = time.thread_time() - self._began
