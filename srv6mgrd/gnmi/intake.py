"""The messages of clients, a bounded number of which is in memory at once.

gRPC takes in a message, and inflates it, only when it is asked for: so a request waits for its
place before any byte of it counts, and after its client has proved who it is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from grpc import StatusCode

from srv6mgrd.gnmi.failure import RpcError

# A request is sent along with its headers: it is there by then, unless it is large or its client
# slow. Those go on in one of few places, so that they hold up nobody.
_PROMPT_S = 0.25
# Less is not counted.
_SMALL = 1 << 20


class _Places:
    """A number of places, given to the clients in turn."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, client: str) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back()
            else:
                self._forget(client, place)
            raise

    def try_take(self) -> bool:
        if not self._free:
            return False
        self._free -= 1
        return True

    def give_back(self) -> None:
        while self._waiting:
            client = next(iter(self._waiting))
            # To the end of the clients.
            queue = self._waiting.pop(client)
            place = queue.popleft()
            if queue:
                self._waiting[client] = queue
            if not place.done():
                place.set_result(None)
                return
        self._free += 1

    def _forget(self, client: str, place: asyncio.Future[None]) -> None:
        queue = self._waiting.get(client)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[client]


class Intake:
    """For one kind of request."""

    def __init__(self, most: int, *, prompt: int = 2, slow: int = 2, seconds: float = 30.0) -> None:
        """``most`` bytes are taken. So many are in memory at once: ``prompt`` of those that arrive
        at once, ``slow`` of those that take long to, but ``seconds`` at most."""
        self._most = most
        self._prompt, self._slow = _Places(prompt), _Places(slow)
        self._seconds = seconds

    @asynccontextmanager
    async def request(
        self, read: Callable[[], Awaitable[Any]], client: str, what: str
    ) -> AsyncIterator[Any]:
        """What ``read`` gives; a large message keeps its place until the end of the block. Raises
        RpcError."""
        await self._prompt.take(client)
        place, kept = self._prompt, True
        arriving = asyncio.ensure_future(read())
        try:
            done, _ = await asyncio.wait({arriving}, timeout=_PROMPT_S)
            if not done:
                if not self._slow.try_take():
                    raise _late(what, "no place is left for those that take long")
                self._prompt.give_back()
                place = self._slow
                done, _ = await asyncio.wait({arriving}, timeout=self._seconds)
                if not done:
                    raise _late(what, f"{self._seconds:g} s are over")
            data = arriving.result()
            size = len(data) if isinstance(data, bytes) else 0
            if size > self._most:
                raise RpcError(
                    StatusCode.RESOURCE_EXHAUSTED,
                    f"{what}: the request has {size} bytes, {self._most} are taken; ask for less"
                    " at once",
                )
            if size <= _SMALL:
                place.give_back()
                kept = False
            yield data
        finally:
            arriving.cancel()
            if kept:
                place.give_back()


def _late(what: str, why: str) -> RpcError:
    return RpcError(
        StatusCode.DEADLINE_EXCEEDED,
        f"{what}: the request did not arrive ({why}); send it at once, or try again",
    )
