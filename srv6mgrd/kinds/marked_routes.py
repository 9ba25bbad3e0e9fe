"""Routes of our protocol outside the SID table, read back.

Only these are read: a foreign one in the place of ours is found when the kernel rejects ours beside
it (NLM_F_EXCL). Tables of thousands of foreign routes are thus never carried over to us.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence, Set
from types import MappingProxyType

from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, Host
from srv6mgrd.kinds.kernel_route import KernelRoute
from srv6mgrd.kinds.reader import Reader, RouteDecoder
from srv6mgrd.kinds.route import UNREACHABLE_METRIC, Family, UnknownRoute, route_key
from srv6mgrd.model.reserved import ROUTE_PROTOCOL
from srv6mgrd.netlink import routes, wire
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.netlink.socket import answers
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject


class MarkedRoutes(KernelRoute):
    """Has each kind of route say which of them it knows; deletes those that none does. Such a route
    is the same bytes in each dump, so what it was decoded to is kept."""

    kinds = (UnknownRoute,)
    groups = MappingProxyType(
        {wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV4_ROUTE, wire.RTNLGRP_IPV6_ROUTE)}
    )

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        if message not in (wire.RTM_NEWROUTE, wire.RTM_DELROUTE):
            return None
        route = RouteMessage.decode(body)
        if route.protocol != ROUTE_PROTOCOL:
            return None
        return KernelEvent(
            EventKind.ROUTE, route_key(route.place), message == wire.RTM_DELROUTE, True
        )

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._known: Mapping[bytes, ObservedObject | None] = {}
        self._devices: Mapping[int, str] = {}
        # Keys of what was written since the last dump: it is decoded again, since a kind may learn
        # from it what the kernel adds.
        self._written: frozenset[str] = frozenset()

    def wrote(self, actions: Sequence[Action], rejected: Set[str]) -> None:
        put = {a.object.key for a in actions if not isinstance(a, Delete)}
        self._written |= put - rejected

    def dump(self, reader: Reader) -> Decode:
        reader.tables.update(link.table for link in reader.links if link.kind == "vrf")
        requests = [routes.get_table(0, ROUTE_PROTOCOL, socket.AF_INET)]
        # IPv6 table by table, since all at once would bring every SID again.
        requests += [routes.get_table(table, ROUTE_PROTOCOL) for table in sorted(reader.tables)]
        dumps = [reader.dump(request) for request in requests]
        decoders = reader.route_decoders
        return lambda: self.by_key([*self.observed(dumps, reader.names, decoders)])

    def observed(
        self,
        dumps: Sequence[Sequence[bytes]],
        devices: Mapping[int, str],
        decoders: Sequence[RouteDecoder],
    ) -> Iterator[ObservedObject]:
        before = self._known if devices == self._devices else {}
        known: dict[bytes, ObservedObject | None] = {}
        self._known, self._devices = known, dict(devices)
        written, self._written = self._written, frozenset()
        for datagrams in dumps:
            for body in answers(datagrams, wire.RTM_NEWROUTE):
                packed = bytes(body)
                item = before.get(packed)
                if packed not in before or (item is not None and item.object.key in written):
                    item = decode(body, devices, decoders)
                known[packed] = item
                if item is not None:
                    yield item


def decode(
    body: memoryview, devices: Mapping[int, str], decoders: Sequence[RouteDecoder]
) -> ObservedObject | None:
    """One route without its netlink header; None when it is not of our protocol, or one of those
    that are read as unreachable ones."""
    message = RouteMessage.decode(body)
    version: Family = 6 if message.prefix.version == 6 else 4
    if message.protocol != ROUTE_PROTOCOL:
        return None
    if message.kind == wire.RTN_UNREACHABLE and (
        not message.prefix.prefixlen or (version, message.metric) == (6, UNREACHABLE_METRIC)
    ):
        return None
    for known in decoders:
        if (route := known(message)) is not None:
            return ObservedObject(route, ours=True)
    device = devices.get(message.oif, f"if{message.oif}")
    description = f"type {message.kind} scope {message.scope} flags {message.flags:#x} attributes "
    description += " ".join(map(str, sorted(message.attributes))) + f" dev {device}"
    unknown = UnknownRoute(
        route_key(message.place),
        version,
        message.table,
        message.prefix,
        message.metric,
        description,
    )
    return ObservedObject(unknown, ours=True)
