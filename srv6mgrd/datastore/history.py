"""The last commits, and the one that awaits confirmation: held in memory, and on disk as soon as
can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from srv6mgrd.datastore.history_file import (
    HistoryFile,
    Status,
    Transaction,
    Unsaved,
    packed,
    unpacked,
)
from srv6mgrd.datastore.pending import Origin, Pending
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems

__all__ = ["History", "Origin", "Pending", "Status", "Transaction", "listed", "packed"]

DEFAULT_KEEP = 50

Member = dict[str, Any]


class History:
    """Any thread: memory is under a lock, and a thread of its own reads and writes the files in the
    order of the calls. A full disk ends no commit and no rollback; only what a promise depends on
    is on disk first."""

    def __init__(
        self, path: Path | None, keep: int = DEFAULT_KEEP, problems: Problems | None = None
    ) -> None:
        """Blocks. ``path`` None keeps it in memory. The pending commit is in a file beside it."""
        self._keep = keep
        self._lock = Lock()
        # The newest first.
        self._transactions: list[Transaction] = []
        self._last = 0
        # Configurations that are not on disk yet, and statuses of transactions that are not.
        self._unsaved: dict[int, bytes] = {}
        self._changed: dict[int, Status] = {}
        self._thread = ThreadPoolExecutor(1, "history")
        opened = self._thread.submit(HistoryFile, path, problems or Problems(), self._loaded)
        self._file = opened.result()
        self.of_older_release = self._file.of_older_release
        self._pending = self._thread.submit(lambda: self._file.pending).result()

    def _loaded(self, found: Sequence[Transaction], last: int) -> None:
        with self._lock:
            known = {t.id for t in self._transactions}
            self._transactions += [t for t in found if t.id not in known]
            self._last = max(self._last, last)

    def close(self) -> None:
        """Blocks until the disk has what it takes."""
        self.save()
        self._thread.submit(self._file.close)
        self._thread.shutdown()

    def record(
        self,
        time: int,
        origin: Origin,
        actions: int,
        status: Status,
        configuration: bytes,
        *,
        commit_id: str = "",
    ) -> int:
        """Add a transaction with the ``packed`` configuration after it; returns its number."""
        who = replace(origin, token="")
        with self._lock:
            self._last += 1
            made = Transaction(self._last, time, who, actions, status, commit_id)
            self._unsaved[made.id] = configuration
            self._transactions.insert(0, made)
            for old in self._transactions[self._keep :]:
                self._unsaved.pop(old.id, None)
                self._changed.pop(old.id, None)
            del self._transactions[self._keep :]
        self.save()
        return made.id

    def mark(self, numbers: Iterable[int], status: Status) -> None:
        marked = frozenset(numbers)
        with self._lock:
            self._transactions = [
                replace(t, status=status) if t.id in marked else t for t in self._transactions
            ]
            self._changed.update(dict.fromkeys(marked, status))
        self.save()

    def save(self) -> Future[bool]:
        """Bring to disk what is not there yet; whether all of it is there then."""
        return self._thread.submit(self._save)

    def _save(self) -> bool:
        with self._lock:
            by_number = {t.id: t for t in self._transactions}
            unsaved = Unsaved(
                [(by_number[n], blob) for n, blob in self._unsaved.items() if n in by_number],
                dict(self._changed),
                self._last - self._keep,
            )
        # Both are tried, whatever becomes of the other.
        pending, saved = self._file.save_pending(), self._file.save(unsaved)
        if saved:
            with self._lock:
                # What has changed meanwhile is not on disk.
                for t, blob in unsaved.made:
                    if self._unsaved.get(t.id) is blob:
                        del self._unsaved[t.id]
                for number, status in unsaved.statuses.items():
                    if self._changed.get(number) is status:
                        del self._changed[number]
        return pending and saved

    def convert(self, convert: Callable[[str], str]) -> bool:
        """Replace each configuration by what ``convert`` makes of it; whether any differed.
        Blocks."""
        changed = False
        for t in self.transactions():
            tree = self.configuration(t.id).result()
            if tree is not None and (made := convert(tree)) != tree:
                with self._lock:
                    self._unsaved[t.id], changed = packed(made), True
        if (pending := self.pending) is not None and (
            made := convert(pending.before)
        ) != pending.before:
            self.follow(replace(pending, before=made))
            changed = True
        self.save().result()
        return changed

    def transactions(self) -> list[Transaction]:
        """The newest first."""
        with self._lock:
            return list(self._transactions)

    def configuration(self, number: int) -> Future[str | None]:
        """The configuration after a transaction; None when it is not known (any more)."""
        return self._thread.submit(self._configuration, number)

    def _configuration(self, number: int) -> str | None:
        with self._lock:
            blob = self._unsaved.get(number)
        return self._file.configuration(number) if blob is None else unpacked(blob)

    def latest(self) -> Future[str | None]:
        """The configuration after the last transaction."""
        return self.configuration(next((t.id for t in self.transactions()), 0))

    def awaiting(self) -> list[int]:
        """Transactions that await confirmation."""
        return [t.id for t in self.transactions() if t.status is Status.AWAITING]

    @property
    def pending(self) -> Pending | None:
        """What was given last, or is on disk."""
        return self._pending

    def pend(self, pending: Pending) -> Future[None]:
        """Keep a pending commit, on disk above all. Raises StorageError with nothing changed."""

        def write() -> None:
            self._file.pend(pending)
            self._pending = pending

        return self._thread.submit(write)

    def keep(self) -> Future[None]:
        """The pending commit is confirmed. Raises StorageError with nothing changed: the next
        start would roll it back."""

        def clear() -> None:
            self._file.keep()
            self._pending = None

        return self._thread.submit(clear)

    def follow(self, pending: Pending | None) -> None:
        """The pending commit is this one now, or none; its file follows when it can."""
        self._pending = pending
        self._thread.submit(self._file.follow, pending)


def listed(transactions: Iterable[Transaction], pending: Pending | None, problem: str) -> Member:
    """The container ``transactions`` of srv6mgr-operations."""
    entries = []
    for t in transactions:
        entry = {
            # RFC 7951 section 6.1: 64-bit numbers are strings.
            "id": str(t.id),
            "time": time_text(t.time),
            "origin": t.origin.northbound,
            "user": t.origin.user,
            "source-host": t.origin.address,
            "actions": t.actions,
            "status": t.status.value,
            "commit-id": t.commit_id,
        }
        if t.status is Status.AWAITING and pending is not None:
            entry["deadline"] = time_text(pending.deadline)
        entries.append({name: value for name, value in entry.items() if value != ""})
    made: Member = {"transaction": entries} if entries else {}
    if pending is not None:
        held = {
            "id": pending.id,
            "origin": pending.origin.northbound,
            "user": pending.origin.user,
            "source-host": pending.origin.address,
            "deadline": time_text(pending.deadline),
            "problem": problem,
        }
        made["pending"] = {name: value for name, value in held.items() if value}
    return made
