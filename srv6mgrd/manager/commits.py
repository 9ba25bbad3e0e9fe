"""Commits: carried out before they are stored, or taken back; and the configuration at a start."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srv6mgrd import memory, notifications
from srv6mgrd.apply import error_messages
from srv6mgrd.apply.reconciler import Reconciler, Report
from srv6mgrd.manager.ports import Conductor
from srv6mgrd.manager.probing import Probing
from srv6mgrd.model import chain_mtus, domain, shared_functions
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import parse
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.sid_changes import SidChange, declared_with
from srv6mgrd.plan.actions import Action
from srv6mgrd.ports import Kernel
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)


@one_thread()
class Commits:
    """Called by the datastore: ``change``, then ``stored`` or ``aborted``."""

    def __init__(
        self,
        reconciler: Reconciler,
        kernel: Kernel,
        running: Callable[[], Mapping[str, Any]],
        probing: Probing,
        conductor: Conductor,
    ) -> None:
        """``running`` reads the running configuration."""
        self._reconciler = reconciler
        self._kernel = kernel
        self._running = running
        self._probing = probing
        self._conductor = conductor
        # What the running configuration declares; None: that is not known.
        self._declared: Desired | None = None
        # A commit that we agreed to, until sysrepo says what became of it.
        self._before: Desired | None = None
        self._staged: Report | None = None
        self._declaring: Desired | None = None
        # From the beginning of a commit to its end.
        self.is_under_way = False
        # What was staged at the last ``check_staged``.
        self._seen: Report | None = None
        # Whether a compare was put off for it.
        self._put_off = False
        # Why the running configuration is not taken over; empty when it is.
        self._held = ""
        # Warnings about the running configuration for the client of the last commit.
        self.warnings: tuple[str, ...] = ()
        # Called when nobody reports the outcome of a commit that was accepted.
        self.given_up: Callable[[], None] = _nobody

    @property
    def is_held(self) -> bool:
        """Whether the running configuration is not taken over."""
        return bool(self._held)

    def start(self, *, by_order: bool = False) -> None:
        """Take over the running configuration: what already is right is not written.

        One that can't be read, or is empty although no commit emptied it, changes nothing and is
        read again until a commit comes. ``by_order`` takes an empty one. Raises AdapterError."""
        try:
            desired = parse(self._running())
        except Exception as error:
            # Whatever it is: what can't be understood is no reason to remove anything.
            self._hold_config(f"it can't be read: {error}")
            return
        if self._reconciler.misses(desired) and not by_order:
            self._hold_config("it is empty, although there was one ('reconcile' takes it as it is)")
            return
        try:
            report = self._reconciler.repair(desired)
        except RejectedError as rejected:
            self._hold_config(str(rejected))
            return
        self._held = ""
        self._declared = desired
        self._reconciler.stored()
        _LOG.info("%d actions to reach the running configuration", len(report.actions))
        for rejection in self._reconciler.rejected:
            _LOG.error("rejected in the running configuration: %s", rejection)
        self._conductor.report(report, report.touched)
        self._warn()

    def _hold_config(self, reason: str) -> None:
        if reason != self._held:
            _LOG.error("the running configuration is not taken over: %s", reason)
        self._held, self._declared = reason, None
        self._conductor.retry_later()

    @memory.searched_later()
    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        """Carry out a commit, or a ``rollback``, which may bring back what a start rejected; how
        many actions it took. Raises RejectedError with nothing changed."""
        known = self._declared or self._reconciler.desired
        return self._change(lambda: parse(tree, known), rollback) or 0

    @memory.searched_later()
    def change_sids(self, changes: Sequence[SidChange], *, rollback: bool = False) -> int | None:
        """The same for a commit that changes SIDs alone; None, with nothing done, when
        the changes do not say what is declared then."""
        known = self._declared
        if known is None:
            return None
        return self._change(lambda: declared_with(known, changes), rollback)

    def _change(self, declared: Callable[[], Desired | None], rollback: bool) -> int | None:
        self._before, self.is_under_way = self._reconciler.desired, True
        writes = self._kernel.writes
        try:
            with stages(Stage.COMMIT):
                with stages(Stage.PARSE):
                    self._declaring = declared()
                if self._declaring is None:
                    return None
                self._staged = self._carried_out(self._declaring, rollback)
        except RejectedError as rejected:
            self._conductor.count(rejected=1)
            self._conductor.notify(notifications.collisions(rejected.rejections))
            if self._kernel.writes != writes:
                # It was undone; what could not be is found by a compare.
                self._conductor.request_reconcile()
            raise
        finally:
            self.is_under_way = self._staged is not None
        return len(self._staged.actions)

    def _carried_out(self, desired: Desired, rollback: bool) -> Report:
        try:
            return self._reconciler.commit(desired, rollback=rollback)
        except RejectedError as rejected:
            if not self._probing.changed_after(rejected.rejections):
                raise
            return self._reconciler.commit(desired, rollback=rollback)

    @memory.searched_later()
    def stored(self) -> None:
        """The commit is through."""
        if self._staged is not None:
            _LOG.info("commit: %d actions", len(self._staged.actions))
            self._held, self._declared = "", self._declaring
            self._reconciler.stored()
            self._conductor.report(self._staged)
            self._conductor.count(commits=1)
            self._warn()
        self._settled()

    def _warn(self) -> None:
        desired, links = self._reconciler.desired, self._kernel.links()
        self.warnings = (
            *domain.warnings(desired, links.indexes),
            *chain_mtus.warnings(desired, links.mtus),
            *shared_functions.warnings(desired),
        )
        for warning in self.warnings:
            _LOG.warning("%s", warning)

    def aborted(self) -> None:
        """Somebody else rejected the commit after us: back to what was."""
        if self._held:
            # The state before is not known, so it is left as it is.
            self._hold_config(self._held)
        elif self._before is not None:
            self._conductor.report(self._reconciler.repair(self._before))
            self._reconciler.stored()
        self._settled()

    def puts_off(self) -> bool:
        """Whether a compare has to wait for the end of a commit, which asks for it then."""
        staged = self._staged is not None
        self._put_off = self._put_off or staged
        return staged

    def check_staged(self) -> None:
        """Give a commit up that was on its way when this was called last."""
        if self._staged is not None and self._staged is self._seen:
            _LOG.warning("a commit was left half-way; back to the running configuration")
            self._settled()
            self._held, self._declared = "a commit was left half-way", None
            self.given_up()
        self._seen = self._staged

    def _settled(self) -> None:
        """There is no commit on its way any more."""
        self._before = self._staged = self._declaring = None
        self.is_under_way = False
        if self._put_off:
            self._put_off = False
            self._conductor.request_reconcile()

    def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        """What a commit of this configuration would do. Raises RejectedError."""
        found = self._reconciler.dry_run(parse(tree))
        if found.conflicts:
            raise RejectedError([error_messages.of_conflict(c) for c in found.conflicts])
        return found.actions


def _nobody() -> None:
    pass
