"""LinuxKernel: ports.Kernel on the real kernel of the network namespace it is made in."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import TypeVar

from srv6mgrd.accounting.programs import AccountingPrograms
from srv6mgrd.chains.programs import ChainPrograms
from srv6mgrd.kernel.traffic import Counted, Traffic
from srv6mgrd.kinds.accounting.kernel import TrafficAccounting
from srv6mgrd.kinds.batch import Batch
from srv6mgrd.kinds.boundary.kernel import Boundaries
from srv6mgrd.kinds.chain.kernel import ServiceFunctionChains
from srv6mgrd.kinds.kernel_kind import Host, KernelKind
from srv6mgrd.kinds.proxy.kernel import ServiceProxies
from srv6mgrd.kinds.reader import Reader
from srv6mgrd.kinds.registry import KINDS
from srv6mgrd.kinds.sid.kernel import SidRoutes
from srv6mgrd.kinds.sid.notices import SidNotices
from srv6mgrd.kinds.sysctl.kernel import overruled
from srv6mgrd.model.accounting import Accounted
from srv6mgrd.model.chain_state import ChainCounts
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.netlink import links, routes
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.netlink.socket import NetlinkSocket
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.observed import Links, Observed, ObservedObject
from srv6mgrd.ports import RejectedAction
from srv6mgrd.proxy.programs import Programs

_PROC_SYS = Path("/proc/sys")
_K = TypeVar("_K", bound=KernelKind)


class LinuxKernel:
    """Reads and writes all kinds of objects that the kernel has (``kinds.registry``).

    Calls may come from several threads; they take turns. Raises KernelError when the kernel
    can't be reached or read; what it rejects is returned.
    """

    def __init__(
        self,
        proc_sys: Path = _PROC_SYS,
        programs: Programs | None = None,
        notices: SidNotices | None = None,
        accounting: AccountingPrograms | None = None,
        chains: ChainPrograms | None = None,
    ) -> None:
        """``programs``: those of the proxies, unless they are where the package puts them, and
        ``accounting`` and ``chains`` likewise. With ``notices`` what is in the SID table is kept up
        with what the kernel reports, and dumped only where that is not enough."""
        # The keys of all but routes in the SID table, the last time.
        self._others: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._netlink = NetlinkSocket()
        self._proc_sys = proc_sys
        host = Host(self._netlink, proc_sys, programs, accounting, chains, notices)
        self._kinds = [kind(host) for kind in KINDS]
        self._writers = {cls: kind for kind in self._kinds for cls in kind.kinds}
        self._sids = self._kind(SidRoutes)
        self._proxies = self._kind(ServiceProxies).proxies
        self._accounting = self._kind(TrafficAccounting).accounting
        self._chains = self._kind(ServiceFunctionChains).chains
        self._boundary = self._kind(Boundaries).table
        self._traffic = Traffic()
        self._writes = 0

    def _kind(self, wanted: type[_K]) -> _K:
        return next(kind for kind in self._kinds if isinstance(kind, wanted))

    @property
    def port(self) -> int:
        """Port id of our netlink socket: route and rule notifications of our changes carry it."""
        return self._netlink.port

    @property
    def writes(self) -> int:
        return self._writes

    def close(self) -> None:
        self._netlink.close()
        for kind in self._kinds:
            kind.close()

    def sid_counters(self) -> Counted:
        with self._lock:
            routed = self._traffic.counted(self._sids.counters)
            proxies = self._proxies.counts()
        if not proxies:
            return routed
        found = dict(routed)
        for prefix, c in proxies.items():
            found[prefix] = (c.to_packets, c.to_octets, c.errors)
        return found

    def proxies(self) -> Mapping[IPv6Network, ProxyState]:
        with self._lock:
            return self._proxies.states()

    def accounted(self, lists: Iterable[Sequence[IPv6Address]] = ()) -> Accounted:
        with self._lock:
            return self._accounting.accounted(lists)

    def chain_counts(self) -> ChainCounts:
        """What classifiers and service function chains counted."""
        with self._lock:
            return self._chains.counts()

    def function_states(self) -> Mapping[str, FunctionState]:
        """What flows go by; functions that nothing was said of are up."""
        with self._lock:
            return self._chains.states()

    def set_function_states(
        self, states: Mapping[str, FunctionState], bypassed: Collection[IPv6Network]
    ) -> None:
        """Packets to ``bypassed`` SIDs of functions go on without these. States of other functions
        stay. Raises KernelError when the kernel rejects it."""
        with self._lock:
            failure = self._proxies.bypass(bypassed)
            failure = self._chains.set_states(states) or failure
        if failure is not None:
            raise KernelError(
                "states of service functions", failure.message, "run srv6ctl reconcile"
            )

    def filtered(self) -> int:
        """How many packets to SIDs the boundary's filter dropped."""
        with self._lock:
            return self._boundary.dropped()

    def links(self) -> Links:
        with self._lock:
            found = links.read_all(self._netlink)
        return Links(
            {link.name: link.index for link in found},
            links.receivers(found),
            frozenset(link.name for link in found if not link.up),
            links.bridged(found),
            frozenset(link.name for link in found if link.ours),
            frozenset(link.name for link in found if not (link.up and link.carrier)),
            {link.name: link.mtu for link in found},
        )

    def observe(self, sysctls: Iterable[str]) -> Observed:
        sysctls = list(sysctls)
        with self._lock:
            reader = Reader(self._netlink, sysctls)
            decoders = [kind.dump(reader) for kind in self._kinds]
            interfaces = {link.name: link.index for link in reader.links}
        found = {kind: decode() for kind, decode in zip(self._kinds, decoders, strict=True)}
        # There may be a hundred thousand.
        objects = found.pop(self._sids)
        others: dict[str, ObservedObject] = {}
        for more in found.values():
            others |= more
        objects |= others
        before, self._others = self._others, frozenset(others)
        changed = self._sids.changed
        return Observed(
            objects,
            interfaces,
            overruled(sysctls, self._proc_sys),
            None if changed is None else before.union(others, changed),
        )

    def force_full_resync(self) -> None:
        self._sids.force_full_resync()

    def apply(self, actions: Sequence[Action]) -> list[RejectedAction]:
        with self._lock, contextlib.ExitStack() as held:
            for kind in self._kinds:
                held.enter_context(kind.writing(actions))
            counted = self._traffic.forget()
            batch = Batch(self._netlink, self._writers)
            rejected = batch.carry_out(actions)
            self._writes += batch.writes
            keys = {r.action.object.key for r in rejected}
            for kind in self._kinds:
                kind.wrote(actions, keys)
            if not rejected:
                self._traffic.recall(counted, actions)
            return rejected

    def clear_static_routes(
        self, table: int, prefixes: Sequence[IPv4Network | IPv6Network]
    ) -> None:
        # There is none, most often, which is no failure.
        with self._lock:
            requests = [routes.delete_static(prefix, table) for prefix in prefixes]
            self._writes += len(requests)
            self._netlink.write(requests)
