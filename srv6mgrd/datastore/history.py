"""The last commits, on disk.

``/var/lib/srv6mgr/history.sqlite``. Configurations are the tree of our modules as RFC 7951 JSON,
compressed. The commit that awaits confirmation is in a file beside it (``datastore.pending``).
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from srv6mgrd.database import Database
from srv6mgrd.datastore.pending import Origin, Pending, PendingFile
from srv6mgrd.model.times import time_text
from srv6mgrd.storage import Problems, StorageError
from srv6mgrd.threads import one_thread

__all__ = ["History", "Origin", "Pending", "Status", "Transaction", "listed"]

DEFAULT_KEEP = 50

_LOG = logging.getLogger(__name__)

Member = dict[str, Any]

_SCHEMA = """
create table if not exists transactions (
    id integer primary key autoincrement, time integer not null, door text not null,
    user text not null, address text not null default '',
    actions integer not null,
    status text not null, name text not null, configuration blob not null
)
"""


_COLUMNS = "pragma table_info(transactions)"


class Status(StrEnum):
    """What became of a transaction (srv6mgr-operations, transaction/status)."""

    DONE = "done"
    AWAITING = "awaiting-confirmation"
    ROLLED_BACK = "rolled-back"


@dataclass(frozen=True, slots=True)
class Transaction:
    """A commit that was carried out; ``time`` in nanoseconds since the epoch."""

    id: int
    time: int
    origin: Origin
    actions: int
    status: Status
    # That of the confirmed commit which it belonged to; empty: none.
    commit_id: str = ""


@one_thread()
class History:
    """Used by one thread. What it holds is held in memory and follows to disk when it can: a full
    disk ends no commit and no rollback. Only what a promise depends on is on disk first."""

    def __init__(
        self, path: Path | None, keep: int = DEFAULT_KEEP, problems: Problems | None = None
    ) -> None:
        """``path`` None keeps it in memory. The pending commit is in a file beside it."""
        self._keep = keep
        # The newest first.
        self._transactions: list[Transaction] = []
        self._last = 0
        # Configurations that are not on disk yet, and what else of transactions is not.
        self._unsaved: dict[int, bytes] = {}
        self._changed: set[int] = set()
        problems = problems or Problems()
        self._database = Database(path, self._load, problems)
        self._pending = PendingFile(path and path.with_name("pending.json"), problems)
        # Whether a release before the first that has revisions of its own (upgrade) wrote it last.
        self.of_older_release = False
        self._take_over()

    def _load(self, db: sqlite3.Connection) -> None:
        db.execute("pragma journal_mode=wal")
        db.execute("pragma synchronous=full")
        db.execute(_SCHEMA)
        rows = db.execute(
            f"select id, time, door, user, {_address(db)}, name, actions, status from transactions"
            " order by id desc"
        )
        found = [
            Transaction(
                number,
                time,
                Origin(northbound, user, address=address),
                actions,
                Status(status),
                commit_id,
            )
            for number, time, northbound, user, address, commit_id, actions, status in rows
        ]
        known = {t.id for t in self._transactions}
        self._transactions += [t for t in found if t.id not in known]
        (last,) = db.execute("select coalesce(max(seq), 0) from sqlite_sequence").fetchone()
        self._last = max(self._last, last, *(t.id for t in found), 0)

    def _take_over(self) -> None:
        """What an older version wrote: tokens where the ids are now, the pending commit in a table
        of its own."""
        if self._database.read("pragma user_version") != [(0,)]:
            return
        self.of_older_release = bool(self._transactions)
        old = "select 1 from sqlite_master where name = 'pending'"
        columns = "name, door, user, deadline, timeout, before, ended"
        rows = self._database.read(old) and self._database.read(f"select {columns} from pending")
        for name, northbound, user, deadline, timeout, before, ended in rows:
            if self.pending is None:
                origin = Origin(str(northbound), str(user), str(name))
                made = Pending.of(origin, int(deadline), int(timeout), _unpacked(before))
                self.follow(replace(made, ended=bool(ended)))
        with contextlib.suppress(StorageError), self._database.transaction() as db:
            db.execute("drop table if exists pending")
            db.execute("update transactions set name = ''")
            db.execute("pragma user_version = 1")
            self._transactions = [replace(t, commit_id="") for t in self._transactions]

    def close(self) -> None:
        self.save()
        self._database.close()

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
        self._last += 1
        self._unsaved[self._last] = configuration
        who = replace(origin, token="")
        self._transactions.insert(0, Transaction(self._last, time, who, actions, status, commit_id))
        for old in self._transactions[self._keep :]:
            self._unsaved.pop(old.id, None)
            self._changed.discard(old.id)
        del self._transactions[self._keep :]
        self.save()
        return self._last

    def mark(self, numbers: Iterable[int], status: Status) -> None:
        marked = frozenset(numbers)
        self._transactions = [
            replace(t, status=status) if t.id in marked else t for t in self._transactions
        ]
        self._changed |= marked
        self.save()

    def save(self) -> bool:
        """Bring to disk what is not there yet; whether all of it is there now."""
        pending = self._pending.save()
        if not (self._unsaved or self._changed):
            return pending
        by_number = {t.id: t for t in self._transactions}
        new = [
            (
                t.id,
                t.time,
                t.origin.northbound,
                t.origin.user,
                t.origin.address,
                t.actions,
                t.status,
                t.commit_id,
                blob,
            )
            for number, blob in self._unsaved.items()
            if (t := by_number.get(number)) is not None
        ]
        marked = [(by_number[n].status, n) for n in self._changed if n in by_number]
        try:
            with self._database.transaction() as db:
                db.executemany(
                    "insert or replace into transactions"
                    " (id, time, door, user, address, actions, status, name, configuration)"
                    " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    new,
                )
                db.executemany("update transactions set status = ? where id = ?", marked)
                db.execute("delete from transactions where id <= ?", (self._last - self._keep,))
        except StorageError:
            return False
        self._unsaved.clear()
        self._changed.clear()
        return pending

    def convert(self, convert: Callable[[str], str]) -> bool:
        """Replace each configuration by what ``convert`` makes of it; whether any differed."""
        changed = False
        for t in self._transactions:
            if (tree := self.configuration(t.id)) is not None and (made := convert(tree)) != tree:
                self._unsaved[t.id], changed = packed(made), True
        if (pending := self.pending) is not None and (
            made := convert(pending.before)
        ) != pending.before:
            self.follow(replace(pending, before=made))
            changed = True
        self.save()
        return changed

    def transactions(self) -> list[Transaction]:
        """The newest first."""
        return list(self._transactions)

    def configuration(self, number: int) -> str | None:
        """The configuration after a transaction; None when it is not known (any more)."""
        if (blob := self._unsaved.get(number)) is not None:
            return _unpacked(blob)
        found = self._database.read("select configuration from transactions where id = ?", number)
        try:
            return _unpacked(found[0][0]) if found else None
        except (zlib.error, UnicodeDecodeError, TypeError) as error:
            _LOG.error("transaction %d: its configuration is damaged (%s)", number, error)
            return None

    def latest(self) -> str | None:
        """The configuration after the last transaction."""
        return self.configuration(self._transactions[0].id) if self._transactions else None

    def awaiting(self) -> list[int]:
        """Transactions that await confirmation."""
        return [t.id for t in self._transactions if t.status is Status.AWAITING]

    @property
    def pending(self) -> Pending | None:
        return self._pending.value

    def pend(self, pending: Pending) -> None:
        """Keep a pending commit, on disk above all. Raises StorageError with nothing changed."""
        self._pending.write(pending)

    def keep(self) -> None:
        """The pending commit is confirmed. Raises StorageError with nothing changed: the next
        start would roll it back."""
        self._pending.clear()

    def follow(self, pending: Pending | None) -> None:
        """The pending commit is this one now, or none; its file follows when it can."""
        self._pending.set(pending)


def _address(db: sqlite3.Connection) -> str:
    """The column, which an older release did not write; an empty text where it can't be added."""
    if any(name == "address" for _, name, *_ in db.execute(_COLUMNS)):
        return "address"
    try:
        db.execute("alter table transactions add column address text not null default ''")
    except sqlite3.OperationalError:
        return "''"
    return "address"


def packed(tree: str) -> bytes:
    """A configuration as the history keeps it."""
    return zlib.compress(tree.encode(), 1)


def _unpacked(blob: Any) -> str:
    return zlib.decompress(blob).decode()


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
