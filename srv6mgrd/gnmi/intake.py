"""The messages of clients, a bounded number of which is in memory at once.

gRPC takes in a message, and inflates it, only when it is asked for: so a request waits for its
place before any byte of it counts, and after its client has proved who it is.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
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


# A client, and its connection.
Who = tuple[str, str]


class _Places:
    """A number of places, given to the connections in turn; one client leaves a place to others."""

    def __init__(self, number: int) -> None:
        self._free, self._each = number, max(1, number - 1)
        self._held: Counter[str] = Counter()
        self._waiting: dict[Who, deque[asyncio.Future[None]]] = {}

    async def take(self, who: Who) -> None:
        # A waiting client could have none either: each that is returned goes to one that can.
        if self.try_take(who):
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back(who)
            else:
                self._forget(who, place)
            raise

    def try_take(self, who: Who) -> bool:
        if not self._is_open(who[0]):
            return False
        self._free -= 1
        self._held[who[0]] += 1
        return True

    def give_back(self, who: Who) -> None:
        self._free += 1
        self._held[who[0]] -= 1
        if not self._held[who[0]]:
            del self._held[who[0]]
        for waiting in list(self._waiting):
            if self._is_open(waiting[0]) and self._grant(waiting):
                return

    def _is_open(self, client: str) -> bool:
        return self._free > 0 and self._held[client] < self._each

    def _grant(self, who: Who) -> bool:
        """Whether one of this connection waits; it goes to the end of the connections."""
        queue = self._waiting.pop(who)
        while queue:
            place = queue.popleft()
            if place.done():
                continue
            self.try_take(who)
            place.set_result(None)
            if queue:
                self._waiting[who] = queue
            return True
        return False

    def _forget(self, who: Who, place: asyncio.Future[None]) -> None:
        queue = self._waiting.get(who)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[who]


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
        self, read: Callable[[], Awaitable[Any]], who: Who, what: str
    ) -> AsyncIterator[Any]:
        """What ``read`` gives; a large message keeps its place until the end of the block. Raises
        RpcError."""
        await self._prompt.take(who)
        place, kept = self._prompt, True
        arriving = asyncio.ensure_future(read())
        try:
            done, _ = await asyncio.wait({arriving}, timeout=_PROMPT_S)
            if not done:
                if not self._slow.try_take(who):
                    raise _late(what, "no place is left for those that take long")
                self._prompt.give_back(who)
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
                place.give_back(who)
                kept = False
            yield data
        finally:
            arriving.cancel()
            if kept:
                place.give_back(who)


def _late(what: str, why: str) -> RpcError:
    return RpcError(
        StatusCode.DEADLINE_EXCEEDED,
        f"{what}: the request did not arrive ({why}); send it at once, or try again",
    )
