"""The commit coordinator: every commit passes it, whatever northbound it comes through.

It records each commit, rejects those that come while another awaits confirmation
(``datastore.confirmation``), and saves what is kept as the startup configuration. A northbound
begins a commit to be confirmed with the RPC ``commit``, and then makes its edits through sessions
whose originator names the commit (docs/adr/0011).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from srv6mgrd.counters.node import TRANSACTIONS
from srv6mgrd.datastore.awaited import Awaited
from srv6mgrd.datastore.confirmation import Confirmation
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.datastore.history import (
    History,
    Origin,
    Status,
    Transaction,
    listed,
    packed,
)
from srv6mgrd.datastore.recording import Recording, Stored
from srv6mgrd.datastore.startup import Startup
from srv6mgrd.model.sid_changes import is_same
from srv6mgrd.notifications import Notifier, commit_warnings
from srv6mgrd.storage import Problems
from srv6mgrd.threads import one_thread

# Seconds that a commit to be confirmed waits for the end of another commit.
_ON_ITS_WAY = 60.0


class Running(Protocol):
    """The running configuration (``datastore.running.Running``); all block."""

    def read(self) -> str: ...

    def replace(self, tree: str, origin: Origin) -> None: ...

    def is_saved(self) -> bool: ...

    def save(self) -> None: ...


class Node(Protocol):
    """Where transactions are made known (``counters.node.NodeWriter``)."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...


@one_thread(but=("revision", "size", "takes_changes", "warnings", "pending"))
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
        """``warnings`` are for the client that made the last commit; ``save``: what is
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
        self._awaited = Awaited()
        self.confirmation = Confirmation(
            history, running, notifier, awaited=self._awaited, now=now, observer=self
        )
        self._startup = Startup(
            lambda: self._awaited.call(running.is_saved),
            lambda: self._awaited.call(running.save),
            problems or Problems(),
        )
        self._closed = False
        self._recording = Recording(history, now)

    def start(self, tree: str) -> None:
        """Go on where the last process stopped; ``tree`` is the running configuration. Waits for
        the disk, as nobody is served yet."""
        pending = self.confirmation.pending
        if pending is None and (left := self._history.awaiting()):
            # Their commit ended, but the disk was full: what runs says how.
            found = self._history.configuration(max(left)).result()
            kept = found is not None and _is_same(found, tree)
            self._history.mark(left, Status.DONE if kept else Status.ROLLED_BACK)
        self._recording.size = len(tree)
        latest = self._history.latest().result() or "{}"
        if not _is_same(tree, latest):
            # Changed while nobody looked; or the first start.
            awaits = pending is not None and not pending.ended
            self._record(Stored(Origin("startup"), 0, len(tree)), packed(tree), awaits=awaits)
        if self._save and pending is None:
            self._startup.resume()
        self.confirmation.start()
        self._publish()
        self._recording.save()

    async def close(self) -> None:
        """What is pending stays so; the next process goes on. Returns when no thread asks the
        datastore for anything any more, so that it may be closed."""
        self._closed = True
        self.confirmation.close()
        self._recording.close()
        await self._startup.close()
        await self._awaited.close()

    # Commits (called by the participant).

    def admit(self, origin: Origin) -> bool:
        """A commit may begin; whether it is a rollback of ours. ``stored`` or ``ended`` follows.
        Raises PendingError or NonePendingError."""
        is_rollback = self.confirmation.admit(origin)
        self._idle.clear()
        return is_rollback

    def stored(self, stored: Stored, configuration: bytes) -> Future[bool]:
        """It is through; with its ``packed`` configuration. The result comes when the disk has it,
        or takes nothing now."""
        self.confirmation.belongs_to(stored.origin)
        # One that was admitted before its time was over is of the commit that is undone.
        awaits = self.confirmation.pending is not None and not stored.rollback
        number = self._record(stored, configuration, awaits=awaits)
        saving = self._recording.save()
        self._notifier.put(commit_warnings(number, self.warnings))
        self._publish()
        self._idle.set()
        if self.confirmation.pending is None:
            self._save_startup()
        return saving

    def ended(self) -> None:
        """Nothing came of the one that was admitted last."""
        self._idle.set()

    # Called by the RPCs; ``confirmation`` has the rest.

    async def begin(
        self, origin: Origin, timeout: int, tree: str | None = None, commit_id: str = ""
    ) -> None:
        """Begin a commit that is rolled back after ``timeout`` seconds; who has the token of
        ``origin`` may go on with it. With ``tree``, make it the running configuration.
        ``commit_id`` is what everybody may call it; made unless given.

        Raises RejectedError or DatastoreError with all as it was before.
        """
        await self._none_on_its_way()
        await self.confirmation.begin(origin, timeout, commit_id)
        if tree is None:
            return
        try:
            await self._awaited.call(self._running.replace, tree, origin)
        except BaseException:
            await self.confirmation.give_up()
            raise

    async def _none_on_its_way(self) -> None:
        """What to roll back to is not known before."""
        try:
            async with asyncio.timeout(_ON_ITS_WAY):
                while self.confirmation.pending is None and not self._idle.is_set():
                    await self._idle.wait()
        except TimeoutError:
            raise DatastoreError("commit: another one is carried out; try again later") from None

    async def roll_back(
        self, number: int, origin: Origin, timeout: int = 0, commit_id: str = ""
    ) -> None:
        """Make the configuration after a past transaction the running one; with a token it is
        rolled back after ``timeout`` seconds unless confirmed. Raises RejectedError or
        DatastoreError."""
        tree = await self.configuration(number)
        if origin.token:
            await self.begin(origin, timeout, tree, commit_id)
            return
        await self._awaited.call(self._running.replace, tree, origin)

    async def configuration(self, number: int) -> str:
        """The configuration after a past transaction. Raises RejectedError when it is not known."""
        return await self._recording.configuration(number)

    async def now_running(self) -> str:
        """The running configuration."""
        return await self._awaited.call(self._running.read)

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
    def takes_changes(self) -> bool:
        """Whether what a commit changes is enough for the history. Any thread."""
        return self._history.takes_changes

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings for the client that made the last commit. Any thread."""
        return self._warnings()

    async def since(self, revision: str) -> tuple[Sequence[Transaction], str | None, str]:
        """Transactions after a revision, the newest first, its configuration (None: forgotten),
        and the latest one."""
        return await self._recording.since(revision)

    @property
    def pending(self) -> Mapping[str, str]:
        """The commit that awaits confirmation, as the state shows it. Any thread."""
        found: Mapping[str, str] = listed([], self.confirmation.pending, "").get("pending", {})
        return found

    # Called by ``confirmation``.

    def pending_changed(self) -> Future[bool]:
        self._publish()
        return self._recording.save()

    def kept(self) -> None:
        self._save_startup()

    # History.

    def _record(self, stored: Stored, configuration: bytes, *, awaits: bool) -> int:
        status = Status.AWAITING if awaits else Status.DONE
        pending = self.confirmation.pending
        commit_id = pending.id if pending is not None else ""
        return self._recording.record(stored, configuration, status, commit_id)

    def _publish(self) -> None:
        pending, problem = self.confirmation.pending, self.confirmation.problem
        member = listed(self._history.transactions(), pending, problem)
        self._node.show(TRANSACTIONS, member)

    def _save_startup(self) -> None:
        # After that the next start saves it.
        if self._save and not self._closed:
            self._startup.request()


def _is_same(one: str, other: str) -> bool:
    return one == other or is_same(json.loads(one), json.loads(other))
