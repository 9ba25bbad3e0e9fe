"""Wait for a state of a daemon: FRR sends no notification, so it is polled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

_PERIOD = 0.001
_LONGEST = 0.1


def ticks(seconds: float) -> Iterator[float]:
    """Seconds that have passed, time and again, more slowly as they do."""
    start = time.monotonic()
    while (since := time.monotonic() - start) < seconds:
        yield since
        time.sleep(min(_PERIOD + since / 4, _LONGEST))


def comes_true(holds: Callable[[], bool], seconds: float) -> bool:
    """Whether it holds within this time; returns as soon as it does."""
    return any(holds() for _ in ticks(seconds))
