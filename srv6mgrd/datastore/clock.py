"""The one commit clock: every commit passes it, whatever door it comes through.

It records each commit, refuses those that come while another awaits confirmation, and goes back
when the confirmation does not come: on time, once, also after a restart. A door begins a commit
to be confirmed with the RPC ``commit``, and then makes its edits through sessions whose originator
names the commit (docs/adr/0011).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.connection import (
    AWAITS,
    NONE_AWAITS,
    DatastoreError,
    NonePendingError,
    PendingError,
)
from srv6mgrd.datastore.history import History, Origin, Pending, Status, listed
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.news import News, commit_undone, rollback_failed

_LOG = logging.getLogger(__name__)

# A rollback that is refused is tried again after these many seconds, doubling.
_RETRY_FIRST, _RETRY_LAST = 1.0, 60.0
_OURSELVES = "srv6mgrd"
_NS = 1_000_000_000

T = TypeVar("T")


class Manager(Protocol):
    """Who carries commits out (``manager.Manager``)."""

    def change(self, tree: Mapping[str, Any]) -> int: ...

    def stored(self) -> None: ...

    def aborted(self) -> None: ...


class Running(Protocol):
    """The running configuration (``datastore.running.Running``); all block."""

    def read(self) -> str: ...

    def replace(self, tree: str, origin: Origin) -> None: ...

    def save(self) -> None: ...


class Node(Protocol):
    """Where transactions are made known (``counters.node.NodeWriter``)."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...


class Herald(Protocol):
    """Who is told of news (``datastore.notifications.Notifier``)."""

    def put(self, news: Iterable[News]) -> None: ...


@dataclass(frozen=True, slots=True)
class _Staged:
    """A commit that we agreed to, until sysrepo says what became of it."""

    tree: str
    origin: Origin
    actions: int


