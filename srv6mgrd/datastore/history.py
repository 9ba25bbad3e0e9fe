"""The last commits, and the one that awaits confirmation: held in memory, and on disk as soon as
can be."""

from __future__ import annotations

import logging
import zlib
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
)
from srv6mgrd.datastore.pending import Origin, Pending
from srv6mgrd.datastore.recorded import is_whole, packed, unpacked_with
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems

_LOG = logging.getLogger(__name__)

__all__ = ["History", "Origin", "Pending", "Status", "Transaction", "listed", "packed"]

DEFAULT_KEEP = 50
# So many transactions in a row are kept as what they change: each is made of those before it.
_CHANGES_IN_A_ROW = 32

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
        # Numbers of transactions of which only the changes are kept.
        self._changes: set[int] = set()
        self._lacks_whole = False
        # Transactions with their configurations that are not on disk yet, and statuses that are
        # not.
        self._unsaved: dict[int, tuple[Transaction, bytes]] = {}
        self._changed: dict[int, Status] = {}
        self._thread = ThreadPoolExecutor(1, "history")
        opened = self._thread.submit(HistoryFile, path, problems or Problems(), self._loaded)
        self._file = opened.result()
        self.of_older_release = self._file.of_older_release
        self._pending = self._thread.submit(lambda: self._file.pending).result()

    def _loaded(self, found: Sequence[Transaction], last: int, changes: Iterable[int]) -> None:
        with self._lock:
            known = {t.id for t in self._transactions}
            # A file that came later may lack what the next changes would be made in.
            self._lacks_whole = bool(known)
            self._transactions += [t for t in found if t.id not in known]
            self._last = max(self._last, last)
            self._changes |= {number for number in changes if number not in known}
            # Those that only others are made of are not listed.
            self._transactions = [t for t in self._transactions if t.id > self._last - self._keep]

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
            self._unsaved[made.id] = made, configuration
            if is_whole(configuration):
                self._lacks_whole = False
            else:
                self._changes.add(made.id)
            self._transactions.insert(0, made)
            for old in self._transactions[self._keep :]:
                self._changed.pop(old.id, None)
            del self._transactions[self._keep :]
            # What later ones are made of is kept with them.
            needed = self._whole_before(self._last - self._keep + 1)
            for number in [n for n in self._unsaved if n < needed]:
                del self._unsaved[number]
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
                [(by_number.get(n, made), blob) for n, (made, blob) in self._unsaved.items()],
                dict(self._changed),
                self._whole_before(self._last - self._keep + 1) - 1,
            )
            self._changes = {number for number in self._changes if number > unsaved.forgotten}
        # Both are tried, whatever becomes of the other.
        pending, saved = self._file.save_pending(), self._file.save(unsaved)
        if saved:
            with self._lock:
                # What has changed meanwhile is not on disk.
                for t, blob in unsaved.made:
                    if t.id in self._unsaved and self._unsaved[t.id][1] is blob:
                        del self._unsaved[t.id]
                for number, status in unsaved.statuses.items():
                    if self._changed.get(number) is status:
                        del self._changed[number]
        return pending and saved

    def _whole_before(self, number: int) -> int:
        """The transaction that this one is made of, itself if it is kept whole."""
        while number in self._changes:
            number -= 1
        return number

    @property
    def takes_changes(self) -> bool:
        """Whether the changes of the next transaction are enough: ``SidChange``."""
        with self._lock:
            last = self._transactions[0].id if self._transactions else 0
            if self._lacks_whole or not last:
                return False
            return last - self._whole_before(last) < _CHANGES_IN_A_ROW

    def convert(self, convert: Callable[[str], str]) -> bool:
        """Replace each configuration by what ``convert`` makes of it; whether any differed.
        Blocks."""
        changed = False
        for t in self.transactions():
            tree = self.configuration(t.id).result()
            if tree is None:
                continue
            made = convert(tree)
            changed = changed or made != tree
            with self._lock:
                if made != tree or t.id in self._changes:
                    self._unsaved[t.id] = t, packed(made)
                    self._changes.discard(t.id)
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
        changes: list[bytes] = []
        whole = self._packed(number)
        while whole is not None and not is_whole(whole):
            changes.append(whole)
            whole = self._packed(number - len(changes))
        if whole is None:
            return None
        try:
            return unpacked_with(whole, changes[::-1])
        except (zlib.error, UnicodeDecodeError, TypeError, ValueError, KeyError) as error:
            _LOG.error("transaction %d: its configuration is damaged (%s)", number, error)
            return None

    def _packed(self, number: int) -> bytes | None:
        with self._lock:
            unsaved = self._unsaved.get(number)
        return self._file.configuration(number) if unsaved is None else unsaved[1]

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
