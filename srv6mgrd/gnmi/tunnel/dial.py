"""A connection to a tunnel server, made before gRPC's.

gRPC for Python sets no keepalive of TCP, and servers in Go end connections whose client sends more
pings of HTTP/2 than one in five minutes. So the connection is made here: the kernel's own probes
find a peer that vanished, and keep the mapping of a NAT. gRPC connects to a UNIX socket that leads
to it. A failure is known here by its cause, too.
"""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from srv6mgrd.gnmi.listener.relay import Side

_CONNECT_S = 20.0
# Probes without an answer until a connection is over: after a silence of that many parts of it.
_PROBES, _PARTS = 3, 6


class Dialed:
    """A TCP connection, and the UNIX socket ``path`` that leads one client of it there."""

    def __init__(self, path: Path, keepalive: float) -> None:
        """Probes are sent after ``keepalive`` seconds of silence."""
        self._path, self._keepalive = path, keepalive
        self._near, self._far = Side(self._ended), Side(self._ended)
        self._near.other, self._far.other = self._far, self._near
        self._server: asyncio.Server | None = None
        self._transport: asyncio.Transport | None = None
        self.address, self.port = "", 0

    async def open(self, host: str, port: int) -> None:
        """Raises OSError or TimeoutError."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_CONNECT_S):
            transport, _ = await loop.create_connection(
                lambda: self._near, host, port, happy_eyeballs_delay=0.25
            )
        connected: socket.socket = transport.get_extra_info("socket")
        self.address, self.port, *_ = transport.get_extra_info("peername")
        silence, between = (max(1, round(self._keepalive / part)) for part in (1, _PARTS))
        for level, option, value in (
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, silence),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, between),
            (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES),
            # The same for what was sent and is not acknowledged.
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, (silence + _PROBES * between) * 1000),
        ):
            connected.setsockopt(level, option, value)
        # Nothing is taken in before somebody takes it on.
        transport.pause_reading()
        self._transport = transport
        self._path.unlink(missing_ok=True)
        self._server = await loop.create_unix_server(self._take, str(self._path))

    def close(self) -> None:
        """End it."""
        self._ended()

    def _take(self) -> asyncio.Protocol:
        transport, self._transport = self._transport, None
        if transport is None:
            return _Closed()
        self._path.unlink(missing_ok=True)
        transport.resume_reading()
        return self._far

    def _ended(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
            self._path.unlink(missing_ok=True)
        self._near.close()
        self._far.close()


class _Closed(asyncio.Protocol):
    """Of a client too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
