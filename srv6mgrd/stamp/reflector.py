"""Session-Reflector: stateless but for counters of sessions (RFC 8762 section 4.3)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Sequence
from ipaddress import IPv6Network

from srv6mgrd.stamp import packet, sockets
from srv6mgrd.stamp.admission import Admission
from srv6mgrd.stamp.session_counts import SessionCounts

_LOG = logging.getLogger(__name__)
# Of one turn of the event loop, so that senders have theirs.
_MOST = 64


class Reflector:
    """Answers test packets of declared senders; none when none is declared."""

    def __init__(self) -> None:
        self._port = 0
        self._allowed: tuple[IPv6Network, ...] = ()
        self._socket: socket.socket | None = None
        self._admission: Admission | None = None
        self._counts = SessionCounts()
        # Why it does not listen, though it is to.
        self.problem = ""

    @property
    def is_listening(self) -> bool:
        return self._socket is not None

    def configure(self, port: int, allowed: Sequence[IPv6Network]) -> None:
        """Listen, or go on with others; what failed is tried again with each call."""
        wanted = tuple(allowed)
        if (port, wanted) == (self._port, self._allowed) and not self.problem:
            return
        if port != self._port or not wanted or self.problem:
            self.close()
        self._port, self._allowed, self.problem = port, wanted, ""
        self._admission = Admission(wanted, time.monotonic_ns())
        if wanted and self._socket is None:
            self._listen()

    def _listen(self) -> None:
        try:
            self._socket = sockets.reflector(self._port)
        except OSError as error:
            self.problem = f"port {self._port} cannot be used: {error.strerror}"
            _LOG.error("%s", self.problem)
            return
        asyncio.get_running_loop().add_reader(self._socket, self._answer, self._socket)
        _LOG.info("answers test packets at port %d", self._port)

    def close(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        self._socket = None

    def _answer(self, one: socket.socket) -> None:
        # An answer that cannot be sent is a lost one.
        with contextlib.suppress(OSError):
            for request in sockets.receive(one, _MOST):
                self._reflect(one, request)

    def _reflect(self, one: socket.socket, request: sockets.Datagram) -> None:
        if self._admission is None:
            return
        if not self._admission.admits(request.peer[0], time.monotonic_ns()):
            return
        # A malformed packet is nobody's test packet; an answer that can't be sent is a lost one.
        with contextlib.suppress(packet.PacketError, OSError):
            counted = self._counts.received(request.peer, packet.session_id(request.data))
            reflected = packet.reflect(
                request.data, request.at, time.time_ns(), request.hop_limit, counted
            )
            sockets.answer(one, reflected, request)
            self._counts.answered(request.peer, packet.session_id(request.data))
