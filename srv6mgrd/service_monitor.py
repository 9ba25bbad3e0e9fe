"""Watches whether services work, and makes known what it finds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any, Protocol

from srv6mgrd.duty_cycle import Cost, DutyCycle
from srv6mgrd.model.arrivals import Arrivals
from srv6mgrd.model.condition import Condition, ConditionType
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.service import ServiceReport, ServiceState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.service_state.bgp_sessions import PeerName
from srv6mgrd.service_state.evidence import (
    BgpEvidence,
    Evidence,
    KernelEvidence,
    PathEvidence,
    ReturnPath,
    Silence,
)
from srv6mgrd.service_state.finding import FIRST_CONTACT, Finding
from srv6mgrd.service_state.hold import HoldTimes
from srv6mgrd.service_state.judge import Judgement, findings, judge
from srv6mgrd.service_state.members import StateTimes, members, reported, services_of
from srv6mgrd.service_state.scope import Scope
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

PART = "service"
SOURCE = "service"
# The part that measured paths are staged in (``stamp.exchange``).
_PATHS = "path-measurement"
_MEASUREMENT = "srv6mgr-path-measurement:path-measurement"
# A burst of notifications is one look; what no notification comes for is looked at as often.
_SETTLE, _LOOK = 0.1, 1.0
# While a neighbor is silent: what FRR and the counters say of it decides.
_SOON = 0.2
# Seconds from one full check to the next, at most this part of a CPU.
_FULL, _SHARE = 30.0, 0.002

Statuses = Mapping[ObjectRef, ObjectStatus]


class Kernel(Protocol):
    """``kernel.service_evidence.KernelServiceEvidence``."""

    @property
    def is_stale(self) -> bool: ...

    @property
    def descriptors(self) -> Sequence[int]: ...

    def forget(self) -> None: ...

    def hear(self) -> None: ...

    def read(self, desired: Desired) -> KernelEvidence: ...


class Writer(Protocol):
    """``counters.observed.ObservedWriter``."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...

    def staged(self, part: str) -> Mapping[str, Any]: ...


class Alarms(Protocol):
    """``manager.ports.Alarms``."""

    def report(self, source: str, conditions: Iterable[Condition]) -> None: ...


