"""What the rooms of one thread ask of those of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from itertools import islice
from typing import Protocol

from srv6mgrd.apply.reconciler import Report
from srv6mgrd.in_loop import InLoop
from srv6mgrd.manager.publication import Publication
from srv6mgrd.manager.sampling import Sampling
from srv6mgrd.model.status import ObjectRef
from srv6mgrd.notifications import QUEUE, Notification, Notifier
from srv6mgrd.plan.actions import Action
from srv6mgrd.progress import progress, state_progress


class Loop(Protocol):
    """What belongs to the event loop (``manager.conductor.Manager``)."""

    def request_reconcile(self) -> None: ...

    def retry_later(self) -> None: ...

    def published(self, *, failed: bool) -> None: ...

    def count(self, *, commits: int = 0, rejected: int = 0) -> None: ...

    def drifted(self, objects: int, repaired: int) -> None: ...


class NotifierInLoop:
    """``Notifier``, for any thread. What its queue has no room for is not made: a hundred thousand
    notifications would hold the event loop for 0.1 s."""

    def __init__(self, notifier: Notifier | None, in_loop: InLoop) -> None:
        self._notifier = notifier
        self._in_loop = in_loop

    def put(self, notifications: Iterable[Notification]) -> None:
        if self._notifier is None:
            return
        all_of_them = iter(notifications)
        first = [*islice(all_of_them, QUEUE)]
        self._in_loop.post(self._notifier.put, first, sum(1 for _ in all_of_them))


class FromWriter:
    """``Conductor`` and the hooks of the reconciler, for the writer. Each but the first three
    returns when it is done: who commits finds it so."""

    def __init__(
        self,
        loop: Loop,
        in_loop: InLoop,
        notifier: NotifierInLoop,
        state: Executor,
        rooms: tuple[Sampling, Publication],
    ) -> None:
        """``rooms`` are those of the thread of ``state``."""
        self._loop = loop
        self._in_loop = in_loop
        self._notifier = notifier
        self._state = state
        self._sampling, self._publication = rooms

    def request_reconcile(self) -> None:
        self._in_loop.post(self._loop.request_reconcile)

    def retry_later(self) -> None:
        self._in_loop.post(self._loop.retry_later)

    def notify(self, reported: Iterable[Notification]) -> None:
        self._notifier.put(reported)

    def report(self, report: Report, repaired: Iterable[ObjectRef] = ()) -> None:
        failed = progress.awaits(
            self._state, state_progress, self._publish, report, frozenset(repaired)
        )
        self._in_loop.ask(self._loop.published, failed=failed)
        if report.is_outdated:
            self.request_reconcile()

    def _publish(self, report: Report, repaired: frozenset[ObjectRef]) -> bool:
        if not self._publication.is_of(report.desired):
            self._sampling.declared(report.desired)
        self._publication.report(report, repaired)
        return self._publication.has_failed

    def count(self, *, commits: int = 0, rejected: int = 0) -> None:
        self._in_loop.ask(self._loop.count, commits=commits, rejected=rejected)

    def drifted(self, objects: int, repaired: int) -> None:
        self._in_loop.ask(self._loop.drifted, objects, repaired)

    def before_writing(self, actions: Sequence[Action]) -> None:
        progress.awaits(self._state, state_progress, self._sampling.last_counts, actions)

    def after_writing(self, carried_out: Sequence[Action]) -> None:
        progress.awaits(self._state, state_progress, self._sampling.count_anew, carried_out)
