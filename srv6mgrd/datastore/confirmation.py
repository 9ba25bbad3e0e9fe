"""The commit that awaits confirmation: it is confirmed, extended, or rolled back on time, once,
also after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Protocol

from srv6mgrd.backoff import Backoff
from srv6mgrd.datastore.awaited import Awaited
from srv6mgrd.datastore.connection import (
    AWAITS,
    NONE_AWAITS,
    DatastoreError,
    NonePendingError,
    PendingError,
)
from srv6mgrd.datastore.history import History, Origin, Pending, Status
from srv6mgrd.datastore.pending import new_id
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.notifications import Notifier, commit_rolled_back, rollback_failed
from srv6mgrd.storage import StorageError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# A rollback that is rejected is tried again after these many seconds, doubling.
_RETRY_FIRST, _RETRY_LAST = 1.0, 60.0
_OURSELVES = "srv6mgrd"
_NS = 1_000_000_000
_NONE = f"commit: {NONE_AWAITS}; it may be undone already"


class Running(Protocol):
    """The running configuration (``datastore.running.Running``); both block."""

    def read(self) -> str: ...

    def replace(self, tree: str, origin: Origin) -> None: ...


class Observer(Protocol):
    """Learns of changes (``datastore.coordinator.CommitCoordinator``)."""

    def pending_changed(self) -> Future[bool]:
        """There is another pending commit, or none; the result comes when the disk has it."""

    def kept(self) -> None:
        """The pending commit was confirmed."""


@one_thread(but=("pending",))
class Confirmation:
    """Everything runs in the event loop's thread; what blocks is awaited."""

    def __init__(
        self,
        history: History,
        running: Running,
        notifier: Notifier,
        *,
        awaited: Awaited,
        now: Callable[[], int],
        observer: Observer,
    ) -> None:
        self._history = history
        self._running = running
        self._notifier = notifier
        self._awaited = awaited
        self._now = now
        self._observer = observer
        # Held in memory as well, and set before it is on disk: nothing slips in meanwhile.
        self._pending = history.pending
        self._timer: asyncio.TimerHandle | None = None
        self._going_back: asyncio.Task[None] | None = None
        # Held while the outcome of the pending commit goes to the disk, or to sysrepo.
        self._deciding = asyncio.Lock()
        # Why it could not be rolled back last.
        self.problem = ""
        # By which ``admit`` knows a rollback of ours.
        self._own_token = secrets.token_hex(16)

    def start(self) -> None:
        """Its time runs."""
        self._arm()

    def close(self) -> None:
        """What is pending stays so; the next process goes on."""
        for handle in (self._timer, self._going_back):
            if handle is not None:
                handle.cancel()

    @property
    def pending(self) -> Pending | None:
        """Any thread."""
        return self._pending

    # Commits.

    def admit(self, origin: Origin) -> bool:
        """A commit may begin; whether it is a rollback of ours. Raises PendingError or
        NonePendingError."""
        pending = self._pending
        if pending is None:
            if origin.token:
                raise NonePendingError(_NONE)
        elif not self._is_rollback(origin) and (pending.ended or not pending.is_of(origin.token)):
            raise PendingError(str(pending.rejection()))
        return self._is_rollback(origin)

    def belongs_to(self, origin: Origin) -> None:
        """A commit is through that belongs to the pending one, if there is one. The RPC that began
        that does not say whose it is; its edits do."""
        pending = self._pending
        who = replace(origin, token="")
        if pending is not None and not self._is_rollback(origin) and who != pending.origin:
            self._pending = replace(pending, origin=who)
            self._history.follow(self._pending)

    def _is_rollback(self, origin: Origin) -> bool:
        return hmac.compare_digest(origin.token.encode(), self._own_token.encode())

    # Called by the RPCs.

    async def begin(self, origin: Origin, timeout: int, commit_id: str) -> None:
        """The commit of this origin's token is rolled back after ``timeout`` seconds. Raises
        PendingError or DatastoreError with nothing changed."""
        if self._pending is not None:
            raise PendingError(str(self._pending.rejection()))
        # Nothing else gets in while the configuration to roll back to is read.
        deadline = self._now() + timeout * _NS
        self._pending = Pending.of(origin, deadline, timeout, "", commit_id)
        async with self._deciding:
            try:
                before = await self._awaited.call(self._running.read)
                await self._promise(replace(self._pending, before=before))
            except BaseException:
                self._pending = None
                raise

    async def give_up(self) -> None:
        """Nothing came of the one that was begun."""
        self._history.follow(None)
        await self._awaited.result(self._pend(None))

    def check(self, token: str) -> None:
        """Whether this is the token of the commit that awaits confirmation: raises RejectedError or
        DatastoreError when it is not."""
        self._found(token)

    async def extend(
        self, token: str, timeout: int, new_token: str = "", commit_id: str = ""
    ) -> None:
        """Roll it back ``timeout`` seconds from now; with ``new_token``, that is its token from now
        on. Raises RejectedError or DatastoreError when no such commit awaits confirmation, or when
        it is being rolled back."""
        async with self._decided(token, commit_id) as pending:
            if pending.ended or self._going_back is not None:
                raise PendingError(str(pending.rejection()))
            if new_token:
                # The id may have said whose it was: that is over.
                pending = replace(pending.with_token(new_token), id=new_id())
            deadline = self._now() + timeout * _NS
            await self._promise(replace(pending, deadline=deadline, timeout=timeout))

    async def confirm(self, token: str, commit_id: str = "") -> None:
        """Keep it. Raises RejectedError or DatastoreError when no such commit awaits
        confirmation."""
        async with self._decided(token, commit_id) as pending:
            with _recorded():
                await self._awaited.result(self._history.keep())
            if self._pending is not pending:
                # An edit said whose it is while that was written.
                self._history.follow(None)
            if self._going_back is not None:
                self._going_back.cancel()
                self._going_back = None
            self._history.mark(self._history.awaiting(), Status.DONE)
            await self._awaited.result(self._pend(None))
        self._observer.kept()

    @contextlib.asynccontextmanager
    async def _decided(self, token: str, commit_id: str) -> AsyncIterator[Pending]:
        """The pending commit, which is not rolled back meanwhile: its time does not run. Raises
        RejectedError or DatastoreError."""
        pending = self._found(token, commit_id)
        if pending.ended and self._deciding.locked():
            raise RejectedError([_undone(pending)])
        async with self._deciding:
            # It may have been decided while this waited for the disk.
            pending = self._found(token, commit_id)
            self._disarm()
            try:
                yield pending
            finally:
                self._arm()

    async def cancel(self, token: str, commit_id: str = "") -> None:
        """Roll it back now. Raises what the first try raises; it is tried on, then."""
        self._found(token, commit_id)
        problem = await self._try_back()
        if problem is not None:
            self._go_back()
            raise problem

    async def _promise(self, pending: Pending) -> None:
        """From now on this commit is rolled back in time, also after a restart: that is on disk
        first. Raises DatastoreError with nothing changed."""
        with _recorded():
            await self._awaited.result(self._history.pend(pending))
        if self._pending is not None and self._pending.origin != pending.origin:
            # An edit said whose it is while that was written.
            pending = replace(pending, origin=self._pending.origin)
            self._history.follow(pending)
        await self._awaited.result(self._pend(pending))

    def _pend(self, pending: Pending | None) -> Future[bool]:
        """The result comes when the disk has it, or takes nothing now."""
        self._pending = pending
        self.problem = ""
        self._arm()
        return self._observer.pending_changed()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        self._disarm()
        pending = self._pending
        if pending is None or self._going_back is not None:
            return
        # A clock that was set back does not give more time than was asked for.
        left = min((pending.deadline - self._now()) / _NS, pending.timeout)
        if pending.ended or left <= 0:
            self._go_back()
        else:
            self._timer = asyncio.get_running_loop().call_later(left, self._go_back)

    def _go_back(self) -> None:
        if self._going_back is None:
            self._going_back = asyncio.get_running_loop().create_task(self._keep_going_back())

    async def _keep_going_back(self) -> None:
        await Backoff(_RETRY_FIRST, _RETRY_LAST).until(self._is_back)
        # By now another commit may be on its way back.
        if self._going_back is asyncio.current_task():
            self._going_back = None

    async def _is_back(self) -> bool:
        problem = await self._try_back()
        if problem is not None:
            if str(problem) != self.problem:
                self.problem = str(problem)
                self._notifier.put([rollback_failed(self._name(), self.problem)])
                self._observer.pending_changed()
            _LOG.error("commit %s can't be rolled back: %s", self._name(), problem)
        return problem is None

    async def _try_back(self) -> RejectedError | DatastoreError | None:
        """Make what was before the running configuration; why it can't be done otherwise."""
        async with self._deciding:
            pending = self._pending
            if pending is None:
                return None
            if not pending.ended:
                self._pending = pending = replace(pending, ended=True)
                # Decided, whatever becomes of the record of it.
                self._history.follow(pending)
                await self._awaited.result(self._history.save())
            origin = Origin(_OURSELVES, pending.origin.user, self._own_token)
            try:
                await self._awaited.call(self._running.replace, pending.before, origin)
            except (RejectedError, DatastoreError) as problem:
                return problem
            except Exception as error:
                # Whatever it is: who gives up here leaves a commit that was never confirmed.
                _LOG.exception("commit %s can't be rolled back", pending.id)
                return DatastoreError(f"srv6mgrd: internal error: {error!r}; see its log")
            self._history.mark(self._history.awaiting(), Status.ROLLED_BACK)
            self._history.follow(None)
            going, self._going_back = self._going_back, None
            saving = self._pend(None)
        _LOG.warning("commit %s was undone", pending.id)
        self._notifier.put([commit_rolled_back(pending.id)])
        if going is not None and going is not asyncio.current_task():
            going.cancel()
        await self._awaited.result(saving)
        return None

    def _name(self) -> str:
        return self._pending.id if self._pending is not None else ""

    def _found(self, token: str, commit_id: str = "") -> Pending:
        """The pending commit, if this is its token, or its id."""
        pending = self._pending
        if pending is None:
            raise NonePendingError(_NONE)
        if commit_id != pending.id and (commit_id or not pending.is_of(token)):
            raise RejectedError([_unknown(pending)])
        return pending


@contextlib.contextmanager
def _recorded() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise DatastoreError(f"{error}, then try again") from error


def _unknown(pending: Pending) -> Rejection:
    return Rejection(
        "commit", f"it is commit {pending.id} that {AWAITS}", "check its id", "commit-unknown"
    )


def _undone(pending: Pending) -> Rejection:
    return Rejection(
        f"commit {pending.id}", "it is being undone right now", "commit it again", "commit-unknown"
    )
