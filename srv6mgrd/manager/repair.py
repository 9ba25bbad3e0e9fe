"""Repair: what differs from what is declared is put back."""

from __future__ import annotations

import logging
from collections.abc import Callable

from srv6mgrd import memory, notifications
from srv6mgrd.apply.reconciler import Reconciler, Report
from srv6mgrd.duty_cycle import Cost
from srv6mgrd.manager.commits import Commits
from srv6mgrd.manager.ports import Conductor
from srv6mgrd.manager.probing import Probing
from srv6mgrd.model.status import ObjectRef
from srv6mgrd.plan.actions import Action
from srv6mgrd.plan.drift import differences
from srv6mgrd.ports import Kernel
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Repairs that are named in one line of the log.
_LOGGED = 20


@one_thread()
class Repair:
    """Compares kernel and FRR with what is declared."""

    def __init__(
        self,
        reconciler: Reconciler,
        kernel: Kernel,
        commits: Commits,
        probing: Probing,
        *,
        is_installed: Callable[[ObjectRef], bool],
        conductor: Conductor,
    ) -> None:
        self._reconciler = reconciler
        self._kernel = kernel
        self._commits = commits
        self._probing = probing
        self._is_installed = is_installed
        self._conductor = conductor
        # Whether the next compare looks at everything, and what the last one of those took.
        self._full_resync = False
        self.whole_cost = Cost()
        # What the last one took that looked at what had changed.
        self.cost = Cost()

    @memory.searched_later()
    def compare(self) -> Report:
        """Compare, and repair. Put off while a commit is on its way: what it took away may have to
        come back. Raises AdapterError."""
        self.cost = Cost()
        if self._commits.puts_off():
            return Report()
        if self._commits.is_held:
            self._commits.start()
            return Report()
        cost, is_whole = Cost(), self._full_resync
        try:
            with cost:
                report = self._repair()
        finally:
            self.cost = Cost() if is_whole else cost
        if is_whole:
            self._full_resync, self.whole_cost = False, cost
        if self._probing.changed_after(report.rejections):
            self._conductor.request_reconcile()
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
        self._conductor.report(report, report.touched)
        return report

    def _drifted(self, compared: Report) -> None:
        # What failed before is tried again; it did not drift.
        stood = [ref for ref in compared.touched if self._is_installed(ref)]
        back = [ref for ref in stood if ref not in compared.not_installed]
        differing = {ref: compared.differences.get(ref, "") for ref in stood}
        self._conductor.notify(notifications.drift(differing, back))
        self._conductor.drifted(len(stood), len(back))

    def force_full_resync(self) -> None:
        """The next compare reads everything, since events can be lost."""
        self._full_resync = True
        self._kernel.force_full_resync()

    def reconcile(self) -> list[Action]:
        """Compare now; what was done. An empty configuration is taken over too."""
        self.force_full_resync()
        if self._commits.is_held:
            self._commits.start(by_order=True)
        return self.compare().actions
