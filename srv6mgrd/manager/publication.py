"""Statuses: what reports and FRR say of what is declared, to the store and outward."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from srv6mgrd import notifications
from srv6mgrd.apply.reconciler import Report
from srv6mgrd.counters import statuses
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.manager.ports import Outward
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.outcomes import INSTALLED, Outcome
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.notifications import Notification
from srv6mgrd.progress import state_progress
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread


@one_thread(but=("reported", "known", "is_installed", "is_pending", "idle_static_routes"))
class Publication:
    """Joins the last report with what FRR says, and makes known what differs from before."""

    def __init__(
        self, store: StoreWriter, outward: Outward, notify: Callable[[Iterable[Notification]], None]
    ) -> None:
        self._store = store
        self._outward = outward
        self._notify = notify
        self._advertised: statuses.Advertised = {}
        # Of objects that are not installed; all others are.
        self._outcomes: Mapping[ObjectRef, Outcome] = {}
        # Replaced, never changed: any thread may look into it.
        self._statuses: Mapping[ObjectRef, ObjectStatus] = store.statuses()
        # The declared state when statuses were last reported, and for which objects that differs by
        # what FRR or a report says.
        self._published: Desired | None = None
        self._reported: frozenset[ObjectRef] = frozenset()

    @property
    def reported(self) -> bool:
        """Whether the statuses in the store are this process's own."""
        return self._published is not None

    @property
    def known(self) -> Mapping[ObjectRef, ObjectStatus]:
        """The last ones; nothing changes in what it returns."""
        return self._statuses

    @property
    def has_failed(self) -> bool:
        """Whether an object is not installed that may be at the next try."""
        return any(o.status is InstallStatus.FAILED for o in self._outcomes.values())

    def is_of(self, desired: Desired) -> bool:
        """Whether the last statuses were those of what this declares."""
        return self._published is desired

    def report(self, report: Report, repaired: Iterable[ObjectRef]) -> None:
        """Make a report known, and which objects it put back."""
        self._outcomes = report.not_installed
        self._publish(report.desired, frozenset(repaired))

    def advertise(self, found: statuses.Advertised, refs: Iterable[ObjectRef]) -> bool:
        """Make known what FRR says; whether any of ``refs`` was installed and is no longer."""
        if found == self._advertised:
            return False
        self._advertised = found
        stood = [ref for ref in refs if self.is_installed(ref)]
        if self._published is not None:
            self._publish(self._published)
        return not all(map(self.is_installed, stood))

    def is_installed(self, ref: ObjectRef) -> bool:
        known = self._statuses.get(ref)
        return known is not None and known.status is InstallStatus.INSTALLED

    def is_pending(self, ref: ObjectRef) -> bool:
        known = self._statuses.get(ref)
        return known is not None and known.status is InstallStatus.PENDING

    def idle_static_routes(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that FRR has not in place with all their next hops."""
        refs = [ObjectRef(Kind.STATIC_ROUTE, name) for name in names]
        found = ((ref, self._statuses.get(ref)) for ref in refs)
        return [
            ref.name
            for ref, status in found
            if status is not None and (status.reason or not self.is_installed(ref))
        ]

    def _publish(self, desired: Desired, repaired: frozenset[ObjectRef] = frozenset()) -> None:
        with stages(Stage.PUBLISH):
            self._publish_now(desired, repaired)

    def _publish_now(self, desired: Desired, repaired: frozenset[ObjectRef]) -> None:
        before, now = self._statuses, time.time_ns()
        details: Mapping[ObjectRef, str]
        outcomes, details = statuses.with_frr(
            desired, self._outcomes, self._advertised, before, repaired
        )
        kept, came = statuses.kept(before, self._published, desired)
        # All else was installed, and is.
        some = {ref for ref in self._reported.union(repaired) if ref in kept}.union(outcomes, came)
        reported = ((ref, outcomes.get(ref, INSTALLED)) for ref in state_progress.each(some))
        details = {**came, **details} if details else came
        merged = statuses.merge(before, reported, details, repaired, now)
        same = desired is self._published
        self._reported, self._published = frozenset(outcomes), desired
        # What goes outward shows more of what is declared than its status.
        if same and all(before[ref] is status for ref, status in merged.items()):
            return
        self._notify(state_progress.each(notifications.status_changes(before, merged)))
        self._statuses = {**kept, **merged}
        self._store.set_statuses(self._statuses)
        self._outward.publish(desired, self._statuses)
