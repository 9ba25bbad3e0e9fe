"""Routes of the kernel that lead through SIDs, of any protocol."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.cli.oam.packet import Address
from srv6mgrd.netlink import routes, srh, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.netlink.socket import NetlinkSocket

# linux/rtnetlink.h: the route of the table, with its prefix; nexthops of one with several.
_RTM_F_FIB_MATCH = 0x2000
_RTA_MULTIPATH = 9
_RTNEXTHOP = struct.Struct("=HBBi")
# In front of the SRH: the mode of the encapsulation.
_MODE_SIZE = 4


@dataclass(frozen=True, slots=True)
class Route:
    """``segments`` is empty where packets go on without a SID."""

    prefix: IPv4Network | IPv6Network
    segments: tuple[IPv6Address, ...] = ()
    is_local_sid: bool = False


def towards(netlink: NetlinkSocket, destination: Address, vrf: int = 0) -> Route | Failure:
    """The route of packets to an address in the VRF with this ifindex (0: none)."""
    found = netlink.read(_question(destination, vrf, 0))
    if isinstance(found, Failure):
        return found
    resolved = RouteMessage.decode(memoryview(found))
    matched = netlink.read(_question(destination, vrf, _RTM_F_FIB_MATCH))
    prefix = (
        resolved.prefix
        if isinstance(matched, Failure)
        else RouteMessage.decode(memoryview(matched)).prefix
    )
    # A tunnel's other end is chosen by flow where there are several.
    lists = [*_segment_lists(resolved.attributes)]
    return Route(prefix, lists[0] if lists else (), _is_local_sid(resolved.attributes))


def through(
    netlink: NetlinkSocket, tables: Iterable[int], sid: IPv6Address | None = None
) -> Iterator[tuple[int, Route]]:
    """Routes in these tables whose last segment is the SID, or any, each with its table."""
    for table in tables:
        for family in (socket.AF_INET6, socket.AF_INET):
            for datagram in netlink.dump(routes.get_table(table, family=family)):
                for kind, _, _, body in wire.messages(datagram):
                    if kind != wire.RTM_NEWROUTE:
                        continue
                    message = RouteMessage.decode(body)
                    for segments in _segment_lists(message.attributes):
                        if sid is None or segments[-1] == sid:
                            yield table, Route(message.prefix, segments)


def _question(destination: Address, vrf: int, flags: int) -> bytes:
    family = routes.family_of(destination.version)
    body = wire.RTMSG.pack(family, destination.max_prefixlen, 0, 0, 0, 0, 0, 0, flags)
    body += wire.nla(wire.RTA_DST, destination.packed)
    if vrf:
        body += wire.nla_u32(wire.RTA_OIF, vrf)
    return wire.message(wire.RTM_GETROUTE, 0, body)


def _is_local_sid(found: Mapping[int, memoryview]) -> bool:
    kind = found.get(wire.RTA_ENCAP_TYPE)
    return kind is not None and wire.u16(kind) == wire.LWTUNNEL_ENCAP_SEG6_LOCAL


def _segment_lists(found: Mapping[int, memoryview]) -> Iterator[tuple[IPv6Address, ...]]:
    """Of a route, one for each of its paths."""
    kind = found.get(wire.RTA_ENCAP_TYPE)
    if kind is not None and wire.u16(kind) == wire.LWTUNNEL_ENCAP_SEG6:
        inner = wire.attribute_map(found.get(wire.RTA_ENCAP, b""))
        tunnel = inner.get(wire.SEG6_IPTUNNEL_SRH, memoryview(b""))
        segments = srh.unpack(tunnel[_MODE_SIZE:])
        if segments:
            yield segments
    paths, at = found.get(_RTA_MULTIPATH, memoryview(b"")), 0
    while at + _RTNEXTHOP.size <= len(paths):
        length, *_ = _RTNEXTHOP.unpack_from(paths, at)
        if length < _RTNEXTHOP.size:
            return
        yield from _segment_lists(wire.attribute_map(paths[at : at + length], _RTNEXTHOP.size))
        at += (length + 3) & ~3
