"""Requests for SIDs. Those of SIDs of one kind differ in the address alone."""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.kinds.sid import seg6local
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.prefix import packed
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.routes import rtmsg

# RTA_DST comes first, so that the address has one place in all requests for SIDs.
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


def put(
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


def delete(route: SidRoute) -> bytes:
    head, tail = _delete_template(route.prefix.prefixlen, route.table, route.metric)
    return head + packed(route.prefix) + tail


@lru_cache(maxsize=4096)
def _put_template(flags: int, length: int, ifindex: int, shape: _Shape) -> tuple[bytes, bytes]:
    """The bytes before and behind the address; the same for all SIDs of one kind."""
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
