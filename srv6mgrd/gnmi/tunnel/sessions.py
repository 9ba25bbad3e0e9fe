"""Sessions that come through tunnels: each is a connection of a client, and led to gRPC."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

from srv6mgrd.clients.admission import Admission, Limits, Rejected
from srv6mgrd.clients.flood import FloodLog
from srv6mgrd.clients.peer import Peer
from srv6mgrd.gnmi.listener.behind import connect
from srv6mgrd.gnmi.listener.relay import DRAIN_S
from srv6mgrd.gnmi.tunnel import messages

# Connections of the listener have numbers from 1 on.
FIRST = 1 << 32
# Bytes of one message.
_PIECE = 64 << 10
_EXPIRY_S = 0.25
_LOG = logging.getLogger("srv6-gnmid")

# Begins the RPC Tunnel.
Begin = Callable[[], Any]


class Sessions:
    """Of all tunnels: so many at once, and so long for a client to say who it is."""

    def __init__(self, folder: Path, behind: str, limits: Limits) -> None:
        """``folder`` is private, ``behind`` the socket of gRPC's that wants TLS."""
        self._folder, self._behind = folder, behind
        self._admission = Admission(limits)
        self._numbers = itertools.count(FIRST)
        self._open: dict[int, asyncio.Task[None]] = {}
        self._flood = FloodLog(_LOG, "tunnel: ")

    def begin(self, begin: Begin, tag: int, address: str, port: int) -> asyncio.Task[None] | str:
        """Serve one; ``address`` and ``port`` are the tunnel server's. A text says why not."""
        peer = Peer(next(self._numbers), address, port)
        verdict = self._admission.arrive(
            peer.connection, peer.group, time.monotonic(), authenticated=False
        )
        if isinstance(verdict, Rejected):
            self._flood.warn(f"a session is rejected: {verdict.reason}")
            return verdict.reason
        if verdict.displaced is not None:
            self._flood.warn("an older session that did not authenticate is closed for another")
            self._end(verdict.displaced)
        serving = asyncio.create_task(self._serve(begin, tag, peer))
        self._open[peer.connection] = serving
        serving.add_done_callback(lambda _: self._left(peer.connection))
        return serving

    def authenticated(self, number: int) -> None:
        self._admission.authenticate(number)

    async def expire(self) -> None:
        """Close sessions whose clients do not authenticate."""
        while True:
            for number in self._admission.overdue(time.monotonic()):
                self._flood.warn("a session is closed whose client did not authenticate in time")
                self._end(number)
            await asyncio.sleep(_EXPIRY_S)

    async def drain(self) -> None:
        """Give clients a moment to take what gRPC sent before it ended."""
        if self._open:
            await asyncio.wait(self._open.values(), timeout=DRAIN_S)

    async def _serve(self, begin: Begin, tag: int, peer: Peer) -> None:
        try:
            behind = await connect(self._folder, self._behind, peer)
        except (OSError, TimeoutError) as error:
            self._flood.warn(f"a session is closed: {error or 'srv6-gnmid does not answer'}")
            return
        reader, writer = await asyncio.open_unix_connection(sock=behind, limit=_PIECE)
        call = begin()
        try:
            await call.write(messages.Data(tag=tag))
            await _relay(call, reader, writer)
        except (grpc.RpcError, asyncio.InvalidStateError) as error:
            _LOG.debug("tunnel: a session ended: %s", error)
        finally:
            call.cancel()
            writer.close()

    def _end(self, number: int) -> None:
        self._admission.leave(number)
        if (serving := self._open.pop(number, None)) is not None:
            serving.cancel()

    def _left(self, number: int) -> None:
        self._open.pop(number, None)
        self._admission.leave(number)


async def _relay(call: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes in both directions, with the flow control of both, until one side ends."""
    to_client = asyncio.create_task(_to_client(call, reader))
    from_client = asyncio.create_task(_from_client(call, writer))
    ways = (to_client, from_client)
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in done:
            way.result()
        if to_client in done:
            # The client closes its side when it has taken what is on its way.
            await asyncio.wait(ways, timeout=DRAIN_S)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _to_client(call: Any, reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_PIECE):
            await call.write(messages.Data(data=data))
    await call.write(messages.Data(close=True))
    await call.done_writing()


async def _from_client(call: Any, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while (message := await call.read()) is not grpc.aio.EOF and not message.close:
            writer.write(message.data)
            await writer.drain()
