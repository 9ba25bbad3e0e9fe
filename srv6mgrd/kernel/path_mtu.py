"""Path MTU through tunnels: senders behind the router learn what fits.

What the kernel encapsulates for others does not pass ip_forward (seg6_input is the route's input),
so nobody compares it with an MTU before it has its outer header. Then it is the outer packet that
is too big, on this router or on one behind it; the error goes to the outer source, which is we,
and the kernel has nobody to pass it on to. So it is passed on here (RFC 2473 section 8).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.jobs import to_its_end
from srv6mgrd.kernel import packet_too_big
from srv6mgrd.kernel.packet_too_big import PacketTooBig
from srv6mgrd.model import domain
from srv6mgrd.model.desired import Desired
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.errors import Failure, KernelError
from srv6mgrd.netlink.routes import family_of
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.target_objects import vrf_ifindex

_LOG = logging.getLogger(__name__)

# linux/icmpv6.h: a bit for each type that is not wanted.
_ICMPV6_FILTER = 1
_ONLY_TOO_BIG = struct.pack(
    "=8I",
    *(0xFFFFFFFF & ~(1 << packet_too_big.ICMPV6_TOO_BIG if not word else 0) for word in range(8)),
)
# linux/icmp.h, linux/in.h
_SOL_RAW, _ICMP_FILTER, _NOTHING = 255, 1, b"\xff" * 4
_IP_PKTINFO = 8
# asm-generic/socket.h
_SO_BINDTOIFINDEX = 62
# In struct seg6_iptunnel_encap (linux/seg6_iptunnel.h): mode, head of the SRH, last segment first.
_LAST_SEGMENT = slice(4 + 8, 4 + 8 + 16)
_SEG6 = wire.LWTUNNEL_ENCAP_SEG6
_PKTINFO6 = struct.Struct("=16sI")
_PKTINFO4 = struct.Struct("=I4s4s")
_MESSAGE, _ANCILLARY = 1 << 11, 1 << 8
# Errors taken at once; the rest waits in the socket, or is lost there.
_TAKE = 64
# Routes looked up in a second; an error that comes when they are used up is lost. Each that is
# passed on gives a sender a value that holds for minutes.
_LOOKUPS = 2000
# What a search through all VRFs found, or that it found nothing, is remembered for so many seconds.
_FOUND, _NOT_FOUND = 30.0, 1.0
# Seconds after a failure.
_AGAIN = 1.0
_SEGMENTS = 1000

# The last segment that packets to an address get in the VRF of this ifindex, 0 for none.
LastSegment = Callable[[IPv4Address | IPv6Address, int], IPv6Address | None]


class PathMtu:
    """Passes on what comes back about tunnelled packets, in VRFs and in the main table.

    ``desired`` is the current state.
    """

    def __init__(self, desired: Callable[[], Desired]) -> None:
        self._desired = desired
        self._netlink = NetlinkSocket()
        self._senders = Senders(self._last_segment)

    async def run(self) -> None:
        """Until cancelled; ends at once without CAP_NET_RAW."""
        try:
            with contextlib.closing(self._netlink), Errors() as errors:
                while True:
                    await _readable(errors.received)
                    await self._take(errors)
        except PermissionError as error:
            _LOG.warning("senders don't learn what fits through tunnels: %s; CAP_NET_RAW", error)

    async def _take(self, errors: Errors) -> None:
        try:
            # In a thread: each lookup waits for the kernel, with many VRFs for all of them.
            await to_its_end(self.take, errors)
        except (KernelError, OSError) as error:
            # Senders learn later what fits; all else goes on.
            _LOG.error("errors about packets that are too big: %s", error)
            await asyncio.sleep(_AGAIN)

    def take(self, errors: Errors) -> None:
        """Pass on what has come in. Asks the kernel: not for an event loop."""
        desired = self._desired()
        sources = domain.sources(desired)
        vrfs = [vrf_ifindex(vrf.table) for vrf in desired.vrfs.values()]
        for to, message in errors.take():
            found = packet_too_big.read(message)
            # It has to be about a packet of ours, and to have come to where that was from.
            if found is None or found.source != to or (sources and to not in sources):
                continue
            for vrf in self._senders.of(found, [0, *vrfs], time.monotonic()):
                errors.send(found.sender, packet_too_big.answer(found), vrf)
                if vrf and self._is_own(found.sender, vrf):
                    errors.teach(found, vrf)

    def _is_own(self, address: IPv4Address | IPv6Address, vrf: int) -> bool:
        """Whether it is an IPv4 address of the router, as far as lookups are left. Sockets of IPv6
        get their errors."""
        if address.version == 6 or not self._senders.may_ask(time.monotonic()):
            return False
        answer = self._netlink.read(_lookup(address, vrf))
        return not isinstance(answer, Failure) and _kind(answer) == wire.RTN_LOCAL

    def _last_segment(self, to: IPv4Address | IPv6Address, vrf: int) -> IPv6Address | None:
        answer = self._netlink.read(_lookup(to, vrf))
        return None if isinstance(answer, Failure) else _last_segment(answer)


class Senders:
    """Finds the VRF that a tunnelled packet came from: the one whose route to the packet's receiver
    leads to the last segment of its path."""

    def __init__(self, last_segment: LastSegment) -> None:
        self._last_segment = last_segment
        self._known: dict[IPv6Address, tuple[float, tuple[int, ...]]] = {}
        self._second, self._left = 0, _LOOKUPS

    def of(self, found: PacketTooBig, vrfs: Sequence[int], now: float) -> tuple[int, ...]:
        """Those among ``vrfs``, ifindexes; none when this second has no lookups left."""
        until, known = self._known.get(found.segment, (0.0, ()))
        if now < until:
            matching = self._matching(found, known) if self.may_ask(now, len(known)) else ()
            if matching or not known:
                return matching
        if not self.may_ask(now, len(vrfs)):
            return ()
        matching = self._matching(found, vrfs)
        if len(self._known) >= _SEGMENTS:
            self._known.clear()
        self._known[found.segment] = (now + (_FOUND if matching else _NOT_FOUND), matching)
        return matching

    def may_ask(self, now: float, count: int = 1) -> bool:
        """Whether so many lookups are left in this second; they are used up then."""
        if int(now) != self._second:
            self._second, self._left = int(now), _LOOKUPS
        if self._left < count:
            return False
        self._left -= count
        return True

    def _matching(self, found: PacketTooBig, vrfs: Sequence[int]) -> tuple[int, ...]:
        return tuple(v for v in vrfs if self._last_segment(found.receiver, v) == found.segment)


async def _readable(one: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(one, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(one)


class Errors:
    """Raw sockets: errors come in on the one for ICMPv6, and go out on both. Raises
    PermissionError."""

    def __init__(self) -> None:
        self.received = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        self.received.setblocking(False)
        self.received.setsockopt(socket.IPPROTO_ICMPV6, _ICMPV6_FILTER, _ONLY_TOO_BIG)
        self.received.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        self._icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._icmp.setblocking(False)
        # It sends only.
        self._icmp.setsockopt(_SOL_RAW, _ICMP_FILTER, _NOTHING)

    def __enter__(self) -> Errors:
        return self

    def __exit__(self, *_: object) -> None:
        self.received.close()
        self._icmp.close()

    def take(self) -> Iterator[tuple[IPv6Address | None, bytes]]:
        """Each error that has come in, and the address that it came to."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_TAKE):
                message, ancillary, _, _ = self.received.recvmsg(_MESSAGE, _ANCILLARY)
                yield _destination(ancillary), message

    def send(self, to: IPv4Address | IPv6Address, message: bytes, vrf: int) -> None:
        """Send a message in a VRF, or in none."""
        in_vrf: tuple[int, int, bytes]
        if isinstance(to, IPv6Address):
            by = self.received
            in_vrf = socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, _PKTINFO6.pack(bytes(16), vrf)
        else:
            by = self._icmp
            in_vrf = socket.IPPROTO_IP, _IP_PKTINFO, _PKTINFO4.pack(vrf, bytes(4), bytes(4))
        try:
            by.sendmsg([message], [in_vrf] if vrf else [], 0, (str(to), 0))
        except OSError as error:
            # The sender's own route may be gone; the next packet reports it again.
            _LOG.debug("packet too big for %s: %s", to, error)

    def teach(self, found: PacketTooBig, vrf: int) -> None:
        """Let the kernel keep what fits on a path of the router's own. The error itself reaches no
        TCP socket that is bound to the VRF: tcp_v4_err passes no sdif, and what the router sends to
        itself has the port as its interface (ip_route_output_key_hash_rcu)."""
        try:
            kind = socket.SOCK_RAW, packet_too_big.EXPERIMENTAL
            with socket.socket(socket.AF_INET, *kind) as listening:
                listening.setsockopt(socket.SOL_SOCKET, _SO_BINDTOIFINDEX, vrf)
                self.send(found.sender, packet_too_big.about_own_path(found), vrf)
        except OSError as error:
            _LOG.debug("path to %s from %s: %s", found.receiver, found.sender, error)


