"""The one commit clock: every commit passes it, whatever door it comes through.

It records each commit, refuses those that come while another awaits confirmation, and goes back
when the confirmation does not come: on time, once, also after a restart. A door begins a commit
to be confirmed with the RPC ``commit``, and then makes its edits through sessions whose originator
names the commit (docs/adr/0011).
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from srv6mgrd.backoff import Backoff
from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.connection import (
    AWAITS,
    NONE_AWAITS,
    DatastoreError,
    NonePendingError,
    PendingError,
)
from srv6mgrd.datastore.history import (
    History,
    Origin,
    Pending,
    Status,
    Transaction,
    listed,
    packed,
)
from srv6mgrd.datastore.pending import new_id
from srv6mgrd.datastore.recording import Recording, Stored
from srv6mgrd.datastore.startup import Startup
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.notifications import (
    Notification,
    commit_rolled_back,
    commit_warnings,
    rollback_failed,
)
from srv6mgrd.storage import Problems, StorageError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# A rollback that is refused is tried again after these many seconds, doubling.
_RETRY_FIRST, _RETRY_LAST = 1.0, 60.0
# Seconds that a commit to be confirmed waits for the end of another commit.
_ON_ITS_WAY = 60.0
_OURSELVES = "srv6mgrd"
_NS = 1_000_000_000
_NONE = f"commit: {NONE_AWAITS}; it may be undone already"

T = TypeVar("T")


class Running(Protocol):
    """The running configuration (``datastore.running.Running``); all block."""

    def read(self) -> str: ...

    def replace(self, tree: str, origin: Origin) -> None: ...

    def is_saved(self) -> bool: ...

    def save(self) -> None: ...


class Node(Protocol):
    """Where transactions are made known (``counters.node.NodeWriter``)."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...


class Notifier(Protocol):
    """Who is told of news (``datastore.notifications.Notifier``)."""

    def put(self, notifications: Iterable[Notification]) -> None: ...


