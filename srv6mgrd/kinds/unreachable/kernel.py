"""Unreachable routes of VRFs, written and read back."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from ipaddress import IPv6Network
from types import MappingProxyType

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode
from srv6mgrd.kinds.kernel_route import KernelRoute
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.route import UNREACHABLE_METRIC, Route, UnknownRoute
from srv6mgrd.kinds.unreachable.object import ANYWHERE, UnreachableDefault, UnreachableSid
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import routes, wire
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.observed import ObservedObject


class UnreachableRoutes(KernelRoute):
    kinds = (UnreachableDefault, UnreachableSid)
    groups = MappingProxyType(
        {wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV4_ROUTE, wire.RTNLGRP_IPV6_ROUTE)}
    )

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        """Of defaults; other unreachable routes are reported as any of our protocol."""
        if message not in (wire.RTM_NEWROUTE, wire.RTM_DELROUTE):
            return None
        route = RouteMessage.decode(body)
        if route.prefix.prefixlen or route.kind != wire.RTN_UNREACHABLE:
            return None
        default = UnreachableDefault(6 if route.prefix.version == 6 else 4, route.table)
        ours = route.protocol == ROUTE_PROTOCOL
        return KernelEvent(EventKind.ROUTE, default.key, message == wire.RTM_DELROUTE, ours)

    def put(self, batch: Batch, route: Route, flags: int) -> bytes:
        return put(route, flags)

    def dump(self, reader: Reader) -> Decode:
        found = []
        for family in (socket.AF_INET, socket.AF_INET6):
            found += list(unreachable(reader.dump(routes.get_unreachable(family))))
        # Also of a VRF that is gone while its default is left.
        reader.tables.update(
            item.object.table for item in found if isinstance(item.object, UnreachableDefault)
        )
        return lambda: self.by_key(found)


def put(route: Route, flags: int) -> bytes:
    """RTM_NEWROUTE; flags CREATE or REPLACE."""
    body = routes.head(*route.place, wire.RTN_UNREACHABLE)
    return wire.message(wire.RTM_NEWROUTE, flags, body)


def unreachable(datagrams: Sequence[bytes]) -> Iterator[ObservedObject]:
    """Unreachable defaults with the metric that ours have, and all of our protocol; of other
    unreachable routes those of our protocol and metric."""
    for body in answers(datagrams, wire.RTM_NEWROUTE):
        family, length, _, _, table, protocol, _, kind, _ = wire.RTMSG.unpack_from(body)
        ours = protocol == ROUTE_PROTOCOL
        if (length and not ours) or kind != wire.RTN_UNREACHABLE:
            continue
        found = wire.attribute_map(body, wire.RTMSG.size)
        table = wire.u32(found[wire.RTA_TABLE]) if wire.RTA_TABLE in found else table
        metric = wire.u32(found[wire.RTA_PRIORITY]) if wire.RTA_PRIORITY in found else 0
        if length:
            if family == socket.AF_INET6 and metric == UNREACHABLE_METRIC:
                prefix = IPv6Network((bytes(found[wire.RTA_DST]), length), strict=False)
                yield ObservedObject(UnreachableSid(prefix, table), ours)
            continue
        default = UnreachableDefault(6 if family == socket.AF_INET6 else 4, table)
        if metric == UNREACHABLE_METRIC:
            yield ObservedObject(default, ours)
        elif ours:
            yield ObservedObject(
                UnknownRoute(
                    f"{default.key} metric {metric}",
                    default.family,
                    table,
                    ANYWHERE[default.family],
                    metric,
                    "unreachable",
                ),
                ours,
            )
