"""Session-Reflector: stateless but for counters of sessions (RFC 8762 section 4.3)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address

from srv6mgrd.stamp import packet, sockets
from srv6mgrd.stamp.admission import Admission
from srv6mgrd.stamp.assignments import ReflectorAssignment
from srv6mgrd.stamp.session_counts import SessionCounts
from srv6mgrd.stamp.tlvs import Policy

_LOG = logging.getLogger(__name__)
# Of one turn of the event loop, so that senders have theirs.
_MOST = 64
_NS = 1_000_000_000
# How long it is remembered whether an address is ours, and of how many addresses.
_ADDRESS_NS, _ADDRESSES = _NS, 256
# A sender with another key is reported once in so long.
_REPORT_NS = 60 * _NS


class _Instance:
    """One socket, of the router itself or of a VRF, for IPv4 or IPv6, and who is answered there."""

    def __init__(self, vrf: str, version: int, assignment: ReflectorAssignment) -> None:
        """Raises OSError."""
        self._vrf, self._version = vrf or None, version
        self._assignment = assignment
        self._allowed = assignment.allowed_in(vrf, version)
        self._admission = Admission(self._allowed, time.monotonic_ns())
        self._counts = SessionCounts()
        self._own: dict[IPv4Address | IPv6Address, tuple[int, bool]] = {}
        self._reported = -_REPORT_NS
        self._index = _index(vrf)
        self._socket = sockets.reflector(assignment.port, self._vrf, version)
        asyncio.get_running_loop().add_reader(self._socket, self._answer)

    def follow(self, assignment: ReflectorAssignment) -> bool:
        """Go on as assigned, with the counters of sessions. False when that takes another socket:
        for another port, or a VRF that was deleted, or created again."""
        vrf = self._vrf or ""
        allowed = assignment.allowed_in(vrf, self._version)
        if not allowed or assignment.port != self._assignment.port:
            return False
        if self._index != _index(vrf):
            return False
        self._assignment = assignment
        if allowed != self._allowed:
            self._allowed = allowed
            self._admission = Admission(allowed, time.monotonic_ns())
        return True

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    def _answer(self) -> None:
        # An answer that cannot be sent is a lost one.
        with contextlib.suppress(OSError):
            for request in sockets.receive(self._socket, _MOST):
                self._reflect(request)

    def _reflect(self, request: sockets.Datagram) -> None:
        now = time.monotonic_ns()
        if not self._admission.admits(request.peer[0], now):
            return
        key, data = self._assignment.key, request.data
        try:
            session = packet.accept(data, key)
        except packet.AuthenticationError as error:
            if now - self._reported >= _REPORT_NS:
                self._reported = now
                _LOG.warning("test packets of %s are %s: no answer", request.peer[0], error)
            return
        except packet.PacketError:
            return
        policy = Policy(
            self._counts.received(request.peer, session),
            partial(self._is_own, now),
            self._assignment.return_paths,
            ip_address(request.peer[0].partition("%")[0]),
            key,
        )
        reflected = packet.reflect(data, request.at, request.hop_limit, policy)
        if reflected.reflection.suppressed:
            return
        # An answer that cannot be sent is a lost one.
        with contextlib.suppress(OSError):
            self._send(reflected, request)
            self._counts.answered(request.peer, session)

    def _send(self, reflected: packet.Answer, request: sockets.Datagram) -> None:
        found = reflected.reflection
        if found.segments:
            with contextlib.suppress(OSError):
                made = reflected.pack(time.time_ns())
                sockets.answer(self._socket, made, request, found.source, found.segments)
                return
            reflected = reflected.without_segments()
        sockets.answer(self._socket, reflected.pack(time.time_ns()), request, found.source)

    def _is_own(self, now: int, address: IPv4Address | IPv6Address) -> bool:
        known = self._own.get(address)
        if known is None or now - known[0] > _ADDRESS_NS:
            if len(self._own) >= _ADDRESSES:
                self._own.clear()
            known = self._own[address] = now, sockets.is_own(address, self._vrf)
        return known[1]


def _index(vrf: str) -> int:
    if not vrf:
        return 0
    try:
        return socket.if_nametoindex(vrf)
    except OSError:
        return -1


class Reflector:
    """Answers test packets of declared senders; none when none is declared."""

    def __init__(self) -> None:
        # By VRF and version of IP.
        self._instances: dict[tuple[str, int], _Instance] = {}
        # Why it does not listen, there or in a VRF, though it is to.
        self.problem = ""

    @property
    def is_listening(self) -> bool:
        return bool(self._instances)

    def configure(self, assignment: ReflectorAssignment) -> None:
        """Listen, or go on with others; what failed is tried again with each call."""
        for key, one in list(self._instances.items()):
            if not one.follow(assignment):
                one.close()
                del self._instances[key]
        problems = []
        for vrf, allowed in assignment.allowed.items():
            for version in sorted({prefix.version for prefix in allowed}):
                if (vrf, version) not in self._instances:
                    problems += self._listen(vrf, version, assignment)
        if (problem := ", ".join(problems)) != self.problem and problem:
            _LOG.error("%s", problem)
        self.problem = problem

    def _listen(self, vrf: str, version: int, assignment: ReflectorAssignment) -> list[str]:
        """The problem, if there is one."""
        where = f"IPv{version} port {assignment.port}" + (f" of VRF {vrf}" if vrf else "")
        try:
            self._instances[vrf, version] = _Instance(vrf, version, assignment)
        except OSError as error:
            return [f"{where} cannot be used: {error.strerror}"]
        _LOG.info("answers test packets at %s", where)
        return []

    def close(self) -> None:
        for one in self._instances.values():
            one.close()
        self._instances.clear()