class Outward(Protocol):
    """``redis.thread.InThread``."""

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None: ...


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look begins with. One that holds the same objects needs no other look."""

    desired: Desired
    bgp: BgpEvidence | None
    statuses: Statuses
    paths: Mapping[str, Any]
    lost_return_paths: frozenset[ReturnPath]
    silent_neighbors: Mapping[IPv6Address, Silence]
    arrivals: Arrivals | None

    def is_same(self, other: _Seen | None) -> bool:
        return other is not None and all(
            getattr(self, name) is getattr(other, name) for name in self.__slots__
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """Where evidence comes from. Each is one reference that is replaced as a whole; ``ask_frr`` has
    FRR asked soon, ``doubt_routes`` has it count its routes then, and ``read_next_hops`` say which
    edges remote SIDs are of."""

    desired: Callable[[], Desired]
    statuses: Callable[[], Statuses]
    bgp: Callable[[], BgpEvidence | None]
    peer: PeerName
    ask_frr: Callable[[], None]
    doubt_routes: Callable[[], None]
    lost_return_paths: Callable[[], frozenset[ReturnPath]]
    silent_neighbors: Callable[[], Mapping[IPv6Address, Silence]]
    read_next_hops: Callable[[], None]
    arrivals: Callable[[], Arrivals]


@one_thread()
class ServiceMonitor:
    """Lives in the event loop; it reads, judges and reports in a thread, one look after the
    other."""

    def __init__(
        self,
        sources: Sources,
        kernel: Kernel,
        writer: Writer,
        outward: Outward,
        alarms: Alarms,
        *,
        published: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``published`` is state that the process before has published: services keep theirs until
        they were judged."""
        self._sources = sources
        self._kernel = kernel
        self._writer = writer
        self._outward = outward
        self._alarms = alarms
        self._clock = clock
        self._heard = asyncio.Event()
        self._seen: _Seen | None = None
        self._scope = Scope.of(Desired())
        self._evidence = Evidence()
        self._holds = HoldTimes()
        self._judged: Judgement | None = None
        # VRFs whose routes of BGP the kernel lacks; replaced, never changed.
        self.lacking_routes: frozenset[str] = frozenset()
        # Whether any VRF may lack some: FRR's count can be older than the kernel's.
        self._doubts_routes = False
        self._published = self._taken_over(published or {})
        self._times = StateTimes(self._published)
        self._judging_until = clock() + FIRST_CONTACT
        self._arrivals: Arrivals | None = None
        # When the first of the findings that are held counts, and when all is read again.
        self._due: float | None = None
        self._full_due = 0.0
        self._duty_cycle = DutyCycle(_FULL, quiet=_SHARE, free=_FULL * _SHARE)
        self._cost = Cost()

    def _taken_over(self, published: Mapping[str, Any]) -> Mapping[ObjectRef, ServiceReport]:
        try:
            services = services_of(published)
            reports = reported(services)
        except (KeyError, ValueError, TypeError, AttributeError):
            return {}  # of another release
        if reports:
            self._writer.stage(PART, services)
            self._outward.publish_services(reports)
        return reports

    def wake(self) -> None:
        """Look at once; for the event loop."""
        self._heard.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._wait()
            await self.look()

    async def _wait(self) -> None:
        """Until the kernel reports something, or it is time for a look. What it reports afterwards
        waits in the sockets."""
        loop = asyncio.get_running_loop()
        for descriptor in self._kernel.descriptors:
            loop.add_reader(descriptor, self._heard.set)
        left = _LOOK if self._arrivals is None else _SOON
        if self._due is not None:
            left = max(0.0, min(left, self._due - self._clock()))
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._heard.wait()
        finally:
            for descriptor in self._kernel.descriptors:
                loop.remove_reader(descriptor)
        if self._heard.is_set():
            self._heard.clear()
            await asyncio.sleep(_SETTLE)

    async def look(self) -> None:
        """Once: read what is stale, and judge if anything changed."""
        self._kernel.hear()
        now = self._clock()
        if full := now >= self._full_due:
            self._kernel.forget()
        elif self._kernel.is_stale:
            self._sources.ask_frr()
        silent = self._sources.silent_neighbors()
        seen = _Seen(
            self._sources.desired(),
            self._sources.bgp(),
            self._sources.statuses(),
            self._writer.staged(_PATHS),
            self._sources.lost_return_paths(),
            silent,
            self._arrivals_since(silent),
        )
        if silent:
            self._sources.read_next_hops()
            if self._seen is None or silent is not self._seen.silent_neighbors:
                self._sources.ask_frr()
        due = self._due is not None and now >= self._due
        if not (due or self._kernel.is_stale) and seen.is_same(self._seen):
            return
        try:
            changed = await asyncio.to_thread(self._looked, seen, now)
        except (KernelError, OSError) as error:
            # It stays stale, and is read at the next look.
            _LOG.error("state of services: %s", error)
            return
        if self._doubts_routes:
            self._sources.doubt_routes()
            self._sources.ask_frr()
        if full:
            self._full_due = now + self._duty_cycle.after(self._cost.seconds, quiet=True)
        if changed:
            self._writer.publish()

    def _arrivals_since(self, silent: Mapping[IPv6Address, Silence]) -> Arrivals | None:
        """While neighbors are silent, all since they are: a site may send little."""
        if not silent:
            self._arrivals = None
            return None
        sample, before = self._sources.arrivals(), self._arrivals
        if before is None or before.since < max(one.since for one in silent.values()):
            self._arrivals = sample
        elif sample.until > before.until:
            self._arrivals = Arrivals(before.since, sample.until, before.sids | sample.sids)
        return self._arrivals

    def _looked(self, seen: _Seen, now: float) -> bool:
        """In a thread: judge, and report. Whether there is something to publish. Raises
        KernelError."""
        judged = self._judge(seen, now)
        if judged == self._judged or self._is_begun_only(judged, now):
            return False
        self._report(judged)
        return True

    def _judge(self, seen: _Seen, now: float) -> Judgement:
        with self._cost:
            before, self._seen = self._seen, None
            if before is None or seen.desired is not before.desired:
                self._scope = Scope.of(seen.desired)
            not_installed = self._evidence.not_installed
            if before is None or seen.statuses is not before.statuses:
                not_installed = {
                    ref: status
                    for ref, status in seen.statuses.items()
                    if status.status is not InstallStatus.INSTALLED
                }
            kernel = self._kernel.read(seen.desired)
            evidence = Evidence(
                seen.bgp,
                kernel,
                not_installed,
                _paths(seen.paths),
                seen.lost_return_paths,
                seen.silent_neighbors,
                seen.arrivals,
            )
            held = self._holds.sort(findings(self._scope, evidence, self._sources.peer), now)
            self._due = None if held.due is None else now + held.due
            self._evidence, self._seen = evidence, seen
            self.lacking_routes = _lacking_routes(held.active)
            self._doubts_routes = bool(self.lacking_routes or _lacking_routes(held.waiting))
            return judge(self._scope, evidence, held.active, held.waiting)

    def _is_begun_only(self, judged: Judgement, now: float) -> bool:
        """Whether a service whose state was published is not known yet: a restart is no change."""
        return now < self._judging_until and any(
            verdict.state is ServiceState.UNKNOWN and ObjectRef(Kind.VRF, name) in self._published
            for name, verdict in judged.vrfs.items()
        )

    def _report(self, judged: Judgement) -> None:
        self._judged, self._published = judged, {}
        reports = self._times.reports(judged, time.time_ns())
        self._writer.stage(PART, members(judged, reports))
        self._outward.publish_services(reports)
        self._alarms.report(SOURCE, judged.conditions)


def _lacking_routes(found: Iterable[Finding]) -> frozenset[str]:
    """VRFs whose routes of BGP the kernel lacks."""
    lacking = (f for f in found if f.type is ConditionType.ROUTE_NOT_IN_KERNEL)
    return frozenset(vrf for finding in lacking for vrf in finding.vrfs)


def _paths(staged: Mapping[str, Any]) -> dict[str, PathEvidence]:
    """Of the state that ``stamp.state`` made."""
    listed = staged.get(_MEASUREMENT, {}).get("session", ())
    return {
        one["name"]: PathEvidence(one["state"]["path-state"], one["state"].get("reason", ""))
        for one in listed
    }
