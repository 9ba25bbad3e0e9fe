"""BGP's routes in the kernel: how many, and the SIDs that they encapsulate to, by themselves or by
a nexthop object."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.routes import get_table
from srv6mgrd.netlink.socket import NetlinkSocket, answers

# struct seg6_iptunnel_encap: int mode; then struct ipv6_sr_hdr, whose fifth byte is the index of
# the last entry, which is the first segment.
_LAST_ENTRY, _SEGMENTS = 4 + 4, 4 + 8
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


@dataclass(frozen=True, slots=True)
class TableRoutes:
    """Routes of one table: their number by address family, and by first segment."""

    families: Counter[int] = field(default_factory=Counter)
    segments: Counter[IPv6Address] = field(default_factory=Counter)


Tables = dict[int, TableRoutes]
# First segments of nexthop objects, by their id.
NextHops = Mapping[int, tuple[IPv6Address, ...]]


def read(netlink: NetlinkSocket, table: int = 0) -> Tables:
    """Of a table, 0 for all that have any. Raises KernelError."""
    found: Tables = {}
    objects: NextHops | None = None
    for family in _FAMILIES:
        dumped = netlink.dump(get_table(table, wire.RTPROT_BGP, family))
        if dumped and objects is None:
            objects = next_hops(netlink.dump(get_next_hops()))
        _count(family, dumped, objects or {}, found)
    return found


def get_next_hops() -> bytes:
    return wire.message(wire.RTM_GETNEXTHOP, 0, wire.NHMSG.pack(0, 0, 0, 0, 0))


def next_hops(datagrams: Sequence[bytes]) -> NextHops:
    """Groups with the segments of their members."""
    found: dict[int, tuple[IPv6Address, ...]] = {}
    groups: dict[int, list[int]] = {}
    for body in answers(datagrams, wire.RTM_NEWNEXTHOP):
        attributes = wire.attribute_map(body, wire.NHMSG.size)
        identifier = wire.u32(attributes[wire.NHA_ID])
        if wire.NHA_GROUP in attributes:
            members = wire.NEXTHOP_GRP.iter_unpack(attributes[wire.NHA_GROUP])
            groups[identifier] = [member for member, *_ in members]
        elif (sid := _first_segment(attributes, wire.NHA_ENCAP_TYPE, wire.NHA_ENCAP)) is not None:
            found[identifier] = (sid,)
    for identifier, listed in groups.items():
        sids = dict.fromkeys(sid for member in listed for sid in found.get(member, ()))
        if sids:
            found[identifier] = tuple(sids)
    return found


def _count(family: int, datagrams: Sequence[bytes], objects: NextHops, found: Tables) -> None:
    """Add the routes of a dump."""
    by_object: Counter[tuple[int, int]] = Counter()
    for body in answers(datagrams, wire.RTM_NEWROUTE):
        table, identifier = _table_and_object(body)
        if identifier:
            by_object[table, identifier] += 1
            continue
        routes = found.setdefault(table, TableRoutes())
        routes.families[family] += 1
        routes.segments.update(_of_route(body))
    for (table, identifier), number in by_object.items():
        routes = found.setdefault(table, TableRoutes())
        routes.families[family] += number
        for sid in objects.get(identifier, ()):
            routes.segments[sid] += number


def table_of(body: memoryview) -> int:
    """The table of a notification of a route."""
    return _table_and_object(body)[0]


def _table_and_object(body: memoryview) -> tuple[int, int]:
    """The table of a route, and the id of its nexthop object or 0. All but the first attributes
    are left unread: there are a hundred thousand routes."""
    table = body[4]
    for kind, at, _ in wire.attributes(body, wire.RTMSG.size):
        if kind == wire.RTA_TABLE:
            table = wire.u32(body[at : at + 4])
        elif kind == wire.RTA_NH_ID:
            return table, wire.u32(body[at : at + 4])
    return table, 0


def _of_route(body: memoryview) -> Iterator[IPv6Address]:
    attributes = wire.attribute_map(body, wire.RTMSG.size)
    paths = [attributes]
    if wire.RTA_MULTIPATH in attributes:
        paths = list(_paths(attributes[wire.RTA_MULTIPATH]))
    found = (_first_segment(path, wire.RTA_ENCAP_TYPE, wire.RTA_ENCAP) for path in paths)
    yield from dict.fromkeys(sid for sid in found if sid is not None)


def _paths(multipath: memoryview) -> Iterator[dict[int, memoryview]]:
    at = 0
    while at + wire.RTNEXTHOP.size <= len(multipath):
        length = wire.RTNEXTHOP.unpack_from(multipath, at)[0]
        if length < wire.RTNEXTHOP.size:
            return
        yield wire.attribute_map(multipath[at : at + length], wire.RTNEXTHOP.size)
        at += (length + 3) & ~3


def _first_segment(
    attributes: Mapping[int, memoryview], kind: int, encap: int
) -> IPv6Address | None:
    if encap not in attributes or wire.u16(attributes[kind]) != wire.LWTUNNEL_ENCAP_SEG6:
        return None
    tunnel = wire.attribute_map(attributes[encap]).get(wire.SEG6_IPTUNNEL_SRH, b"")
    if len(tunnel) <= _LAST_ENTRY:
        return None
    at = _SEGMENTS + 16 * tunnel[_LAST_ENTRY]
    segment = bytes(tunnel[at : at + 16])
    return IPv6Address(segment) if len(segment) == 16 else None