@one_thread(but=("revision", "size", "warnings", "pending"))
class CommitCoordinator:
    """Everything runs in the event loop's thread; what blocks is awaited. Commits are carried out
    in that of the writer (``participant``), which asks and reports here."""

    def __init__(
        self,
        history: History,
        running: Running,
        node: Node,
        notifier: Notifier,
        *,
        warnings: Callable[[], Sequence[str]] = tuple,
        save: bool = True,
        now: Callable[[], int] = time.time_ns,
        problems: Problems | None = None,
    ) -> None:
        """``warnings`` has what whoever made the last commit should know; ``save``: what is
        committed for good becomes the startup configuration, too."""
        self._history = history
        self._warnings = warnings
        self._running = running
        self._node = node
        self._notifier = notifier
        self._save = save
        self._now = now
        # Set while no commit is on its way.
        self._idle = asyncio.Event()
        self._idle.set()
        # Held in memory as well, and set before it is on disk: nothing slips in meanwhile.
        self._pending = history.pending
        self._timer: asyncio.TimerHandle | None = None
        self._going_back: asyncio.Task[None] | None = None
        # Held while the disk, or sysrepo, is told what becomes of the pending commit.
        self._deciding = asyncio.Lock()
        self._problem = ""
        self._startup = Startup(
            lambda: self._blocking(running.is_saved),
            lambda: self._blocking(running.save),
            problems or Problems(),
        )
        # By which ``change`` knows a rollback of ours.
        self._own_token = secrets.token_hex(16)
        self._closed = False
        self._threads: set[asyncio.Future[Any]] = set()
        self._recording = Recording(history, now)

    def start(self, tree: str) -> None:
        """Go on where the last process stopped; ``tree`` is the running configuration. Waits for
        the disk, as nobody is served yet."""
        if self._pending is None and (left := self._history.awaiting()):
            # Their commit ended, but the disk was full: what runs says how.
            kept = self._history.configuration(max(left)).result() == tree
            self._history.mark(left, Status.DONE if kept else Status.ROLLED_BACK)
        self._recording.size = len(tree)
        latest = self._history.latest().result() or "{}"
        if tree != latest and json.loads(tree) != json.loads(latest):
            # Changed while nobody looked; or the first start.
            awaits = self._pending is not None and not self._pending.ended
            self._record(Stored(Origin("startup"), 0, len(tree)), packed(tree), awaits=awaits)
        if self._save and self._pending is None:
            self._startup.resume()
        self._arm()
        self._publish()
        self._recording.save()

    async def close(self) -> None:
        """What is pending stays so; the next process goes on. Returns when no thread asks the
        datastore for anything any more, so that it may be closed."""
        self._closed = True
        for handle in (self._timer, self._going_back):
            if handle is not None:
                handle.cancel()
        self._recording.close()
        await self._startup.close()
        if self._threads:
            await asyncio.wait(self._threads)

    async def _blocking(self, call: Callable[..., T], *arguments: Any) -> T:
        """``call`` in a thread."""
        return await self._finished(
            asyncio.get_running_loop().run_in_executor(None, call, *arguments)
        )

    async def _written(self, writing: Future[T]) -> T:
        """What the history's thread does."""
        return await self._finished(asyncio.wrap_future(writing))

    async def _finished(self, future: asyncio.Future[T]) -> T:
        """What a thread does, which goes on when who waits for it is cancelled."""
        self._threads.add(future)
        future.add_done_callback(self._threads.discard)
        return await asyncio.shield(future)

    # Commits (asked and told by the participant).

    def admit(self, origin: Origin) -> bool:
        """A commit may begin; whether it is a rollback of ours. ``stored`` or ``ended`` follows.
        Raises PendingError or NonePendingError."""
        pending = self._pending
        if pending is None:
            if origin.token:
                raise NonePendingError(_NONE)
        elif not self._is_rollback(origin) and (pending.ended or not pending.is_of(origin.token)):
            raise PendingError(str(pending.rejection()))
        self._idle.clear()
        return self._is_rollback(origin)

    def stored(self, stored: Stored, configuration: bytes) -> Future[bool]:
        """It is through; with its ``packed`` configuration. The result comes when the disk has it,
        or takes nothing now."""
        self._belongs_to(stored.origin)
        # One that was admitted before its time was over is of the commit that is undone.
        awaits = self._pending is not None and not stored.rollback
        number = self._record(stored, configuration, awaits=awaits)
        saving = self._recording.save()
        self._notifier.put(commit_warnings(number, self.warnings))
        self._publish()
        self._idle.set()
        if self._pending is None:
            self._save_startup()
        return saving

    def ended(self) -> None:
        """Nothing came of the one that was admitted last."""
        self._idle.set()

    def _belongs_to(self, origin: Origin) -> None:
        # The RPC that began it does not say whose it is; its edits do.
        pending = self._pending
        who = replace(origin, token="")
        if pending is not None and not self._is_rollback(origin) and who != pending.origin:
            self._pending = replace(pending, origin=who)
            self._history.follow(self._pending)

    def _is_rollback(self, origin: Origin) -> bool:
        return hmac.compare_digest(origin.token.encode(), self._own_token.encode())

    # Confirmed commits and rollback (called by the RPCs).

    async def begin(
        self, origin: Origin, timeout: int, tree: str | None = None, commit_id: str = ""
    ) -> None:
        """Begin a commit that is rolled back after ``timeout`` seconds; who has the token of
        ``origin`` may go on with it. With ``tree``, make it the running configuration.
        ``commit_id`` is what everybody may call it; made unless given.

        Raises RefusedError or DatastoreError with all as it was before.
        """
        await self._none_on_its_way()
        if self._pending is not None:
            raise PendingError(str(self._pending.rejection()))
        # Nothing else gets in while the configuration to roll back to is read.
        deadline = self._now() + timeout * _NS
        self._pending = Pending.of(origin, deadline, timeout, "", commit_id)
        async with self._deciding:
            try:
                before = await self._blocking(self._running.read)
                await self._promise(replace(self._pending, before=before))
            except BaseException:
                self._pending = None
                raise
        if tree is None:
            return
        try:
            await self._blocking(self._running.replace, tree, origin)
        except BaseException:
            self._history.follow(None)
            await self._written(self._pend(None))
            raise

    async def _none_on_its_way(self) -> None:
        """What to roll back to is not known before."""
        try:
            async with asyncio.timeout(_ON_ITS_WAY):
                while self._pending is None and not self._idle.is_set():
                    await self._idle.wait()
        except TimeoutError:
            raise DatastoreError("commit: another one is carried out; try again later") from None

    def check(self, token: str) -> None:
        """Whether this is the token of the commit that awaits confirmation: raises RefusedError or
        DatastoreError when it is not."""
        self._found(token)

    async def extend(
        self, token: str, timeout: int, new_token: str = "", commit_id: str = ""
    ) -> None:
        """Roll it back ``timeout`` seconds from now; with ``new_token``, that is its token from now
        on. Raises RefusedError or DatastoreError when no such commit awaits confirmation, or when
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
                await self._written(self._history.keep())
            if self._pending is not pending:
                # An edit said whose it is while that was written.
                self._history.follow(None)
            if self._going_back is not None:
                self._going_back.cancel()
                self._going_back = None
            self._history.mark(self._history.awaiting(), Status.DONE)
            await self._written(self._pend(None))
        self._save_startup()

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

    async def roll_back(
        self, number: int, origin: Origin, timeout: int = 0, commit_id: str = ""
    ) -> None:
        """Make the configuration after a past transaction the running one; with a token it is
        rolled back after ``timeout`` seconds unless confirmed. Raises RefusedError or
        DatastoreError."""
        tree = await self.configuration(number)
        if origin.token:
            await self.begin(origin, timeout, tree, commit_id)
            return
        await self._blocking(self._running.replace, tree, origin)

    async def configuration(self, number: int) -> str:
        """The configuration after a past transaction. Raises RejectedError when it is not known."""
        return await self._recording.configuration(number)

    async def now_running(self) -> str:
        """The running configuration."""
        return await self._blocking(self._running.read)

    # Revisions (asked by the commit socket).

    @property
    def revision(self) -> str:
        """Name of the running configuration; changes with each transaction. Any thread."""
        return self._recording.revision

    @property
    def size(self) -> int:
        """Bytes of the running configuration. Any thread."""
        return self._recording.size

    @property
    def warnings(self) -> Sequence[str]:
        """What whoever made the last commit should know. Any thread."""
        return self._warnings()

    async def since(self, revision: str) -> tuple[Sequence[Transaction], str | None, str]:
        """Transactions after a revision, the newest first, its configuration (None: forgotten),
        and the latest one."""
        return await self._recording.since(revision)

    @property
    def pending(self) -> Mapping[str, str]:
        """The commit that awaits confirmation, as the state shows it. Any thread."""
        found: Mapping[str, str] = listed([], self._pending, "").get("pending", {})
        return found

    # The clock itself.

    async def _promise(self, pending: Pending) -> None:
        """From now on this commit is rolled back in time, also after a restart: that is on disk
        first. Raises DatastoreError with nothing changed."""
        with _recorded():
            await self._written(self._history.pend(pending))
        if self._pending is not None and self._pending.origin != pending.origin:
            # An edit said whose it is while that was written.
            pending = replace(pending, origin=self._pending.origin)
            self._history.follow(pending)
        await self._written(self._pend(pending))

    def _pend(self, pending: Pending | None) -> Future[bool]:
        """The result comes when the disk has it, or takes nothing now."""
        self._pending = pending
        self._problem = ""
        self._arm()
        self._publish()
        return self._recording.save()

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
        backoff = Backoff(_RETRY_FIRST, _RETRY_LAST)
        while (problem := await self._try_back()) is not None:
            if str(problem) != self._problem:
                self._problem = str(problem)
                self._notifier.put([rollback_failed(self._name(), self._problem)])
                self._publish()
            _LOG.error("commit %s can't be undone: %s", self._name(), problem)
            await backoff.wait()
        self._going_back = None

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
                await self._written(self._recording.save())
            origin = Origin(_OURSELVES, pending.origin.user, self._own_token)
            try:
                await self._blocking(self._running.replace, pending.before, origin)
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
        await self._written(saving)
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

    # History.

    def _record(self, stored: Stored, configuration: bytes, *, awaits: bool) -> int:
        status = Status.AWAITING if awaits else Status.DONE
        commit_id = self._pending.id if self._pending is not None else ""
        return self._recording.record(stored, configuration, status, commit_id)

    def _publish(self) -> None:
        member = listed(self._history.transactions(), self._pending, self._problem)
        self._node.show(TRANSACTIONS, member)

    def _save_startup(self) -> None:
        # After that the next start saves it.
        if self._save and not self._closed:
            self._startup.request()


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
