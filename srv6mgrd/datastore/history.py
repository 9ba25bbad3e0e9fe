"""The last commits and the one that awaits confirmation, on disk.

``/var/lib/srv6mgr/history.sqlite``. Configurations are the tree of our modules as RFC 7951 JSON,
compressed. What a rollback needs is on disk before the change that it would undo.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from srv6mgrd.counters.node import time_text

DEFAULT_KEEP = 50

Member = dict[str, Any]

_SCHEMA = """
create table if not exists transactions (
    id integer primary key autoincrement, time integer not null, door text not null,
    user text not null, actions integer not null, status text not null, name text not null,
    configuration blob not null
);
create table if not exists pending (
    one integer primary key check (one = 1), name text not null, door text not null,
    user text not null, deadline integer not null, timeout integer not null,
    before blob not null, ended integer not null
);
"""


class Status(StrEnum):
    """What became of a transaction (srv6mgr-operations, transaction/status)."""

    DONE = "done"
    AWAITING = "awaiting-confirmation"
    ROLLED_BACK = "rolled-back"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who makes a change: the door it comes through, the user there, and the name of the
    confirmed commit that it belongs to (empty: none)."""

    door: str
    user: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A commit that was carried out; ``time`` in nanoseconds since the epoch."""

    id: int
    time: int
    origin: Origin
    actions: int
    status: Status


@dataclass(frozen=True, slots=True)
class Pending:
    """A commit that awaits confirmation until ``deadline`` (nanoseconds since the epoch), which
    is ``timeout`` seconds after it was set.

    ``before`` is the configuration to go back to; ``ended`` says that going back was decided.
    """

    origin: Origin
    deadline: int
    timeout: int
    before: str
    ended: bool = False

    @property
    def name(self) -> str:
        return self.origin.name


class History:
    """Used by one thread."""

    def __init__(self, path: Path | None, keep: int = DEFAULT_KEEP) -> None:
        """``path`` None keeps it in memory. Raises sqlite3.Error."""
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._keep = keep
        self._db = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        # A pending commit survives a power loss: what it would go back to is all that is left.
        self._db.execute("pragma synchronous=full")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        self._db.close()

    def record(self, time: int, origin: Origin, actions: int, status: Status, tree: str) -> int:
        """Add a transaction with the configuration after it; returns its number."""
        row = (time, origin.door, origin.user, actions, status, origin.name, _packed(tree))
        cursor = self._db.execute(
            "insert into transactions (time, door, user, actions, status, name, configuration)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        number = int(cursor.lastrowid or 0)
        self._db.execute("delete from transactions where id <= ?", (number - self._keep,))
        return number

    def transactions(self) -> list[Transaction]:
        """The newest first."""
        rows = self._db.execute(
            "select id, time, door, user, name, actions, status from transactions order by id desc"
        )
        return [
            Transaction(number, time, Origin(door, user, name), actions, Status(status))
            for number, time, door, user, name, actions, status in rows
        ]

    def configuration(self, number: int) -> str | None:
        """The configuration after a transaction; None when it is not known (any more)."""
        found = self._db.execute(
            "select configuration from transactions where id = ?", (number,)
        ).fetchone()
        return None if found is None else _unpacked(found[0])

    def latest(self) -> str | None:
        """The configuration after the last transaction."""
        found = self._db.execute(
            "select configuration from transactions order by id desc limit 1"
        ).fetchone()
        return None if found is None else _unpacked(found[0])

    def mark(self, numbers: Iterable[int], status: Status) -> None:
        self._db.executemany(
            "update transactions set status = ? where id = ?", [(status, n) for n in numbers]
        )

    def awaiting(self) -> list[int]:
        """Transactions that await confirmation."""
        rows = self._db.execute("select id from transactions where status = ?", (Status.AWAITING,))
        return [number for (number,) in rows]

    @property
    def pending(self) -> Pending | None:
        found = self._db.execute(
            "select name, door, user, deadline, timeout, before, ended from pending"
        ).fetchone()
        if found is None:
            return None
        name, door, user, deadline, timeout, before, ended = found
        origin = Origin(door, user, name)
        return Pending(origin, deadline, timeout, _unpacked(before), bool(ended))

    @pending.setter
    def pending(self, pending: Pending | None) -> None:
        if pending is None:
            self._db.execute("delete from pending")
            return
        origin = pending.origin
        self._db.execute(
            "insert or replace into pending values (1, ?, ?, ?, ?, ?, ?, ?)",
            (origin.name, origin.door, origin.user, pending.deadline, pending.timeout,
             _packed(pending.before), pending.ended),
        )  # fmt: skip


def _packed(tree: str) -> bytes:
    return zlib.compress(tree.encode(), 1)


def _unpacked(blob: bytes) -> str:
    return zlib.decompress(blob).decode()


def listed(transactions: Iterable[Transaction], pending: Pending | None, problem: str) -> Member:
    """The container ``transactions`` of srv6mgr-operations."""
    entries = []
    for t in transactions:
        entry = {
            # RFC 7951 section 6.1: 64-bit numbers are strings.
            "id": str(t.id),
            "time": time_text(t.time),
            "origin": t.origin.door,
            "user": t.origin.user,
            "actions": t.actions,
            "status": t.status.value,
            "commit-id": t.origin.name,
        }
        if t.status is Status.AWAITING and pending is not None:
            entry["deadline"] = time_text(pending.deadline)
        entries.append({name: value for name, value in entry.items() if value != ""})
    made: Member = {"transaction": entries} if entries else {}
    if pending is not None:
        held = {
            "id": pending.name,
            "origin": pending.origin.door,
            "user": pending.origin.user,
            "deadline": time_text(pending.deadline),
            "problem": problem,
        }
        made["pending"] = {name: value for name, value in held.items() if value}
    return made
