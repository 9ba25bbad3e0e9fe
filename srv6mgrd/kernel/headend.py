"""Routes of ours outside the SID table: encapsulating ones, and those to next hops of SIDs.

Only routes of our protocol are read: a foreign one in the place of ours is found when the kernel
refuses to create ours beside it (NLM_F_EXCL). Tables of thousands of foreign routes are thus
never carried over to us.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from srv6mgrd.kernel.routes import family_of, rtmsg
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.route import UNREACHABLE_METRIC, Family, UnknownRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.behavior import Headend
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import srh, wire
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.observed import ObservedObject

# linux/seg6_iptunnel.h: SEG6_IPTUN_MODE_*; 0 is inline, which we don't write.
_MODE = {
    Headend.H_ENCAPS: 1,
    Headend.H_ENCAPS_L2: 2,
    Headend.H_ENCAPS_RED: 3,
    Headend.H_ENCAPS_L2_RED: 4,
}
_HEADEND = {number: headend for headend, number in _MODE.items()}
_MODE_FIELD = struct.Struct("=i")

_PLACE = frozenset({wire.RTA_DST, wire.RTA_TABLE, wire.RTA_PRIORITY, wire.RTA_OIF})
# In every answer, and of no interest while they hold nothing.
_NOISE = frozenset({wire.RTA_CACHEINFO, wire.RTA_PREF})
_ENCAP = frozenset({wire.RTA_ENCAP, wire.RTA_ENCAP_TYPE})
_SEG6 = frozenset({wire.SEG6_IPTUNNEL_SRH, wire.SEG6_IPTUNNEL_SRC, wire.SEG6_IPTUNNEL_TABLE})
_ROUTE_STATE = wire.RTNH_F_DEAD | wire.RTNH_F_LINKDOWN


def put(route: EncapRoute | NextHopRoute, flags: int, ifindex: int) -> bytes:
    """RTM_NEWROUTE on the device with this ifindex; flags CREATE or REPLACE."""
    if isinstance(route, NextHopRoute):
        # On-link: the interface needs no address in the next hop's network.
        body = _head(route, wire.RTN_UNICAST, flags=wire.RTNH_F_ONLINK)
        body += wire.nla(wire.RTA_GATEWAY, route.via.packed)
        body += wire.nla_u32(wire.RTA_OIF, ifindex)
        return wire.message(wire.RTM_NEWROUTE, flags, body)
    # An IPv4 route without gateway has link scope (fib_check_nh_nongw); IPv6 knows no scopes.
    scope = wire.RT_SCOPE_LINK if route.prefix.version == 4 else 0
    body = _head(route, wire.RTN_UNICAST, scope=scope)
    body += wire.nla_u32(wire.RTA_OIF, ifindex)
    if route.hop_limit is not None:
        hop_limit = wire.nla_u32(wire.RTAX_HOPLIMIT, route.hop_limit)
        body += wire.nested(wire.RTA_METRICS, hop_limit)
    tunnel = _MODE_FIELD.pack(_MODE[route.behavior]) + srh.pack(route.segments)
    encap = wire.nla(wire.SEG6_IPTUNNEL_SRH, tunnel)
    if route.source is not None:
        encap += wire.nla(wire.SEG6_IPTUNNEL_SRC, route.source.packed)
    if route.lookup_table is not None:
        encap += wire.nla_u32(wire.SEG6_IPTUNNEL_TABLE, route.lookup_table)
    body += wire.nested(wire.RTA_ENCAP, encap)
    body += wire.nla_u16(wire.RTA_ENCAP_TYPE, wire.LWTUNNEL_ENCAP_SEG6)
    return wire.message(wire.RTM_NEWROUTE, flags, body)


def delete(route: EncapRoute | NextHopRoute) -> bytes:
    """Only a route of our protocol is hit."""
    # An IPv4 deletion matches any scope with this one (fib_table_delete).
    scope = wire.RT_SCOPE_NOWHERE if route.prefix.version == 4 else 0
    return wire.message(wire.RTM_DELROUTE, 0, _head(route, 0, scope=scope))


def _head(route: EncapRoute | NextHopRoute, kind: int, scope: int = 0, flags: int = 0) -> bytes:
    prefix = route.prefix
    body = rtmsg(family_of(prefix.version), prefix.prefixlen, kind, scope, flags)
    if prefix.prefixlen:
        body += wire.nla(wire.RTA_DST, prefix.network_address.packed)
    body += wire.nla_u32(wire.RTA_TABLE, route.table)
    return body + wire.nla_u32(wire.RTA_PRIORITY, route.metric)


class HeadendRoutes:
    """Decodes dumps of our routes. Such a route is the same bytes in each dump, so what it was
    decoded to is kept.

    An attribute of the encapsulation that we don't know makes a route an unknown one, to be put
    right, until a route that was just written reads back with it: then it is the kernel's own, and
    to write the route again would not help.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, ObservedObject | None] = {}
        self._devices: Mapping[int, str] = {}
        # Keys of routes written since the last dump, and attributes that the kernel adds.
        self._written: set[str] = set()
        self._added: frozenset[int] = frozenset()

    def wrote(self, keys: Iterable[str]) -> None:
        """Keys of encapsulating routes that the kernel has taken."""
        self._written.update(keys)

    def observed(
        self, dumps: Sequence[Sequence[bytes]], devices: Mapping[int, str]
    ) -> Iterator[ObservedObject]:
        before = self._known if devices == self._devices else {}
        self._known, self._devices = {}, dict(devices)
        written, self._written = self._written, set()
        for datagrams in dumps:
            for body in answers(datagrams, wire.RTM_NEWROUTE):
                packed = bytes(body)
                item = before[packed] if packed in before else decode(body, devices, self._added)
                if item is not None and item.object.key in written:
                    item = self._read_back(body, item)
                self._known[packed] = item
                if item is not None:
                    yield item

    def _read_back(self, body: memoryview, item: ObservedObject) -> ObservedObject:
        """A route that we wrote, without what the kernel added to it."""
        if not isinstance(item.object, UnknownRoute):
            return item
        added = self._added | _unknown_encap(body)
        found = decode(body, self._devices, added)
        if found is None or isinstance(found.object, UnknownRoute):
            return item
        self._added = added
        return found


