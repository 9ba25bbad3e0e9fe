"""Routes of our protocol as netlink requests, and how to dump routes."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import wire

# FRR's for static routes (zebra/rt_netlink.h).
RTPROT_ZSTATIC = 196

CREATE = wire.NLM_F_CREATE | wire.NLM_F_EXCL
REPLACE = wire.NLM_F_CREATE | wire.NLM_F_REPLACE


_ROUTE_STATE = wire.RTNH_F_DEAD | wire.RTNH_F_LINKDOWN
# In every answer, and of no interest while they hold nothing.
_NOISE = frozenset({wire.RTA_CACHEINFO, wire.RTA_PREF})
_PLACE = frozenset({wire.RTA_DST, wire.RTA_TABLE, wire.RTA_PRIORITY, wire.RTA_OIF})
_NAMED = _PLACE | _NOISE


@dataclass(frozen=True, slots=True)
class RouteMessage:
    """One route as the kernel reports it. ``kind`` is its type (RTN_*), ``attributes`` are those
    that are not named here; ``quiet`` says that it neither expires nor is preferred, and that no
    source or TOS selects it."""

    protocol: int
    kind: int
    table: int
    metric: int
    prefix: IPv4Network | IPv6Network
    oif: int
    scope: int
    flags: int
    quiet: bool
    attributes: Mapping[int, memoryview]

    @property
    def place(self) -> tuple[int, int, IPv4Network | IPv6Network]:
        """The kernel's key of a route."""
        return self.table, self.metric, self.prefix

    @staticmethod
    def decode(body: memoryview) -> RouteMessage:
        family, length, source, tos, table, protocol, scope, kind, flags = wire.RTMSG.unpack_from(
            body
        )
        found = wire.attribute_map(body, wire.RTMSG.size)
        size = 16 if family == socket.AF_INET6 else 4
        return RouteMessage(
            protocol,
            kind,
            wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else table,
            wire.u32(found[wire.RTA_PRIORITY]) if wire.RTA_PRIORITY in found else 0,
            ip_network((bytes(found.get(wire.RTA_DST, bytes(size))), length), strict=False),
            wire.u32(found[wire.RTA_OIF]) if wire.RTA_OIF in found else 0,
            scope,
            flags & ~_ROUTE_STATE,
            not (source or tos) and _is_quiet(found),
            {key: value for key, value in found.items() if key not in _NAMED},
        )


def _is_quiet(found: Mapping[int, memoryview]) -> bool:
    if wire.RTA_PREF in found and found[wire.RTA_PREF][0]:
        return False
    return not (wire.RTA_CACHEINFO in found and wire.u32(found[wire.RTA_CACHEINFO][8:12]))


def head(
    table: int,
    metric: int,
    prefix: IPv4Network | IPv6Network,
    kind: int,
    *,
    scope: int = 0,
    flags: int = 0,
) -> bytes:
    """What each request for a route begins with; ``kind`` is its type (RTN_*)."""
    body = rtmsg(family_of(prefix.version), prefix.prefixlen, kind, scope, flags)
    if prefix.prefixlen:
        body += wire.nla(wire.RTA_DST, prefix.network_address.packed)
    body += wire.nla_u32(wire.RTA_TABLE, table)
    return body + wire.nla_u32(wire.RTA_PRIORITY, metric)


def delete(table: int, metric: int, prefix: IPv4Network | IPv6Network) -> bytes:
    """Only a route of our protocol is hit, whatever its type."""
    # An IPv4 deletion matches any scope with this one (fib_table_delete); IPv6 knows no scopes.
    scope = wire.RT_SCOPE_NOWHERE if prefix.version == 4 else 0
    return wire.message(wire.RTM_DELROUTE, 0, head(table, metric, prefix, 0, scope=scope))


def delete_static(prefix: IPv4Network | IPv6Network, table: int) -> bytes:
    """A static route of FRR's, whatever its metric and type."""
    scope = wire.RT_SCOPE_NOWHERE if prefix.version == 4 else 0
    family = family_of(prefix.version)
    body = wire.RTMSG.pack(family, prefix.prefixlen, 0, 0, 0, RTPROT_ZSTATIC, scope, 0, 0)
    if prefix.prefixlen:
        body += wire.nla(wire.RTA_DST, prefix.network_address.packed)
    return wire.message(wire.RTM_DELROUTE, 0, body + wire.nla_u32(wire.RTA_TABLE, table))


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
