"""LinuxKernel: ports.Kernel on the real kernel of the network namespace it is made in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from srv6mgrd.kernel import addresses, routes, rules, sysctl
from srv6mgrd.kernel.boundary import BoundaryTable
from srv6mgrd.kernel.headend import HeadendRoutes
from srv6mgrd.kernel.notices import SidNotices
from srv6mgrd.kernel.seg6 import Seg6
from srv6mgrd.kernel.sid_table import SidTable, unreachable
from srv6mgrd.kernel.traffic import Counted, Traffic
from srv6mgrd.kernel.writer import Run, Writer
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.proxy.object import ProxyHook
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.reserved import MAIN_TABLE, ROUTE_PROTOCOL
from srv6mgrd.netlink import links
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action, Delete
from srv6mgrd.plan.observed import Links, Observed, ObservedObject
from srv6mgrd.ports import RejectedAction
from srv6mgrd.proxy.adapter import Proxies
from srv6mgrd.proxy.hooks import haste
from srv6mgrd.proxy.programs import Programs

_PROC_SYS = Path("/proc/sys")
_SILENT = "net/ipv6/route/skip_notify_on_dev_down"


class LinuxKernel:
    """Reads and writes routes, rules, links, proxies, sysctls, the encapsulation source and the
    filter at the boundary.

    Calls may come from several threads; they take turns. Raises KernelError when the kernel
    can't be reached or read; what it refuses to write is returned.
    """

    def __init__(
        self,
        proc_sys: Path = _PROC_SYS,
        programs: Programs | None = None,
        notices: SidNotices | None = None,
    ) -> None:
        """``programs``: those of the proxies, unless they are where the package puts them. With
        ``notices`` what stands in the SID table is kept up with what the kernel tells, and
        dumped only where that is not enough."""
        self._notices = notices
        # A dump is due, and the links at the last one.
        self._full_resync = True
        self._links: list[links.Link] = []
        # The keys of all but routes in the SID table, the last time.
        self._others: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._netlink = NetlinkSocket()
        self._seg6 = Seg6()
        self._table = BoundaryTable()
        self._proc_sys = proc_sys
        self._proxies = Proxies(self._netlink, programs)
        self._writer = Writer(self._netlink, self._seg6, self._table, proc_sys, self._proxies)
        self._routes = SidTable()
        self._traffic = Traffic()
        self._headend = HeadendRoutes()

    @property
    def port(self) -> int:
        """Port id of our netlink socket: route and rule notifications of our changes carry it."""
        return self._netlink.port

    @property
    def writes(self) -> int:
        return self._writer.writes

    def close(self) -> None:
        self._proxies.close()
        self._netlink.close()
        self._seg6.close()
        self._table.close()
        if self._notices is not None:
            self._notices.close()

    def sid_counters(self) -> Counted:
        with self._lock:
            routed = self._traffic.counted(self._dump_counted)
            proxies = self._proxies.counts()
        if not proxies:
            return routed
        found = dict(routed)
        for prefix, c in proxies.items():
            found[prefix] = (c.to_packets, c.to_octets, c.errors)
        return found

    def _dump_counted(self) -> Counted:
        request = routes.get_table(SID_TABLE, ROUTE_PROTOCOL)
        return self._routes.counters(self._netlink.dump(request, comparable=True))

    def proxies(self) -> Mapping[IPv6Network, ProxyState]:
        with self._lock:
            return self._proxies.states()

    def links(self) -> Links:
        with self._lock:
            found = links.read_all(self._netlink)
        return Links(
            {link.name: link.index for link in found},
            links.receivers(found),
            frozenset(link.name for link in found if not link.up),
            links.bridged(found),
            frozenset(link.name for link in found if link.ours),
        )

    def observe(self, sysctls: Iterable[str]) -> Observed:
        sysctls = list(sysctls)
        with self._lock:
            followed = self._followed()
            # Links after routes: a device that they refer to is known by then.
            sids = []
            if followed is None:
                sids = self._netlink.dump(routes.get_table(SID_TABLE), comparable=True)
            defaults = [
                item
                for family in (socket.AF_INET, socket.AF_INET6)
                for item in unreachable(self._netlink.dump(routes.get_unreachable(family)))
            ]
            rule_dump = self._netlink.dump(rules.get_all())
            address_dumps = [self._netlink.dump(addresses.get_all(f)) for f in addresses.FAMILIES]
            all_links = links.read_all(self._netlink)
            devices = list(links.observed(all_links))
            encaps = self._dump_ours([*devices, *defaults])
            proxies = list(self._proxies.observe(all_links))
            source = self._seg6.source()
            table = list(self._table.observed())
        names = {link.index: link.name for link in all_links}
        changed: set[str] | None = None
        if followed is None:
            objects = self._routes.observed(sids, names)
            self._links, self._full_resync = all_links, False
        else:
            objects, changed = followed
        found: list[ObservedObject] = [
            *devices,
            *addresses.observed(address_dumps, names),
            *rules.observed(rule_dump),
            *defaults,
            *self._headend.observed(encaps, names),
            *table,
            *proxies,
            *sysctl.read(sysctls, self._proc_sys),
        ]
        if source is not None:
            found.append(ObservedObject(EncapSource(source), ours=False))
        others = {item.object.key: item for item in found}
        objects |= others
        before, self._others = self._others, frozenset(others)
        overruled = sysctl.overruled(sysctls, self._proc_sys)
        return Observed(
            objects,
            {link.name: link.index for link in all_links},
            overruled,
            None if changed is None else before.union(others, changed),
        )

    def force_full_resync(self) -> None:
        self._full_resync = True

    def _followed(self) -> tuple[dict[str, ObservedObject], set[str]] | None:
        """The SID table by what was told of it, and the keys of that; None when it has to be
        dumped. Then nothing that is told from now on is missed."""
        if self._notices is None:
            return None
        reported = self._notices.take(self._routes.followable)
        # Until it has been taken in, should anything fail before.
        doubted, self._full_resync = self._full_resync, True
        if reported is None or doubted or self._is_silent():
            return None
        now = links.read_all(self._netlink)
        if now != self._links:
            return None
        followed = self._routes.followed(reported, {link.index: link.name for link in now})
        self._full_resync = followed is None
        return followed

    def _is_silent(self) -> bool:
        """Whether routes that go with their device go without a word (fib6_ifdown)."""
        reported = ObservedObject(Sysctl(_SILENT, "0"), ours=False)
        return list(sysctl.read([_SILENT], self._proc_sys)) != [reported]

    def _dump_ours(self, found: Iterable[ObservedObject]) -> list[list[bytes]]:
        """Our routes in the main table and in those of VRFs, also of one that is gone while our
        default is left. IPv6 table by table, since all at once would bring every SID again."""
        tables = {MAIN_TABLE}
        for item in found:
            if isinstance(item.object, VrfDevice | UnreachableDefault):
                tables.add(item.object.table)
        requests = [routes.get_table(0, ROUTE_PROTOCOL, socket.AF_INET)]
        requests += [routes.get_table(table, ROUTE_PROTOCOL) for table in sorted(tables)]
        return [self._netlink.dump(request) for request in requests]

    def apply(self, actions: Sequence[Action]) -> list[RejectedAction]:
        put = [a.object for a in actions if not isinstance(a, Delete)]
        self._routes.recognise(o for o in put if isinstance(o, SidRoute))
        encaps = {o.key for o in put if isinstance(o, EncapRoute)}
        hooks = sum(isinstance(a.object, ProxyHook) for a in actions)
        with self._lock, haste(hooks):
            counted = self._traffic.forget()
            rejected = Run(self._writer, actions).carry_out()
            self._headend.wrote(encaps.difference(r.action.object.key for r in rejected))
            if not rejected:
                self._traffic.recall(counted, actions)
            return rejected

    def clear_static_routes(
        self, table: int, prefixes: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        # There is none, most often, which is no failure.
        with self._lock:
            self._writer.send([routes.delete_static(prefix, table) for prefix in prefixes])
