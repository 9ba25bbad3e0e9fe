"""Routes of ours as netlink requests: SIDs, what is unreachable from VRFs, and how to dump them.

What decides whether a route is hit: IPv6 and IPv4 both find a route to replace by table, prefix
and metric (fib6_add_rt2node, fib_table_insert), so the metric is always written. A deletion names
the protocol too, so that it never hits a foreign route (ip6_route_del, fib_table_delete). Never
NLM_F_APPEND: a second route to a SID is a leg that nobody asked for.
"""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.kernel import seg6local
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.route import UNREACHABLE_METRIC, UnknownRoute
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.prefix import packed
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import wire

Route = SidRoute | EncapRoute | NextHopRoute | UnreachableDefault | UnreachableSid | UnknownRoute

# FRR's for static routes (zebra/rt_netlink.h).
RTPROT_ZSTATIC = 196

CREATE = wire.NLM_F_CREATE | wire.NLM_F_EXCL
REPLACE = wire.NLM_F_CREATE | wire.NLM_F_REPLACE

NOWHERE: dict[int, IPv4Network | IPv6Network] = {
    4: IPv4Network("0.0.0.0/0"),
    6: IPv6Network("::/0"),
}

# RTA_DST stands first, so that the address has one place in all requests for SIDs.
_ADDRESS_AT = wire.NLMSGHDR.size + wire.RTMSG.size + 4

# What the requests for SIDs of one kind have in common beside prefix and device.
_Shape = tuple[
    Behavior,
    int,
    int,
    bool,
    int | None,
    int | None,
    IPv4Address | IPv6Address | None,
    int | None,
    seg6local.Extras,
    int | None,
]


def put_sid(
    route: SidRoute,
    flags: int,
    ifindex: int,
    interface: int | None = None,
    program: int | None = None,
) -> bytes:
    """RTM_NEWROUTE of a SID on the device with this ifindex; flags CREATE or REPLACE.
    ``interface`` is the ifindex of ``route.interface``, ``program`` an open descriptor of
    ``route.bpf_program``."""
    shape = (
        route.action,
        route.table,
        route.metric,
        route.counters,
        route.vrf_table,
        route.lookup_table,
        route.next_hop,
        interface,
        seg6local.extras_of(route),
        program,
    )
    head, tail = _put_template(flags, route.prefix.prefixlen, ifindex, shape)
    return head + packed(route.prefix) + tail


def delete_sid(route: SidRoute) -> bytes:
    head, tail = _delete_template(route.prefix.prefixlen, route.table, route.metric)
    return head + packed(route.prefix) + tail


@lru_cache(maxsize=4096)
def _put_template(flags: int, length: int, ifindex: int, shape: _Shape) -> tuple[bytes, bytes]:
    """What stands before and behind the address; the same for all SIDs of one kind."""
    action, table, metric, counters, vrf_table, lookup_table, next_hop, oif, extras, program = shape
    encap = seg6local.pack(
        action,
        vrf_table=vrf_table,
        lookup_table=lookup_table,
        next_hop=next_hop,
        interface=oif,
        extras=extras,
        counters=counters,
        program=program,
    )
    body = rtmsg(socket.AF_INET6, length, wire.RTN_UNICAST)
    body += wire.nla(wire.RTA_DST, bytes(16))
    body += wire.nla_u32(wire.RTA_TABLE, table)
    body += wire.nla_u32(wire.RTA_PRIORITY, metric)
    body += wire.nla_u32(wire.RTA_OIF, ifindex)
    body += wire.nested(wire.RTA_ENCAP, encap)
    body += wire.nla_u16(wire.RTA_ENCAP_TYPE, wire.LWTUNNEL_ENCAP_SEG6_LOCAL)
    return _around_address(wire.message(wire.RTM_NEWROUTE, flags, body))


@lru_cache(maxsize=4096)
def _delete_template(length: int, table: int, metric: int) -> tuple[bytes, bytes]:
    body = rtmsg(socket.AF_INET6, length, 0)
    body += wire.nla(wire.RTA_DST, bytes(16))
    body += wire.nla_u32(wire.RTA_TABLE, table)
    body += wire.nla_u32(wire.RTA_PRIORITY, metric)
    return _around_address(wire.message(wire.RTM_DELROUTE, 0, body))


def _around_address(message: bytes) -> tuple[bytes, bytes]:
    return message[:_ADDRESS_AT], message[_ADDRESS_AT + 16 :]


def put_unreachable(route: UnreachableDefault | UnreachableSid, flags: int) -> bytes:
    table, metric, prefix = place(route)
    body = _at(prefix, table, metric, wire.RTN_UNREACHABLE)
    return wire.message(wire.RTM_NEWROUTE, flags, body)


def delete_at_place(route: Route) -> bytes:
    """Only a route of our protocol is hit."""
    table, metric, prefix = place(route)
    return wire.message(wire.RTM_DELROUTE, 0, _at(prefix, table, metric, 0))


def delete_static(prefix: IPv4Network | IPv6Network, table: int) -> bytes:
    """A static route of FRR's, whatever its metric and type."""
    scope = wire.RT_SCOPE_NOWHERE if prefix.version == 4 else 0
    family = family_of(prefix.version)
    body = wire.RTMSG.pack(family, prefix.prefixlen, 0, 0, 0, RTPROT_ZSTATIC, scope, 0, 0)
    if prefix.prefixlen:
        body += wire.nla(wire.RTA_DST, prefix.network_address.packed)
    return wire.message(wire.RTM_DELROUTE, 0, body + wire.nla_u32(wire.RTA_TABLE, table))


def _at(prefix: IPv4Network | IPv6Network, table: int, metric: int, kind: int) -> bytes:
    body = rtmsg(family_of(prefix.version), prefix.prefixlen, kind)
    if prefix.prefixlen:
        body += wire.nla(wire.RTA_DST, prefix.network_address.packed)
    body += wire.nla_u32(wire.RTA_TABLE, table)
    return body + wire.nla_u32(wire.RTA_PRIORITY, metric)


def place(route: Route) -> tuple[int, int, IPv4Network | IPv6Network]:
    """What the kernel tells routes apart by: two with the same place replace each other."""
    if isinstance(route, UnreachableDefault):
        return route.table, UNREACHABLE_METRIC, NOWHERE[route.family]
    if isinstance(route, UnreachableSid):
        return route.table, UNREACHABLE_METRIC, route.prefix
    return route.table, route.metric, route.prefix


def get_table(table: int, protocol: int = 0, family: int = socket.AF_INET6) -> bytes:
    """Dump of the routes in a table (0: all), of one protocol if given; the kernel filters
    (NETLINK_GET_STRICT_CHK)."""
    body = wire.RTMSG.pack(family, 0, 0, 0, 0, protocol, 0, 0, 0)
    if table:
        body += wire.nla_u32(wire.RTA_TABLE, table)
    return wire.message(wire.RTM_GETROUTE, 0, body)


def get_unreachable(family: int) -> bytes:
    """Dump of the unreachable routes of all tables of a family (socket.AF_*)."""
    body = wire.RTMSG.pack(family, 0, 0, 0, 0, 0, 0, wire.RTN_UNREACHABLE, 0)
    return wire.message(wire.RTM_GETROUTE, 0, body)


def rtmsg(family: int, length: int, kind: int, scope: int = 0, flags: int = 0) -> bytes:
    # struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
    # Table 0 gives way to RTA_TABLE.
    return wire.RTMSG.pack(family, length, 0, 0, 0, ROUTE_PROTOCOL, scope, kind, flags)


def family_of(version: int) -> int:
    return socket.AF_INET6 if version == 6 else socket.AF_INET
