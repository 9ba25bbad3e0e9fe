"""What srv6mgrd does when: commits, drift, samples. No I/O of its own; the parts are given."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from ipaddress import IPv6Network
from typing import Any, TypeGuard

from srv6mgrd import memory, news
from srv6mgrd.apply import words
from srv6mgrd.apply.reconciler import Reconciler, Report
from srv6mgrd.backoff import Backoff
from srv6mgrd.counters import statuses
from srv6mgrd.counters.accumulator import Accumulator
from srv6mgrd.counters.store import StoreWriter
from srv6mgrd.manager_ports import Herald, Node, Observed, Offering, Outward, Proxies
from srv6mgrd.model import domain
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.needs import MISSING
from srv6mgrd.model.outcomes import INSTALLED, Outcome, carried
from srv6mgrd.model.parse import parse
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.news import News
from srv6mgrd.pace import Cost, Pace
from srv6mgrd.plan.actions import Action, Create, Replace
from srv6mgrd.plan.drift import differences
from srv6mgrd.plan.objects import Object, ProxyEntry, SidRoute
from srv6mgrd.ports import AdapterError, Kernel
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Drift is looked at this long after its first event, so that a burst is one repair.
_SETTLE = 0.02
# What was refused is tried again after these many seconds, doubling.
_BACKOFF_FIRST, _BACKOFF_LAST = 1.0, 60.0
# Repairs that are named in one line of the log.
_LOGGED = 20
_FRR_POLL_PENDING, _FRR_POLL_SETTLED = 0.25, 5.0


@one_thread(but=("reported",))
class Manager:
    """One instance per network namespace; everything runs in the event loop's thread."""

    def __init__(
        self,
        reconciler: Reconciler,
        kernel: Kernel,
        *,
        store: StoreWriter,
        outward: Outward,
        advertised: Callable[[Desired], statuses.Advertised],
        running: Callable[[], Mapping[str, Any]],
        node: Node | None = None,
        herald: Herald | None = None,
        offering: Offering | None = None,
        proxies: Proxies | None = None,
        observed: Observed | None = None,
    ) -> None:
        """``advertised`` asks FRR (in a thread), ``running`` reads the running configuration;
        ``node`` gets the statistics, ``proxies`` the state of service proxies, ``herald`` the
        notifications; ``offering`` is tried out again where something turns out to be missing;
        ``observed`` gets what else is seen of what is declared, that of FRR from ``advertised``."""
        self._reconciler = reconciler
        self._kernel = kernel
        self._store = store
        self._outward = outward
        self._advertised_now = advertised
        self._running = running
        self._node = node
        self._herald = herald
        self._offering = offering
        self._proxies = proxies
        self._observed = observed
        self._advertised: statuses.Advertised = {}
        self._accumulator = Accumulator(store.counters(), store.bases())
        # The last sample, as long as the next one may be compared with it; and whether the store
        # has what it said of all SIDs.
        self._sampled: Mapping[IPv6Network, tuple[int, int, int]] | None = None
        self._stored_all = False
        # Of what did not come to stand; all else is installed.
        self._outcomes: Mapping[ObjectRef, Outcome] = {}
        self._statuses = store.statuses()
        # What was declared when statuses were told last, and for which objects that differs by
        # what FRR or a report says.
        self._published: Desired | None = None
        self._told: frozenset[ObjectRef] = frozenset()
        # A commit that we agreed to, until sysrepo says what became of it.
        self._before: Desired | None = None
        self._staged: Report | None = None
        self._waited = False
        # Why the running configuration is not taken over; empty when it is.
        self._held = ""
        # Whether the next compare looks at everything, and what the last one of those took.
        self._doubted = False
        self._whole_cost = Cost()
        self._wake = asyncio.Event()
        self._ask_frr = asyncio.Event()
        self._retry: asyncio.TimerHandle | None = None
        # What whoever committed last should know of the running configuration.
        self.warnings: tuple[str, ...] = ()
        self._backoff = Backoff(_BACKOFF_FIRST, _BACKOFF_LAST)
        reconciler.before_writing = self._last_counts
        reconciler.after_writing = self._count_anew

    @property
    def reported(self) -> bool:
        """Whether the statuses in the store are this process's own."""
        return self._published is not None

    # Commits (called by the datastore).

    def start(self, *, by_order: bool = False) -> None:
        """Take over the running configuration: what already is right is not written.

        One that can't be read, or is empty although no commit emptied it, changes nothing and is
        read again until a commit comes. ``by_order`` takes an empty one. Raises AdapterError."""
        try:
            desired = parse(self._running())
        except Exception as error:
            # Whatever it is: what can't be understood is no reason to remove anything.
            self._hold(f"it can't be read: {error}")
            return
        if self._reconciler.misses(desired) and not by_order:
            self._hold("it is empty, although there was one ('reconcile' takes it as it is)")
            return
        try:
            report = self._reconciler.repair(desired)
        except RefusedError as refused:
            self._hold(str(refused))
            return
        self._held = ""
        self._reconciler.stored()
        _LOG.info("%d actions to reach the running configuration", len(report.actions))
        for refusal in self._reconciler.rejected:
            _LOG.error("rejected in the running configuration: %s", refusal)
        self._take(report, repaired=report.touched)
        self._warn()

    def _hold(self, reason: str) -> None:
        if reason != self._held:
            _LOG.error("the running configuration is not taken over: %s", reason)
        self._held = reason
        self._retry_later()

    @memory.searched_later()
    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        """Carry out a commit, or a ``rollback``, which may bring back what a start rejected; how
        many actions it took. Raises RefusedError with nothing changed."""
        self._before = self._reconciler.desired
        writes = self._kernel.writes
        try:
            with stages(Stage.COMMIT):
                with stages(Stage.PARSE):
                    desired = parse(tree, self._reconciler.desired)
                self._staged = self._commit(desired, rollback)
        except RefusedError as refused:
            self._count(refused=1)
            self._tell(news.collisions(refused.refusals))
            if self._kernel.writes != writes:
                # It was undone; what could not be is found by a compare.
                self.disturbed()
            raise
        return len(self._staged.actions)

    def _commit(self, desired: Desired, rollback: bool) -> Report:
        try:
            return self._reconciler.commit(desired, rollback=rollback)
        except RefusedError as refused:
            # A module was loaded since, or something is gone that was there.
            if not (_wants(refused.refusals) and self._offers_otherwise()):
                raise
            return self._reconciler.commit(desired, rollback=rollback)

    @memory.searched_later()
    def stored(self) -> None:
        """The commit is through."""
        if self._staged is not None:
            _LOG.info("commit: %d actions", len(self._staged.actions))
            self._held = ""
            self._reconciler.stored()
            self._take(self._staged)
            self._count(commits=1)
            self._warn()
        self._settled()

    def _warn(self) -> None:
        found = domain.warnings(self._reconciler.desired, self._kernel.links().indexes)
        self.warnings = tuple(found)
        for warning in self.warnings:
            _LOG.warning("%s", warning)

    def aborted(self) -> None:
        """Somebody else refused the commit after us: back to what was."""
        if self._held:
            # What stood is not known, so it is left as it is.
            self._hold(self._held)
        elif self._before is not None:
            self._take(self._reconciler.repair(self._before))
            self._reconciler.stored()
        self._settled()

    def _settled(self) -> None:
        """There is no commit on its way any more."""
        self._before = self._staged = None
        if self._waited:
            self._waited = False
            self.disturbed()

    # Drift.

    def disturbed(self) -> None:
        """Something of interest changed in the kernel, or a compare is due."""
        self._wake.set()

    async def keep(self) -> None:
        """Repair whenever disturbed; runs for ever."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(_SETTLE)
            self._wake.clear()
            try:
                self.compare()
            except AdapterError as error:
                _LOG.error("%s", error)
                self._retry_later()
            except OSError as error:
                # EMFILE, ENFILE, ENOMEM, ENOSPC: they pass, and what is installed forwards.
                _LOG.error("compare: %s; it is tried again", error.strerror or error)
                self._retry_later()

    @memory.searched_later()
    def compare(self) -> Report:
        """Compare kernel and FRR with what shall be, and repair. Put off while a commit is on
        its way: what it took away may have to come back. Raises AdapterError."""
        if self._staged is not None:
            self._waited = True
            return Report()
        if self._held:
            self.start()
            return Report()
        cost = Cost()
        with cost:
            report = self._repair()
        if self._doubted:
            self._doubted, self._whole_cost = False, cost
        if _wants(report.refusals) and self._offers_otherwise():
            self.disturbed()
        return report

    def _repair(self) -> Report:
        with stages(Stage.REPAIR):
            report = self._reconciler.repair()
        if report.actions:
            found = differences(report.actions)
            some = [f"{key} ({difference})" for key, difference in sorted(found.items())[:_LOGGED]]
            more = f" and {len(found) - _LOGGED} more" if len(found) > _LOGGED else ""
            _LOG.warning("repaired: %s%s", ", ".join(some), more)
        self._drifted(report)
        self._take(report, repaired=report.touched)
        return report

    def _offers_otherwise(self) -> bool:
        """Try out again what the node offers; whether that differs from before."""
        if self._offering is None or not self._offering.try_out():
            return False
        self._reconciler.capabilities = self._offering.kernel
        return True

    async def try_out_every(self, seconds: float) -> None:
        """Try out what the node offers now and then; runs for ever."""
        while True:
            await asyncio.sleep(seconds)
            try:
                otherwise = self._offers_otherwise()
            except OSError as error:
                _LOG.error("capabilities: %s; they are probed again later", error)
                continue
            if otherwise:
                self.disturbed()

    def _tell(self, told: Iterable[News]) -> None:
        if self._herald is not None:
            self._herald.put(told)

    def _drifted(self, compared: Report) -> None:
        # What failed before is tried again; it did not drift.
        stood = [r for r in compared.touched if self._stands(self._statuses.get(r))]
        back = [r for r in stood if r not in compared.not_installed]
        differing = {ref: compared.differences.get(ref, "") for ref in stood}
        self._tell(news.drift(differing, back))
        if self._node is not None:
            self._node.statistics.drifted(len(stood), len(back), time.time_ns())
            self._node.write()

    def _count(self, *, commits: int = 0, refused: int = 0) -> None:
        if self._node is not None:
            self._node.statistics.commits += commits
            self._node.statistics.refused += refused
            self._node.write()

    @staticmethod
    def _stands(known: ObjectStatus | None) -> bool:
        return known is not None and known.status is InstallStatus.INSTALLED

    def _plan_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if any(o.status is InstallStatus.FAILED for o in self._outcomes.values()):
            self._retry_later()
        else:
            self._backoff.reset()

    def _retry_later(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(self._backoff.delay(), self.disturbed)

    async def compare_every(self, seconds: float) -> None:
        """Compare without an event too, since events can be lost."""
        staged, pace = None, Pace(seconds, quiet=0.002, free=0.2)
        while True:
            await asyncio.sleep(seconds)
            # What the last one took is known by now.
            due = pace.after(self._whole_cost.seconds, quiet=True)
            await asyncio.sleep(due - seconds)
            if self._staged is not None and self._staged is staged:
                _LOG.warning("a commit was left half-way; back to the running configuration")
                self._settled()
                self._held = "a commit was left half-way"
            staged = self._staged
            self._doubt()
            self.disturbed()

    def _doubt(self) -> None:
        self._doubted = True
        self._kernel.doubt()

    async def follow(self, events: AsyncIterator[object]) -> None:
        """Be disturbed by every event of the kernel."""
        async for _ in events:
            self.disturbed()

    # Counters and statuses.
    async def sample_every(self, seconds: float) -> None:
        """Sample counters on a beat, which is slower with many SIDs, and where none counts."""
        beat, pace, cost = time.monotonic(), Pace(seconds, quiet=0.004, free=0.01), Cost()
        while True:
            quiet = False
            try:
                with cost, stages(Stage.SAMPLE):
                    quiet = not self.sample()
            except (AdapterError, OSError) as error:
                _LOG.error("counters: %s", error)
            beat += pace.after(cost.seconds, quiet=quiet)
            beat = max(beat, time.monotonic())
            await asyncio.sleep(beat - time.monotonic())

    def _last_counts(self, actions: Sequence[Action]) -> None:
        """Read what SIDs counted before what counts them is replaced or removed."""
        if any(_counts(a.object) and not isinstance(a, Create) for a in actions):
            self.sample()

    def _count_anew(self, carried_out: Sequence[Action]) -> None:
        """What was just put in place counts from 0. Told at once, before the next sample."""
        self._sampled = None
        self._accumulator.replaced(
            str(obj.prefix)
            for action in carried_out
            if _counts(obj := action.object)
            # A proxy that is changed goes on counting.
            and not (isinstance(obj, ProxyEntry) and isinstance(action, Replace))
        )

    def sample(self) -> bool:
        """Read all counters into totals, store and SONiC tables; whether any moved."""
        sids = self._reconciler.desired.sids
        if self._proxies is not None:
            found = self._kernel.proxies()
            standing = {p: state for p, state in found.items() if p in sids}
            self._proxies.write(standing)
            self._outward.publish_proxies(standing)
        if not sids:
            return False
        counted, now = self._kernel.sid_counters(), time.time_ns()
        if self._sampled is counted:
            self._store.set_counters({}, {}, now)
            return False
        raw = {str(p): c for p, c in counted.items() if p in sids}
        moved = self._accumulator.add(raw, now)
        totals, changed = self._accumulator.totals, self._accumulator.changed
        written = {sid: totals[sid] for sid in changed} if self._stored_all else dict(totals)
        self._store.set_counters(written, moved, now)
        if changed or not self._stored_all:
            self._outward.publish_counters(written)
        self._sampled, self._stored_all = counted, True
        return bool(changed)

    def clear_counters(self, sid: str | None = None) -> None:
        """Readers see a SID, or all, count from 0; Redis and the totals go on."""
        if self._reconciler.desired.sids:
            self.sample()
        prefixes = [str(p) for p in self._reconciler.desired.sids if sid in (None, str(p))]
        self._store.clear_counters(prefixes, time.time_ns())

    def reconcile(self) -> list[Action]:
        """Compare now; what was done. An empty configuration is taken over too."""
        self._doubt()
        if self._held:
            self.start(by_order=True)
        return self.compare().actions

    def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        """What a commit of this configuration would do. Raises RefusedError."""
        found = self._reconciler.dry_run(parse(tree))
        if found.conflicts:
            raise RefusedError([words.of_conflict(c) for c in found.conflicts])
        return found.actions

    async def watch_frr(self) -> None:
        """Learn which SIDs FRR advertises; quickly while something is on its way."""
        # Once more when nothing is left, so that nothing is said of what was there; and at the
        # start, when readers have what the process before said.
        asked = True
        while True:
            desired = self._reconciler.desired
            refs = carried(desired)
            if asked or refs or desired.bgp is not None:
                asked = bool(refs) or desired.bgp is not None
                found = await asyncio.to_thread(self._advertised_now, desired)
                if found != self._advertised and self._staged is None:
                    self._advertised = found
                    stood = [ref for ref in refs if self._stands(self._statuses.get(ref))]
                    self._publish()
                    if not all(self._stands(self._statuses.get(ref)) for ref in stood):
                        # It may be somebody's doing in FRR, of which the kernel reports nothing.
                        self.disturbed()
                if self._observed is not None:
                    self._observed.publish()
            told = (self._statuses.get(ref) for ref in refs)
            waiting = any(s is not None and s.status is InstallStatus.PENDING for s in told)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FRR_POLL_PENDING if waiting else _FRR_POLL_SETTLED):
                    await self._ask_frr.wait()
            self._ask_frr.clear()

    def idle_static_routes(self) -> list[str]:
        """The names of those that FRR has not in place with all their next hops."""
        names = self._reconciler.desired.static_routes
        found = ((n, self._statuses.get(ObjectRef(Kind.STATIC_ROUTE, n))) for n in names)
        return [n for n, s in found if s is not None and (s.reason or not self._stands(s))]

    def _take(self, report: Report, repaired: Iterable[ObjectRef] = ()) -> None:
        """Make a report known."""
        self._outcomes = report.not_installed
        self._ask_frr.set()
        if self._published is not self._reconciler.desired:
            self._accumulator.keep(str(p) for p in self._reconciler.desired.sids)
            # Which SIDs are counted, and where the store has them, may be otherwise now.
            self._sampled, self._stored_all = None, False
        self._publish(frozenset(repaired))
        self._plan_retry()

    def _publish(self, repaired: frozenset[ObjectRef] = frozenset()) -> None:
        with stages(Stage.PUBLISH):
            self._publish_now(repaired)

    def _publish_now(self, repaired: frozenset[ObjectRef]) -> None:
        desired, before, now = self._reconciler.desired, self._statuses, time.time_ns()
        outcomes, details = statuses.with_frr(
            desired, self._outcomes, self._advertised, before, repaired
        )
        kept, came = statuses.kept(before, self._published, desired)
        # All else was installed, and is.
        some = {ref for ref in self._told.union(repaired) if ref in kept}.union(outcomes, came)
        told = {ref: outcomes.get(ref, INSTALLED) for ref in some}
        merged = statuses.merge(before, told, details, repaired, now)
        same = desired is self._published
        self._told, self._published = frozenset(outcomes), desired
        # What goes outward shows more of what is declared than its status.
        if same and all(before[ref] is status for ref, status in merged.items()):
            return
        self._tell(news.status_changes(before, merged))
        self._statuses = {**kept, **merged}
        self._store.set_statuses(self._statuses)
        self._outward.publish(desired, self._statuses)


def _counts(obj: Object) -> TypeGuard[SidRoute | ProxyEntry]:
    """Whether it counts the packets of its SID: the route, but for proxies."""
    return isinstance(obj, ProxyEntry) or (isinstance(obj, SidRoute) and obj.counters)


def _wants(refusals: Iterable[Refusal]) -> bool:
    """Whether something was refused for want of a capability."""
    return any(refusal.tag == MISSING for refusal in refusals)
