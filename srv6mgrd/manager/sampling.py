"""Samples: counters of SIDs, proxies and accounting, from the kernel to the store and outward."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv6Network
from typing import Any, TypeGuard

from srv6mgrd.counters.accounting import statistics
from srv6mgrd.counters.accumulator import Accumulator
from srv6mgrd.counters.chains import PART, ChainReport
from srv6mgrd.counters.drops import reasons
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.duty_cycle import Cost
from srv6mgrd.kinds.object import Object
from srv6mgrd.kinds.proxy.object import ProxyEntry
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.manager.ports import Accounting, Drops, Observed, Outward, Proxies
from srv6mgrd.model.accounting import Accounted, Watch
from srv6mgrd.model.arrivals import Arrivals
from srv6mgrd.model.desired import Desired
from srv6mgrd.plan.actions import Action, Create, Replace
from srv6mgrd.ports import Kernel
from srv6mgrd.progress import state_progress
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread


@one_thread(but=("arrivals",))
class Sampling:
    """Counters that never go back, whatever becomes of the routes that count. ``arrivals`` are
    those of the last sample, for any thread: replaced, never changed."""

    def __init__(
        self,
        kernel: Kernel,
        store: StoreWriter,
        outward: Outward,
        desired: Callable[[], Desired],
        *,
        proxies: Proxies | None,
        accounting: Accounting | None,
        drops: Drops | None,
        drop_reasons: Accounting | None,
        observed: Observed | None,
    ) -> None:
        self._kernel = kernel
        self._store = store
        self._outward = outward
        self._proxies = proxies
        self._accounting = accounting
        # As it was last read; None while accounting is not enabled.
        self._accounted: Accounted | None = None
        self._drops, self._drop_reasons = drops, drop_reasons
        self._observed = observed
        # What was staged of chains last was made of these.
        self._chained: object = None
        self._chained_of: Desired | None = None
        self._chain_report: ChainReport | None = None
        self._shown_chains: Mapping[str, Any] = {}
        # What readers have: rows of accounting, and drops; None before the first sample.
        self._shown: dict[str, Any] | None = None
        self._dropped: dict[str, Any] | None = None
        # SIDs whose counters moved since drops were looked at.
        self._moved: set[str] = set()
        self._desired = desired
        self._accumulator = Accumulator(store.counters(), store.bases())
        # The last sample, as long as the next one may be compared with it; and whether the store
        # has what it said of all SIDs.
        self._sampled: Mapping[IPv6Network, tuple[int, int, int]] | None = None
        self._stored_all = False
        # SIDs that are being written: the kernel's counters may be those of the old route or of the
        # new one, until ``count_anew`` says which.
        self._in_doubt: frozenset[IPv6Network] = frozenset()
        now = time.monotonic()
        self.arrivals = Arrivals(now, now)
        # What the last ``beat`` took.
        self.cost = Cost()

    def beat(self) -> bool:
        """``sample``, timed, and why packets were dropped. To load programs for that takes long
        once, and keeps no reader of counters waiting for the next sample."""
        with self.cost, stages(Stage.SAMPLE):
            has_moved = self.sample()
        moved, self._moved = self._moved, set()
        return self._explain_drops(moved) or has_moved

    def sample(self) -> bool:
        """Read all counters into totals, store and SONiC tables; whether any moved."""
        has_accounted = self._account()
        self._sample_chains()
        has_moved = self._sample_sids()
        if has_moved:
            self._moved |= set(self._accumulator.changed)
        if has_accounted:
            self._publish_accounting()
        return has_moved or has_accounted

    def _publish_accounting(self) -> None:
        self._outward.publish_accounting({**(self._shown or {}), "drops": self._dropped or {}})

    def _explain_drops(self, moved: Iterable[str]) -> bool:
        """Learn why packets were dropped; whether there is something new."""
        if self._drops is None or self._drop_reasons is None:
            return False
        desired, has_changed = self._desired(), False
        if desired.accounting.watch_drops is Watch.NEVER:
            self._drops.end()
        else:
            has_changed = self._drops.sample(desired, self._accumulator.totals, moved)
        if self._dropped is None or has_changed:
            # The first time, what an earlier srv6mgrd reported goes.
            self._dropped = reasons(self._drops.found, self._drops.since)
            self._drop_reasons.write(self._dropped or None)
        if has_changed:
            self._publish_accounting()
        return has_changed

    def _account(self) -> bool:
        """Read the rows of accounting; whether any moved."""
        desired = self._desired()
        lists = [one.segments for one in desired.segment_lists.values()]
        found = self._kernel.accounted(lists) if desired.accounting.enabled else None
        if self._accounting is None or found == self._accounted:
            return False
        self._accounted = found
        self._shown = None
        if found is not None:
            self._shown = statistics(
                found,
                desired.segment_lists.values(),
                desired.locators.values(),
                desired.routes.values(),
            )
        self._accounting.write(self._shown)
        return True

    def _sample_chains(self) -> None:
        """Stage what chains counted; the next ``publish`` of the event loop writes it."""
        desired = self._desired()
        if self._observed is None:
            return
        declared = desired.chains.chains or desired.chains.classifiers
        counts = self._kernel.chain_counts() if declared else None
        states = self._kernel.function_states() if declared else {}
        # The state itself is compared by identity: it may hold 100,000 SIDs.
        made_of = counts, states
        if desired is not self._chained_of or made_of != self._chained:
            if counts is None:
                self._chain_report = None
            elif self._chain_report is None or desired is not self._chained_of:
                self._chain_report = ChainReport(desired)
            self._chained_of, self._chained = desired, made_of
            report = self._chain_report
            found = report.chaining(counts, states) if report and counts is not None else {}
            if found != self._shown_chains:
                self._shown_chains = found
                self._observed.stage(PART, found)

    def _sample_sids(self) -> bool:
        sids = self._desired().sids
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
            self._arrived(())
            return False
        doubt = self._in_doubt
        counts = state_progress.each(counted.items())
        raw = {str(p): c for p, c in counts if p in sids and p not in doubt}
        moved = self._accumulator.add(raw, now)
        state_progress.step()
        totals, changed = self._accumulator.totals, self._accumulator.changed
        written = {sid: totals[sid] for sid in changed} if self._stored_all else dict(totals)
        self._store.set_counters(written, moved, now)
        if changed or not self._stored_all:
            self._outward.publish_counters(written)
        self._sampled, self._stored_all = counted, True
        self._arrived(changed)
        return bool(changed)

    def _arrived(self, sids: Iterable[str]) -> None:
        self.arrivals = Arrivals(self.arrivals.until, time.monotonic(), frozenset(sids))

    def last_counts(self, actions: Sequence[Action]) -> None:
        """Read what SIDs counted before what counts them is replaced or removed. ``count_anew``
        follows."""
        written = [(a, a.object) for a in actions]
        if any(_counts(obj) and not isinstance(a, Create) for a, obj in written):
            self.sample()
        self._in_doubt = frozenset(obj.prefix for _, obj in written if _counts(obj))

    def count_anew(self, carried_out: Sequence[Action]) -> None:
        """A newly installed SID counts from 0. Called at once, before the next sample."""
        self._sampled, self._in_doubt = None, frozenset()
        self._accumulator.replaced(
            str(obj.prefix)
            for action in carried_out
            if _counts(obj := action.object)
            # A proxy that is changed goes on counting.
            and not (isinstance(obj, ProxyEntry) and isinstance(action, Replace))
        )

    def declared(self, desired: Desired) -> None:
        """These are the SIDs to count from now on."""
        self._accumulator.keep(str(p) for p in desired.sids)
        # Which SIDs are counted, and where the store has them, may be otherwise now.
        self._sampled, self._stored_all = None, False

    def clear(self, sid: str | None = None) -> None:
        """Readers see a SID, or all, count from 0; Redis and the totals go on."""
        sids = self._desired().sids
        if sids:
            self.sample()
        prefixes = [str(p) for p in sids if sid in (None, str(p))]
        self._store.clear_counters(prefixes, time.time_ns())


def _counts(obj: Object) -> TypeGuard[SidRoute | ProxyEntry]:
    """Whether it counts the packets of its SID: the route, but for proxies."""
    return isinstance(obj, ProxyEntry) or (isinstance(obj, SidRoute) and obj.counters)
