"""How long to wait before another try."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Backoff:
    """From ``first`` to ``last`` seconds, twice as long after each try that failed."""

    def __init__(self, first: float, last: float) -> None:
        self._first, self._last = first, last
        self._next = first

    def reset(self) -> None:
        """A try went well."""
        self._next = self._first

    def delay(self) -> float:
        """Seconds to wait before the next try; twice as many the time after."""
        seconds, self._next = self._next, min(2 * self._next, self._last)
        return seconds

    async def until(self, succeeds: Callable[[], Awaitable[bool]]) -> None:
        """Try until it succeeds."""
        while not await succeeds():
            await self.wait()

    async def wait(self) -> None:
        """Wait before the next try."""
        await asyncio.sleep(self.delay())