class CommitClock:
    """Everything runs in the event loop's thread; what blocks is awaited."""

    def __init__(
        self,
        history: History,
        manager: Manager,
        running: Running,
        node: Node,
        herald: Herald,
        *,
        save: bool = True,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        """``save``: what is committed for good becomes the startup configuration, too."""
        self._history = history
        self._manager = manager
        self._running = running
        self._node = node
        self._herald = herald
        self._save = save
        self._now = now
        self._staged: _Staged | None = None
        # Held in memory as well, and set before it is on disk: nothing slips in meanwhile.
        self._pending = history.pending
        self._timer: asyncio.TimerHandle | None = None
        self._going_back: asyncio.Task[None] | None = None
        self._replacing = asyncio.Lock()
        self._problem = ""
        self._saving: asyncio.Task[None] | None = None
        self._threads: set[asyncio.Future[Any]] = set()
        self._save_again = False

    def start(self, tree: str) -> None:
        """Go on where the last process stopped; ``tree`` is the running configuration."""
        latest = self._history.latest() or "{}"
        if tree != latest and json.loads(tree) != json.loads(latest):
            # Changed while nobody looked; or the first start.
            self._record(tree, Origin("startup"), 0)
        self._arm()
        self._publish()

    async def close(self) -> None:
        """What is pending stays so; the next process goes on. Returns when no thread asks the
        datastore for anything any more, so that it may be closed."""
        for handle in (self._timer, self._going_back, self._saving):
            if handle is not None:
                handle.cancel()
        if self._threads:
            await asyncio.wait(self._threads)

    async def _blocking(self, call: Callable[..., T], *arguments: Any) -> T:
        """``call`` in a thread, which goes on when who waits for it is cancelled."""
        future = asyncio.get_running_loop().run_in_executor(None, call, *arguments)
        self._threads.add(future)
        future.add_done_callback(self._threads.discard)
        return await asyncio.shield(future)

    # Commits (called by the subscription).

    def change(self, tree: str, origin: Origin) -> None:
        """Carry out a commit. Raises RefusedError or PendingError with nothing changed."""
        if self._pending is not None and origin.name != self._pending.name:
            raise PendingError(str(_awaits(self._pending)))
        if origin.name:
            self._named(origin.name)
        if self._pending is not None and self._pending.ended and origin.door != _OURSELVES:
            raise PendingError(str(_awaits(self._pending)))
        self._staged = _Staged(tree, origin, self._manager.change(json.loads(tree)))

    def stored(self) -> None:
        """The commit is through."""
        self._manager.stored()
        staged, self._staged = self._staged, None
        if staged is not None:
            self._belongs_to(staged.origin)
            self._record(staged.tree, staged.origin, staged.actions)
            self._publish()
        if self._pending is None:
            self._save_startup()

    def _belongs_to(self, origin: Origin) -> None:
        # The RPC that began it does not say whose it is; its edits do.
        pending = self._pending
        if pending is not None and origin.door != _OURSELVES and origin != pending.origin:
            self._history.pending = self._pending = replace(pending, origin=origin)

    def aborted(self) -> None:
        """Somebody else refused the commit after us."""
        self._manager.aborted()
        self._staged = None

    # Confirmed commits and rollback (called by the RPCs).

    async def begin(self, origin: Origin, timeout: int, tree: str | None = None) -> None:
        """Begin a commit named ``origin.name`` that is undone after ``timeout`` seconds. With
        ``tree``, make it the running configuration.

        Raises RefusedError or DatastoreError with all as it was before.
        """
        if self._pending is not None:
            raise PendingError(str(_awaits(self._pending)))
        # Nothing else gets in while what to go back to is read.
        self._pending = Pending(origin, self._now() + timeout * _NS, timeout, "")
        try:
            before = await self._blocking(self._running.read)
            self._pend(replace(self._pending, before=before))
        except BaseException:
            self._pending = None
            raise
        if tree is None:
            return
        try:
            await self._blocking(self._running.replace, tree, origin)
        except BaseException:
            self._pend(None)
            raise

    def extend(self, name: str, timeout: int, new_name: str = "") -> None:
        """Undo it ``timeout`` seconds from now; with ``new_name``, it is called so from now on.
        Raises RefusedError or DatastoreError when no such commit awaits confirmation, or when it
        is being undone."""
        pending = self._named(name)
        if pending.ended:
            raise PendingError(str(_awaits(pending)))
        self._pend(
            replace(
                pending,
                origin=replace(pending.origin, name=new_name or name),
                deadline=self._now() + timeout * _NS,
                timeout=timeout,
            )
        )

    def confirm(self, name: str) -> None:
        """Keep it. Raises RefusedError or DatastoreError when no such commit awaits
        confirmation."""
        self._named(name)
        if self._replacing.locked():
            raise RefusedError([_undone(name)])
        if self._going_back is not None:
            self._going_back.cancel()
            self._going_back = None
        self._history.mark(self._history.awaiting(), Status.DONE)
        self._pend(None)
        self._save_startup()

    async def cancel(self, name: str) -> None:
        """Undo it now. Raises what the first try raises; it is tried on, then."""
        self._named(name)
        problem = await self._try_back()
        if problem is not None:
            self._go_back()
            raise problem

    async def roll_back(self, number: int, origin: Origin, timeout: int = 0) -> None:
        """Make the configuration after a past transaction the running one; with ``origin.name``
        it is undone after ``timeout`` seconds unless confirmed. Raises RefusedError or
        DatastoreError."""
        tree = self.configuration(number)
        if origin.name:
            await self.begin(origin, timeout, tree)
            return
        await self._blocking(self._running.replace, tree, origin)

    def configuration(self, number: int) -> str:
        """The configuration after a past transaction. Raises RefusedError when it is not known."""
        tree = self._history.configuration(number)
        if tree is not None:
            return tree
        numbers = [t.id for t in self._history.transactions()]
        known = f"known are {min(numbers)} to {max(numbers)}" if numbers else "there are none"
        what = f"transaction {number}"
        remedy = f"choose another; {known}"
        raise RefusedError(
            [Refusal(what, "its configuration is not known", remedy, "transaction-unknown")]
        )

    async def now_running(self) -> str:
        """The running configuration."""
        return await self._blocking(self._running.read)

    # The clock itself.

    def _pend(self, pending: Pending | None) -> None:
        self._history.pending = pending
        self._pending = pending
        self._problem = ""
        self._arm()
        self._publish()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
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
        wait = _RETRY_FIRST
        while (problem := await self._try_back()) is not None:
            if str(problem) != self._problem:
                self._problem = str(problem)
                self._herald.put([rollback_failed(self._name(), self._problem)])
                self._publish()
            _LOG.error("commit %s can't be undone: %s", self._name(), problem)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _RETRY_LAST)
        self._going_back = None

    async def _try_back(self) -> RefusedError | DatastoreError | None:
        """Make what was before the running configuration; why it can't be done otherwise."""
        async with self._replacing:
            pending = self._pending
            if pending is None:
                return None
            if not pending.ended:
                pending = replace(pending, ended=True)
                self._history.pending = self._pending = pending
            origin = Origin(_OURSELVES, pending.origin.user, pending.name)
            undone = self._history.awaiting()
            try:
                await self._blocking(self._running.replace, pending.before, origin)
            except (RefusedError, DatastoreError) as problem:
                return problem
            self._history.mark(undone, Status.ROLLED_BACK)
            going, self._going_back = self._going_back, None
            self._pend(None)
        _LOG.warning("commit %s was undone", pending.name)
        self._herald.put([commit_undone(pending.name)])
        if going is not None and going is not asyncio.current_task():
            going.cancel()
        return None

    def _name(self) -> str:
        return self._pending.name if self._pending is not None else ""

    def _named(self, name: str) -> Pending:
        if self._pending is None:
            raise NonePendingError(f"commit {name}: {NONE_AWAITS}; it may be undone already")
        if self._pending.name != name:
            raise RefusedError([_unknown(name, self._pending)])
        return self._pending

    # History.

    def _record(self, tree: str, origin: Origin, actions: int) -> None:
        awaited = self._pending is not None and not self._pending.ended
        status = Status.AWAITING if awaited else Status.DONE
        self._history.record(self._now(), origin, actions, status, tree)

    def _publish(self) -> None:
        member = listed(self._history.transactions(), self._pending, self._problem)
        self._node.show(TRANSACTIONS, member)

    def _save_startup(self) -> None:
        if not self._save:
            return
        if self._saving is None:
            self._saving = asyncio.get_running_loop().create_task(self._keep_saving())
        else:
            self._save_again = True

    async def _keep_saving(self) -> None:
        try:
            again = True
            while again:
                self._save_again = False
                await self._blocking(self._running.save)
                again = self._save_again
        except DatastoreError as problem:
            _LOG.error("the startup configuration was not saved: %s", problem)
        finally:
            self._saving = None


def _awaits(pending: Pending) -> Refusal:
    until = datetime.fromtimestamp(pending.deadline // _NS, UTC)
    origin = pending.origin
    who = f" of {origin.user}" if origin.user else ""
    what = "is being undone" if pending.ended else f"{AWAITS} until {until:%H:%M:%S} UTC"
    return Refusal(
        f"commit {pending.name}",
        f"it came through {origin.door}{who} and {what}"
        + (f" ({AWAITS})" if pending.ended else ""),
        "wait for it, confirm it or cancel it",
        "commit-pending",
    )


def _unknown(name: str, pending: Pending) -> Refusal:
    return Refusal(
        f"commit {name}",
        f"it is commit {pending.name} that {AWAITS}",
        "check its id",
        "commit-unknown",
    )


def _undone(name: str) -> Refusal:
    return Refusal(
        f"commit {name}", "it is being undone right now", "commit it again", "commit-unknown"
    )
