"""The store of one controller: an SQLite file, and a lock beside it.

Each method is one transaction of SQLite with synchronous=FULL, so what it wrote survives a crash
(sqlite.org/pragma.html#pragma_synchronous). A damaged file is an error: without the record of a
transaction nobody knows what was decided.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from srv6net.store import content
from srv6net.transaction.ports import BusyError, StoreError
from srv6net.transaction.record import Decision, Record, Revision

_VERSION = 2
_SCHEMA = """
CREATE TABLE revision (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE network_transaction (
  sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started REAL NOT NULL,
  proposed TEXT NOT NULL, changes TEXT NOT NULL, touched INTEGER NOT NULL DEFAULT 0,
  decision TEXT, reasons TEXT NOT NULL DEFAULT '[]');
CREATE TABLE settled (id TEXT NOT NULL, router TEXT NOT NULL, PRIMARY KEY (id, router));
"""
# Version 2; a file of version 1 has none of them.
_OVERDUE = "CREATE TABLE overdue (router TEXT PRIMARY KEY, numbers TEXT NOT NULL)"


class SqliteStore:
    """Used by one thread."""

    def __init__(self, path: Path) -> None:
        """Open the file, and create it and its folder where they are missing. Raises StoreError."""
        self._path = path
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Addresses of customers, and the ids that confirm commits: nobody else's business.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5)
            self._db.execute("PRAGMA synchronous = FULL")
            self._create()
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def lead(self) -> Iterator[None]:
        lock = self._path.with_name(f"{self._path.name}.lock")
        try:
            held = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._failed(error) from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise BusyError(
                f"store {self._path}: another srv6net changes the network; wait until it ends"
            ) from None
        try:
            yield
        finally:
            os.close(held)

    def revision(self, number: int | None = None) -> Revision:
        with self._transaction():
            return self._revision(number)

    def history(self) -> Sequence[Revision]:
        with self._transaction():
            rows = self._db.execute("SELECT content FROM revision ORDER BY number DESC")
            return [content.revision(text) for (text,) in rows]

    def last(self) -> Record | None:
        with self._transaction():
            return self._last()

    def begin(self, record: Record) -> None:
        with self._transaction():
            last, current = self._last(), self._revision(None).number
            if last is not None and last.is_open:
                raise BusyError(
                    f"store {self._path}: a transaction is open on routers"
                    f" {', '.join(sorted(last.unsettled))}; resume it first"
                )
            if record.proposed.number != current + 1:
                raise BusyError(
                    f"store {self._path}: revision {current} became current meanwhile; try again"
                )
            self._db.execute(
                "INSERT INTO network_transaction (id, started, proposed, changes)"
                " VALUES (?, ?, ?, ?)",
                (
                    record.id,
                    record.started,
                    content.of_revision(record.proposed),
                    content.of_changes(record.changes),
                ),
            )

    def touch(self, id: str, deferred: Sequence[str] = ()) -> None:
        with self._transaction():
            for router in deferred:
                self._settle(id, router)
            self._db.execute("UPDATE network_transaction SET touched = 1 WHERE id = ?", (id,))

    def decide(
        self, id: str, decision: Decision, reasons: Sequence[str], deferred: Sequence[str] = ()
    ) -> Decision:
        with self._transaction():
            found = self._db.execute(
                "SELECT decision, proposed FROM network_transaction WHERE id = ?", (id,)
            ).fetchone()
            if found is None:
                raise StoreError(f"store {self._path}: there is no transaction {id}; try again")
            if found[0] is not None:
                return Decision(found[0])
            self._db.execute(
                "UPDATE network_transaction SET decision = ?, reasons = ? WHERE id = ?",
                (decision.value, content.pack(list(reasons)), id),
            )
            if decision is Decision.COMMITTED:
                number = content.revision(found[1]).number
                self._db.execute("INSERT INTO revision VALUES (?, ?)", (number, found[1]))
                for router in deferred:
                    self._db.execute(
                        "INSERT OR IGNORE INTO overdue VALUES (?, ?)",
                        (router, content.pack([number - 1])),
                    )
                    self._settle(id, router)
            return decision

    def settle(self, id: str, router: str) -> None:
        with self._transaction():
            self._settle(id, router)

    def overdue(self) -> Mapping[str, Sequence[int]]:
        with self._transaction():
            rows = self._db.execute("SELECT router, numbers FROM overdue")
            return {router: tuple(json.loads(numbers)) for router, numbers in rows}

    def set_overdue(self, router: str, numbers: Sequence[int]) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM overdue WHERE router = ?", (router,))
            if numbers:
                values = (router, content.pack(list(numbers)))
                self._db.execute("INSERT INTO overdue VALUES (?, ?)", values)

    def _settle(self, id: str, router: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO settled VALUES (?, ?)", (id, router))

    def _revision(self, number: int | None) -> Revision:
        where, values = ("WHERE number = ?", (number,)) if number is not None else ("", ())
        row = self._db.execute(
            f"SELECT content FROM revision {where} ORDER BY number DESC LIMIT 1",
            values,
        ).fetchone()
        if row is not None:
            return content.revision(row[0])
        if number:
            raise StoreError(
                f"revision {number}: the store has none of this number; see srv6net status"
            )
        return Revision()

    def _last(self) -> Record | None:
        row = self._db.execute(
            "SELECT id, started, proposed, changes, decision, reasons, touched"
            " FROM network_transaction ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        settled = self._db.execute("SELECT router FROM settled WHERE id = ?", (row[0],))
        return Record(
            row[0],
            row[1],
            content.revision(row[2]),
            content.changes(row[3]),
            Decision(row[4]) if row[4] else None,
            tuple(json.loads(row[5])),
            frozenset(router for (router,) in settled),
            bool(row[6]),
        )

    def _create(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == _VERSION:
                return
            if version == 1:
                self._upgrade()
                return
            if version:
                raise StoreError(
                    f"store {self._path}: it has version {version}; use the srv6net that made it"
                )
            for statement in _SCHEMA.strip().rstrip(";").split(";\n"):
                self._db.execute(statement)
            self._upgrade()

    def _upgrade(self) -> None:
        """From version 1."""
        self._db.execute(_OVERDUE)
        self._db.execute(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; what SQLite rejects becomes a StoreError."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> StoreError:
        return StoreError(
            f"store {self._path}: {error}; nothing was written; repair or restore the file"
        )
