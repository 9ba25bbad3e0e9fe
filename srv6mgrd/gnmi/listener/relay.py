"""Bytes between a client's connection and gRPC's, in both directions, with flow control."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# When one side ends the other gets so long to take what is still there for it.
DRAIN_S = 2.0


class Side(asyncio.Protocol):
    """One of two connections; what comes here is written to ``other``."""

    other: Side

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._transport: asyncio.Transport | None = None
        self._closed = False
        # What came before the other side was connected.
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._closed:
            transport.abort()
            return
        if self._held:
            transport.write(self._held)
            self._held = b""

    def data_received(self, data: bytes) -> None:
        self.other.write(data)

    def eof_received(self) -> bool:
        return False  # HTTP/2 has no half-closed connections

    def connection_lost(self, _: Exception | None) -> None:
        self._transport, self._closed = None, True
        self._ended()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)
        elif not self._closed:
            self._held += data

    def pause_writing(self) -> None:
        if self.other._transport is not None:
            self.other._transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other._transport is not None:
            self.other._transport.resume_reading()

    def close(self) -> None:
        """End the connection when what was written has been taken, at the latest after
        ``DRAIN_S``."""
        self._closed = True
        transport = self._transport
        if transport is None:
            return
        transport.close()
        if transport.get_write_buffer_size():
            asyncio.get_running_loop().call_later(DRAIN_S, transport.abort)
