"""Calls in threads that the event loop awaits, and that go on when who waits is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Awaited:
    """Used by the event loop."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Future[Any]] = set()

    async def call(self, call: Callable[..., T], *arguments: Any) -> T:
        """What a call that blocks returns."""
        return await self._finished(
            asyncio.get_running_loop().run_in_executor(None, call, *arguments)
        )

    async def result(self, future: Future[T]) -> T:
        """The result of another thread."""
        return await self._finished(asyncio.wrap_future(future))

    async def close(self) -> None:
        """Returns when none is under way any more."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _finished(self, future: asyncio.Future[T]) -> T:
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return await asyncio.shield(future)
