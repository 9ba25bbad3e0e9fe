"""SIDs, written and read back."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from ipaddress import IPv6Network
from types import MappingProxyType

from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.kernel_event import EventKind, KernelEvent
from srv6mgrd.kinds.kernel_kind import Decode, Host
from srv6mgrd.kinds.kernel_route import KernelRoute
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.route import Route
from srv6mgrd.kinds.sid import bpf, requests
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sid.route_dump import Counters
from srv6mgrd.kinds.sid.sid_table import SidTable
from srv6mgrd.kinds.sysctl import kernel as sysctl
from srv6mgrd.model.reserved import ROUTE_PROTOCOL, SID_TABLE
from srv6mgrd.netlink import links, routes, wire
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.netlink.links import Link
from srv6mgrd.netlink.routes import RouteMessage
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import ObservedObject

_SILENT = "net/ipv6/route/skip_notify_on_dev_down"


class SidRoutes(KernelRoute):
    """With notices what is in the SID table is kept up with what the kernel reports, and dumped
    only where that is not enough. ``changed`` are the keys that were reported since the last look;
    None: any may be otherwise."""

    kinds = (SidRoute,)
    groups = MappingProxyType({wire.NETLINK_ROUTE: (wire.RTNLGRP_IPV6_ROUTE,)})

    @staticmethod
    def event(message: int, body: memoryview) -> KernelEvent | None:
        if message not in (wire.RTM_NEWROUTE, wire.RTM_DELROUTE) or body[0] != socket.AF_INET6:
            return None
        route = RouteMessage.decode(body)
        if route.table != SID_TABLE:
            return None
        ours = route.protocol == ROUTE_PROTOCOL
        key = f"route6 table {route.table} {route.prefix}"
        return KernelEvent(EventKind.ROUTE, key, message == wire.RTM_DELROUTE, ours)

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._table = SidTable()
        # A dump is due, and the links at the last one.
        self._full_resync = True
        self._links: Sequence[Link] = []
        self.changed: set[str] | None = None

    def close(self) -> None:
        if self._host.notices is not None:
            self._host.notices.close()

    def force_full_resync(self) -> None:
        self._full_resync = True

    def counters(self) -> Mapping[IPv6Network, Counters]:
        """packets, bytes, errors by prefix, of those that have counters. The very mapping of the
        last time when nothing has counted since."""
        request = routes.get_table(SID_TABLE, ROUTE_PROTOCOL)
        return self._table.counters(self._host.netlink.dump(request, comparable=True))

    def writing(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        put = (a.object for a in actions if not isinstance(a, Delete))
        self._table.recognise(obj for obj in put if isinstance(obj, SidRoute))
        return contextlib.nullcontext()

    def put(self, batch: Batch, route: Route, flags: int) -> bytes | Failure | None:
        assert isinstance(route, SidRoute)
        return _put(batch, route, flags) if route.bpf_program is None else None

    def put_alone(self, batch: Batch, route: Route, flags: int) -> Failure | None:
        assert isinstance(route, SidRoute)
        if route.bpf_program is None:
            return super().put_alone(batch, route, flags)
        # The descriptor of the program has to be open meanwhile.
        program = bpf.open_pinned(route.bpf_program)
        if isinstance(program, Failure):
            return Failure(program.errno, f"BPF program {route.bpf_program}: {program.message}")
        try:
            request = _put(batch, route, flags, program)
            return request if isinstance(request, Failure) else batch.one(request)
        finally:
            os.close(program)

    def deletion(self, route: Route) -> bytes:
        assert isinstance(route, SidRoute)
        return requests.delete(route)

    def dump(self, reader: Reader) -> Decode:
        followed = self._followed()
        if followed is not None:
            objects, self.changed = followed
            return lambda: objects
        sids = reader.dump(routes.get_table(SID_TABLE), comparable=True)
        self.changed = None

        def decode() -> dict[str, ObservedObject]:
            found = self._table.observed(sids, reader.names)
            self._links, self._full_resync = reader.links, False
            return found

        return decode

    def _followed(self) -> tuple[dict[str, ObservedObject], set[str]] | None:
        """The SID table by what was reported of it, and the keys of that; None when it has to be
        dumped. Then nothing that is reported from now on is missed."""
        if self._host.notices is None:
            return None
        reported = self._host.notices.take(self._table.followable)
        # Until it has been taken in, should anything fail before.
        doubted, self._full_resync = self._full_resync, True
        if reported is None or doubted or self._is_silent():
            return None
        now = links.read_all(self._host.netlink)
        if now != self._links:
            return None
        followed = self._table.followed(reported, {link.index: link.name for link in now})
        self._full_resync = followed is None
        return followed

    def _is_silent(self) -> bool:
        """Whether routes that go with their device go without a word (fib6_ifdown)."""
        return sysctl.value(_SILENT, self._host.proc_sys) != "0"


def _put(batch: Batch, route: SidRoute, flags: int, program: int | None = None) -> bytes | Failure:
    device = batch.index(route.device)
    interface = None if route.interface is None else batch.index(route.interface)
    if isinstance(device, Failure):
        return device
    if isinstance(interface, Failure):
        return interface
    return requests.put(route, flags, device, interface, program)
