"""The history of commits: what is recorded of each, on disk as soon as it can be, and the names of
configurations that come of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from srv6mgrd.backoff import Backoff
from srv6mgrd.datastore.history import History, Origin, Status, Transaction
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.threads import one_thread

# Seconds between tries while the disk takes nothing, doubling.
_RETRY_FIRST, _RETRY_LAST = 1.0, 60.0


@dataclass(frozen=True, slots=True)
class Stored:
    """A commit that is through; ``size`` is that of the configuration in bytes."""

    origin: Origin
    actions: int
    size: int
    rollback: bool = False


@one_thread(but=("revision",))
class Recording:
    """Used by the event loop."""

    def __init__(self, history: History, now: Callable[[], int]) -> None:
        self._history = history
        self._now = now
        # Tries to save again what the disk did not take.
        self._retrying: asyncio.Task[None] | None = None
        self._closed = False
        self._revision = _revision(history.transactions())
        # Bytes of the running configuration. Any thread.
        self.size = 0

    def close(self) -> None:
        self._closed = True
        if self._retrying is not None:
            self._retrying.cancel()

    @property
    def revision(self) -> str:
        """Name of the running configuration; changes with each transaction. Any thread."""
        return self._revision

    def record(
        self, stored: Stored, configuration: bytes, status: Status, commit_id: str = ""
    ) -> int:
        """Number of the transaction; ``save`` says when it is on disk."""
        made = self._history.record(
            self._now(), stored.origin, stored.actions, status, configuration, commit_id=commit_id
        )
        self._revision, self.size = _revision(self._history.transactions()[:1]), stored.size
        return made

    def save(self) -> Future[bool]:
        """Have the history reach the disk, if need be later; whether it has."""
        saving = self._history.save()
        asyncio.wrap_future(saving).add_done_callback(self._saved)
        return saving

    def _saved(self, saving: asyncio.Future[bool]) -> None:
        if not saving.cancelled() and not saving.result() and not self._closed:
            self._retrying = self._retrying or asyncio.create_task(self._keep_saving())

    async def _keep_saving(self) -> None:
        backoff = Backoff(_RETRY_FIRST, _RETRY_LAST)
        await backoff.wait()
        await backoff.until(lambda: asyncio.wrap_future(self._history.save()))
        self._retrying = None

    async def configuration(self, number: int) -> str:
        """The configuration after a past transaction. Raises RejectedError when it is not known."""
        tree = await asyncio.wrap_future(self._history.configuration(number))
        if tree is not None:
            return tree
        numbers = [t.id for t in self._history.transactions()]
        known = f"known are {min(numbers)} to {max(numbers)}" if numbers else "there are none"
        what = f"transaction {number}"
        remedy = f"choose another; {known}"
        raise RejectedError(
            [Rejection(what, "its configuration is not known", remedy, "transaction-unknown")]
        )

    async def since(self, revision: str) -> tuple[Sequence[Transaction], str | None, str]:
        """Transactions after a revision, the newest first, its configuration (None: forgotten),
        and the latest one."""
        number, transactions = int(revision.partition("-")[0] or 0), self._history.transactions()
        latest = self._history.latest()
        known = any(_revision([t]) == revision for t in transactions)
        before = None
        if known:
            before = await asyncio.wrap_future(self._history.configuration(number))
        later = [t for t in transactions if t.id > number]
        return later, before, await asyncio.wrap_future(latest) or "{}"


def _revision(transactions: Sequence[Transaction]) -> str:
    """Numbers alone could begin again with a new history."""
    return f"{transactions[0].id}-{transactions[0].time}" if transactions else "0"