def _destination(ancillary: list[tuple[int, int, bytes]]) -> IPv6Address | None:
    for level, kind, data in ancillary:
        if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
            return IPv6Address(_PKTINFO6.unpack_from(data)[0])
    return None


def _lookup(to: IPv4Address | IPv6Address, vrf: int) -> bytes:
    """RTM_GETROUTE: the route of a packet to this address, in a VRF or in none."""
    # All else has to be 0 (inet_rtm_valid_getroute_req).
    body = wire.RTMSG.pack(family_of(to.version), to.max_prefixlen, 0, 0, 0, 0, 0, 0, 0)
    body += wire.nla(wire.RTA_DST, to.packed)
    if vrf:
        body += wire.nla_u32(wire.RTA_OIF, vrf)
    return wire.message(wire.RTM_GETROUTE, 0, body)


def _kind(route: bytes) -> int:
    kind: int = wire.RTMSG.unpack_from(route)[7]
    return kind


def _last_segment(route: bytes) -> IPv6Address | None:
    found = wire.attribute_map(route, wire.RTMSG.size)
    if wire.RTA_ENCAP not in found or wire.u16(found[wire.RTA_ENCAP_TYPE]) != _SEG6:
        return None
    tunnel = wire.attribute_map(found[wire.RTA_ENCAP]).get(wire.SEG6_IPTUNNEL_SRH, b"")
    last = bytes(tunnel[_LAST_SEGMENT])
    return IPv6Address(last) if len(last) == 16 else None
