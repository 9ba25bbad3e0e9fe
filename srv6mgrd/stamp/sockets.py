"""UDP sockets for test packets: when the kernel sent and received them, and by which segments."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from srv6mgrd.netlink import srh

# asm-generic/socket.h and linux/net_tstamp.h; Python's socket module has none of them.
_SO_TIMESTAMPING = 37
_RX_SOFTWARE, _SOFTWARE, _TX_SCHED = 1 << 3, 1 << 4, 1 << 8
_TIMESTAMPS = struct.Struct("=qq")
# linux/errqueue.h, struct sock_extended_err.
_EXTENDED_ERROR = struct.Struct("=IBBBBII")
_ORIGIN_TIMESTAMPING = 4
_IPV6_RECVERR, _IP_RECVERR = 25, 11
# linux/in.h.
_IP_PKTINFO, _IP_RECVTTL = 8, 12
_HOP_LIMIT = (
    (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT),
    (socket.IPPROTO_IP, socket.IP_TTL),
)
_INFO = (
    (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO),
    (socket.IPPROTO_IP, _IP_PKTINFO),
)
_ERROR = ((socket.IPPROTO_IPV6, _IPV6_RECVERR), (socket.IPPROTO_IP, _IP_RECVERR))
_NS = 1_000_000_000
_INT = struct.Struct("=i")
# struct in6_pktinfo, and in_pktinfo: interface, local address, destination.
_PACKET_INFO, _PACKET_INFO4 = struct.Struct("=16sI"), struct.Struct("=i4s4s")
_ROOM = 2048
# A socket that is only connected sends nothing.
_DISCARD = 9
_ANCILLARY = 512
_BUFFER = 1 << 20


Address = IPv4Address | IPv6Address
# Address and port of a peer, as a socket names them: of IPv6 with flow label and scope.
Peer = tuple[str, int] | tuple[str, int, int, int]


class Datagram(NamedTuple):
    """``at`` (ns since 1970) is when the kernel received it; ``info`` is the in6_pktinfo, or the
    in_pktinfo, that an answer goes out with."""

    data: bytes
    peer: Peer
    at: int
    hop_limit: int = 0
    info: bytes = b""


def sender(
    source: Address | None,
    destination: tuple[Address, int],
    segments: Sequence[IPv6Address] = (),
    vrf: str | None = None,
    *,
    from_anyone: bool = False,
) -> socket.socket:
    """A socket of one session; ``from_anyone`` takes answers of other addresses than the
    destination. Raises OSError."""
    made = _udp(destination[0].version, vrf)
    try:
        if segments and isinstance(destination[0], IPv6Address):
            _route(made, [*segments, destination[0]])
        if source is not None:
            made.bind((str(source), 0))
        if not from_anyone:
            made.connect((str(destination[0]), destination[1]))
        # Before the queue of the interface, where customers' packets wait, too.
        _stamp(made, _TX_SCHED | _RX_SOFTWARE)
    except OSError:
        made.close()
        raise
    return made


def reflector(port: int, vrf: str | None = None, version: int = 6) -> socket.socket:
    """A socket that listens at every address of the router, or of a VRF. Raises OSError."""
    made = _udp(version, vrf)
    try:
        if version == 4:
            made.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)
            made.setsockopt(socket.IPPROTO_IP, _IP_RECVTTL, 1)
        else:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        made.bind(("0.0.0.0" if version == 4 else "::", port))
        _stamp(made, _RX_SOFTWARE)
    except OSError:
        made.close()
        raise
    return made


def _udp(version: int, vrf: str | None = None) -> socket.socket:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    made = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        if vrf is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, vrf.encode())
        if version == 6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    except OSError:
        made.close()
        raise
    return made


def _route(one: socket.socket, addresses: Sequence[IPv6Address]) -> None:
    """Packets take these addresses one after the other. The kernel puts the destination in the
    place of the last one."""
    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, srh.pack(addresses))


def is_own(address: Address, vrf: str | None = None) -> bool:
    """Whether the router has the address, in this VRF. Those that others have too do not count,
    though packets to them stay here."""
    if address.is_unspecified or address.is_loopback or address.is_multicast:
        return False
    try:
        with _udp(address.version, vrf) as one:
            # The kernel chooses the destination as source where it has that address (RFC 6724
            # rule 1). With net.ipv6.ip_nonlocal_bind a socket can be bound to any address.
            one.connect((str(address), _DISCARD))
            return ip_address(one.getsockname()[0]) == address
    except OSError:
        return False


def _stamp(one: socket.socket, what: int) -> None:
    # Without them our own clock has to do.
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, what | _SOFTWARE)


def receive(one: socket.socket, most: int) -> Iterator[Datagram]:
    """Up to ``most`` datagrams that wait. Raises OSError for one that the other end rejected."""
    for _ in range(most):
        try:
            data, ancillary, _, peer = one.recvmsg(_ROOM, _ANCILLARY)
        except BlockingIOError:
            return
        at, hop_limit, info = time.time_ns(), 0, b""
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
                at = _time(value) or at
            elif (level, kind) in _HOP_LIMIT:
                (hop_limit,) = _INT.unpack(value)
            elif (level, kind) in _INFO:
                info = value
        yield Datagram(data, peer, at, hop_limit, info)


def answer(
    one: socket.socket,
    data: bytes,
    to: Datagram,
    source: Address | None = None,
    segments: Sequence[IPv6Address] = (),
) -> None:
    """From the address that was asked, or from another one of the router. Raises OSError."""
    ancillary = [_from(to.info, source)] if to.info else []
    if not segments:
        one.sendmsg([data], ancillary, 0, to.peer)
        return
    # As ancillary data the kernel takes no segment routing header (ip6_datagram_send_ctl).
    _route(one, [*segments, IPv6Address(to.peer[0])])
    try:
        one.sendmsg([data], ancillary, 0, to.peer)
    finally:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, b"")


def _from(info: bytes, source: Address | None) -> tuple[int, int, bytes]:
    """Ancillary data that make this the source, without one the address that was asked. The way
    back need not be that on which the request came."""
    if len(info) == _PACKET_INFO4.size:
        _, local, _ = _PACKET_INFO4.unpack(info)
        local = source.packed if source is not None else local
        return socket.IPPROTO_IP, _IP_PKTINFO, _PACKET_INFO4.pack(0, local, bytes(4))
    address, index = _PACKET_INFO.unpack(info)
    if not IPv6Address(address).is_link_local:
        index = 0
    address = source.packed if source is not None else address
    return socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, _PACKET_INFO.pack(address, index)


def sent(one: socket.socket, length: int) -> Iterator[tuple[int, int]]:
    """Sequence numbers of test packets that left, each with when (ns since 1970). The kernel gives
    the packet back with its headers: our part is the end of it, so long."""
    while True:
        try:
            data, ancillary, _, _ = one.recvmsg(_ROOM, _ANCILLARY, socket.MSG_ERRQUEUE)
        except OSError:
            return
        at, ours = 0, False
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
                at = _time(value)
            elif (level, kind) in _ERROR:
                ours = _EXTENDED_ERROR.unpack_from(value)[1] == _ORIGIN_TIMESTAMPING
        if at and ours and len(data) >= length:
            ours_from = len(data) - length
            yield int.from_bytes(data[ours_from : ours_from + 4]), at


def _time(stamps: bytes) -> int:
    """The software timestamp, the first of three; 0 for none."""
    seconds, nanoseconds = _TIMESTAMPS.unpack_from(stamps)
    return int(seconds * _NS + nanoseconds)
