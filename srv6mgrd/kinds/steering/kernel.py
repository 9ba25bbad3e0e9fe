"""Routes that encapsulate, written and read back (net/ipv6/seg6_iptunnel.c)."""

from __future__ import annotations

import struct
from collections.abc import Sequence, Set
from ipaddress import IPv6Address

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_kind import Decode, Host
from srv6mgrd.kinds.kernel_route import KernelRoute
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.route import Route
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.behavior import Headend
from srv6mgrd.netlink import routes, srh, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.plan.actions import Action, Delete

# linux/seg6_iptunnel.h: SEG6_IPTUN_MODE_*
_MODE = {
    Headend.H_INSERT: 0,
    Headend.H_ENCAPS: 1,
    Headend.H_ENCAPS_L2: 2,
    Headend.H_ENCAPS_RED: 3,
    Headend.H_ENCAPS_L2_RED: 4,
}
_HEADEND = {number: headend for headend, number in _MODE.items()}
_MODE_FIELD = struct.Struct("=i")
# Where the kernel puts each packet's destination (__seg6_do_srh_inline).
_DESTINATION = (IPv6Address(0),)

_ENCAP = frozenset({wire.RTA_ENCAP, wire.RTA_ENCAP_TYPE})
_SEG6 = frozenset({wire.SEG6_IPTUNNEL_SRH, wire.SEG6_IPTUNNEL_SRC, wire.SEG6_IPTUNNEL_TABLE})


class SteeringRoutes(KernelRoute):
    """An attribute of the encapsulation that we don't know makes a route an unknown one, to be put
    right, until a route that was just written reads back with it: then it is the kernel's own, and
    to write the route again would not help."""

    kinds = (EncapRoute,)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        # Places of routes written since the last dump, and attributes that the kernel adds.
        self._written: frozenset[object] = frozenset()
        self._added: frozenset[int] = frozenset()

    def put(self, batch: Batch, route: Route, flags: int) -> bytes | Failure:
        assert isinstance(route, EncapRoute)
        index = batch.index(route.device)
        return index if isinstance(index, Failure) else put(route, flags, index)

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        self._written |= {
            action.object.place
            for action in actions
            if isinstance(action.object, EncapRoute)
            and not isinstance(action, Delete)
            and action.object.key not in rejected
        }

    def dump(self, reader: Reader) -> Decode:
        written, self._written = self._written, frozenset()

        def known(message: RouteMessage) -> EncapRoute | None:
            device = reader.names.get(message.oif, f"if{message.oif}")
            if message.place in written:
                more = self._added | unknown_attributes(message)
                if (route := decode(message, device, more)) is not None:
                    self._added = more
                return route
            return decode(message, device, self._added)

        reader.route_decoders.append(known)
        return dict


def put(route: EncapRoute, flags: int, ifindex: int) -> bytes:
    """RTM_NEWROUTE on the device with this ifindex; flags CREATE or REPLACE."""
    body = routes.head(*route.place, wire.RTN_UNICAST, scope=_scope(route.prefix.version))
    body += wire.nla_u32(wire.RTA_OIF, ifindex)
    if route.hop_limit is not None:
        hop_limit = wire.nla_u32(wire.RTAX_HOPLIMIT, route.hop_limit)
        body += wire.nested(wire.RTA_METRICS, hop_limit)
    segments = route.segments
    if route.behavior is Headend.H_INSERT:
        segments += _DESTINATION
    tunnel = _MODE_FIELD.pack(_MODE[route.behavior]) + srh.pack(segments)
    encap = wire.nla(wire.SEG6_IPTUNNEL_SRH, tunnel)
    if route.source is not None:
        encap += wire.nla(wire.SEG6_IPTUNNEL_SRC, route.source.packed)
    if route.lookup_table is not None:
        encap += wire.nla_u32(wire.SEG6_IPTUNNEL_TABLE, route.lookup_table)
    body += wire.nested(wire.RTA_ENCAP, encap)
    body += wire.nla_u16(wire.RTA_ENCAP_TYPE, wire.LWTUNNEL_ENCAP_SEG6)
    return wire.message(wire.RTM_NEWROUTE, flags, body)


def _scope(version: int) -> int:
    """An IPv4 route without gateway has link scope (fib_check_nh_nongw); IPv6 knows no scopes."""
    return wire.RT_SCOPE_LINK if version == 4 else 0


def unknown_attributes(message: RouteMessage) -> frozenset[int]:
    """Those in the encapsulation that we don't write."""
    return frozenset(wire.attribute_map(message.attributes.get(wire.RTA_ENCAP, b""))) - _SEG6


def decode(
    message: RouteMessage, device: str, added: frozenset[int] = frozenset()
) -> EncapRoute | None:
    """None when it is something else. ``added`` are attributes of an encapsulation that the kernel
    adds to what we write."""
    found = message.attributes
    if (
        message.kind != wire.RTN_UNICAST
        or not message.quiet
        or (message.flags, message.scope) != (0, _scope(message.prefix.version))
        or found.keys() - {wire.RTA_METRICS} != _ENCAP
        or wire.u16(found[wire.RTA_ENCAP_TYPE]) != wire.LWTUNNEL_ENCAP_SEG6
    ):
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
    if behavior is Headend.H_INSERT:
        if segments[-1:] != _DESTINATION or len(segments) == 1:
            return None
        segments = segments[:-1]
    return EncapRoute(
        prefix=message.prefix,
        table=message.table,
        behavior=behavior,
        segments=segments,
        device=device,
        metric=message.metric,
        source=IPv6Address(bytes(source)) if source is not None else None,
        hop_limit=wire.u32(hop_limit) if hop_limit is not None else None,
        lookup_table=wire.u32(lookup_table) if lookup_table is not None else None,
    )
