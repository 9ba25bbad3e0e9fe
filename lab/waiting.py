"""Waiting for a condition, in the lab and in tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from lab.problem import LabError

T = TypeVar("T")

TIMEOUT = 20.0
PERIOD = 0.005


def wait_until(
    condition: Callable[[], T],
    what: str = "condition",
    timeout: float = TIMEOUT,
    period: float = PERIOD,
    seen: Callable[[], object] | None = None,
) -> T:
    """Return the first true value of ``condition``. If there is none in time, LabError says
    ``what`` was waited for and what ``seen`` returns then."""
    pauses = _pauses(time.monotonic, what, timeout, period, seen)
    while not (value := condition()):
        time.sleep(next(pauses))
    return value


async def wait_until_async(
    condition: Callable[[], T],
    what: str = "condition",
    timeout: float = TIMEOUT,
    period: float = PERIOD,
    seen: Callable[[], object] | None = None,
) -> T:
    """The same, while the event loop runs on and by its clock."""
    pauses = _pauses(asyncio.get_running_loop().time, what, timeout, period, seen)
    while not (value := condition()):
        await asyncio.sleep(next(pauses))
    return value


def _pauses(
    clock: Callable[[], float],
    what: str,
    timeout: float,
    period: float,
    seen: Callable[[], object] | None,
) -> Iterator[float]:
    """Seconds until the condition is checked again: longer the longer it takes, so that up to a
    tenth of the time is added."""
    started = clock()
    while (elapsed := clock() - started) <= timeout:
        yield max(period, elapsed / 10)
    instead = f"; there is {seen()}" if seen else ""
    raise LabError(what, f"not within {timeout:g} s{instead}")