def _unknown_encap(body: memoryview) -> frozenset[int]:
    """Attributes in the encapsulation that we don't know."""
    found = wire.attribute_map(body, wire.RTMSG.size)
    return frozenset(wire.attribute_map(found.get(wire.RTA_ENCAP, b""))) - _SEG6


def decode(
    body: memoryview, devices: Mapping[int, str], added: frozenset[int] = frozenset()
) -> ObservedObject | None:
    """One route without its netlink header; None when it is not of our protocol, or is one of
    those that ``sid_table.unreachable`` finds. ``added`` are attributes of an encapsulation that
    the kernel adds to what we write."""
    family, length, source, tos, table, protocol, scope, kind, flags = wire.RTMSG.unpack_from(body)
    if protocol != ROUTE_PROTOCOL or (kind == wire.RTN_UNREACHABLE and not length):
        return None
    found = wire.attribute_map(body, wire.RTMSG.size)
    table = wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else table
    metric = wire.u32(found[wire.RTA_PRIORITY]) if wire.RTA_PRIORITY in found else 0
    if kind == wire.RTN_UNREACHABLE and (family, metric) == (socket.AF_INET6, UNREACHABLE_METRIC):
        return None
    oif = wire.u32(found[wire.RTA_OIF]) if wire.RTA_OIF in found else 0
    device = devices.get(oif, f"if{oif}")
    version: Family = 6 if family == socket.AF_INET6 else 4
    address = bytes(found.get(wire.RTA_DST, bytes(16 if version == 6 else 4)))
    prefix = ip_network((address, length), strict=False)
    plain = kind == wire.RTN_UNICAST and not (source or tos) and _quiet(found)
    flags &= ~_ROUTE_STATE
    route: EncapRoute | NextHopRoute | None = None
    if plain and not flags and scope == (wire.RT_SCOPE_LINK if version == 4 else 0):
        route = _encap_route(prefix, table, metric, device, found, added=added)
    elif plain and flags == wire.RTNH_F_ONLINK and not scope:
        route = _next_hop_route(prefix, table, metric, device, found)
    if route is not None:
        return ObservedObject(route, ours=True)
    words = f"type {kind} scope {scope} flags {flags:#x} attributes "
    words += " ".join(map(str, sorted(found.keys() - _PLACE - _NOISE))) + f" dev {device}"
    key = f"route{version} table {table} {prefix} metric {metric}"
    return ObservedObject(UnknownRoute(key, version, table, prefix, metric, words), ours=True)


def _quiet(found: Mapping[int, memoryview]) -> bool:
    """Whether a route neither expires nor is preferred."""
    if wire.RTA_PREF in found and found[wire.RTA_PREF][0]:
        return False
    return not (wire.RTA_CACHEINFO in found and wire.u32(found[wire.RTA_CACHEINFO][8:12]))


def _encap_route(
    prefix: IPv4Network | IPv6Network,
    table: int,
    metric: int,
    device: str,
    found: Mapping[int, memoryview],
    *,
    added: frozenset[int],
) -> EncapRoute | None:
    if found.keys() - _PLACE - _NOISE - {wire.RTA_METRICS} != _ENCAP:
        return None
    if wire.u16(found[wire.RTA_ENCAP_TYPE]) != wire.LWTUNNEL_ENCAP_SEG6:
        return None
    inner = wire.attribute_map(found[wire.RTA_ENCAP])
    tunnel = inner.pop(wire.SEG6_IPTUNNEL_SRH, memoryview(b""))
    source = inner.pop(wire.SEG6_IPTUNNEL_SRC, None)
    lookup_table = inner.pop(wire.SEG6_IPTUNNEL_TABLE, None)
    metrics = wire.attribute_map(found.get(wire.RTA_METRICS, b""))
    hop_limit = metrics.pop(wire.RTAX_HOPLIMIT, None)
    if inner.keys() - added or metrics or len(tunnel) < _MODE_FIELD.size:
        return None
    behavior = _HEADEND.get(_MODE_FIELD.unpack_from(tunnel)[0])
    segments = srh.unpack(tunnel[_MODE_FIELD.size :])
    if behavior is None or segments is None:
        return None
    return EncapRoute(
        prefix=prefix,
        table=table,
        behavior=behavior,
        segments=segments,
        device=device,
        metric=metric,
        source=IPv6Address(bytes(source)) if source is not None else None,
        hop_limit=wire.u32(hop_limit) if hop_limit is not None else None,
        lookup_table=wire.u32(lookup_table) if lookup_table is not None else None,
    )


def _next_hop_route(
    prefix: IPv4Network | IPv6Network,
    table: int,
    metric: int,
    device: str,
    found: Mapping[int, memoryview],
) -> NextHopRoute | None:
    one: IPv4Address | IPv6Address = prefix.network_address
    if (
        found.keys() - _PLACE - _NOISE != {wire.RTA_GATEWAY}
        or prefix.prefixlen != one.max_prefixlen
    ):
        return None
    via = ip_address(bytes(found[wire.RTA_GATEWAY]))
    return NextHopRoute(one, device, via, table, metric)
