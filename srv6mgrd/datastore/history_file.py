"""What the history has on disk: ``/var/lib/srv6mgr/history.sqlite``, and the commit that awaits
confirmation in a file beside it (``datastore.pending``)."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from srv6mgrd.database import Database
from srv6mgrd.datastore.pending import Origin, Pending, PendingFile
from srv6mgrd.datastore.recorded import is_whole, unpacked
from srv6mgrd.stages import Stage, stages
from srv6mgrd.storage import Problems, StorageError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

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


@dataclass(frozen=True, slots=True)
class Unsaved:
    """What the disk does not have yet: transactions with their packed configurations, and statuses
    by number. Transactions up to number ``forgotten`` are deleted."""

    made: Sequence[tuple[Transaction, bytes]]
    statuses: Mapping[int, Status]
    forgotten: int


# Gets the transactions in a file, the newest first, the highest number ever used there, and the
# numbers of those of which only the changes are there.
Loaded = Callable[[Sequence[Transaction], int, Iterable[int]], None]


@one_thread()
class HistoryFile:
    """Used by the thread of the history, for which the disk may take its time."""

    def __init__(self, path: Path | None, problems: Problems, loaded: Loaded) -> None:
        """``path`` None keeps it in memory. ``loaded`` is called again where a file that could not
        be opened turns up later."""
        self._loaded = loaded
        self._is_empty = True
        self._database = Database(path, self._load, problems)
        self._pending = PendingFile(path and path.with_name("pending.json"), problems)
        # Whether a release before the first that has revisions of its own (upgrade) wrote it last.
        self.of_older_release = False
        self._take_over()

    def _load(self, db: sqlite3.Connection) -> None:
        db.execute("pragma journal_mode=wal")
        db.execute("pragma synchronous=full")
        db.execute(_SCHEMA)
        # Older versions have tokens where the ids are now.
        named = db.execute("pragma user_version").fetchone() != (0,)
        rows = db.execute(
            f"select id, time, door, user, {_address(db)}, name, actions, status from transactions"
            " order by id desc"
        )
        configurations = db.execute("select id, substr(configuration, 1, 1) from transactions")
        changes = [number for number, begin in configurations if not is_whole(begin)]
        found = [
            Transaction(
                number,
                time,
                Origin(northbound, user, address=address),
                actions,
                Status(status),
                commit_id if named else "",
            )
            for number, time, northbound, user, address, commit_id, actions, status in rows
        ]
        (last,) = db.execute("select coalesce(max(seq), 0) from sqlite_sequence").fetchone()
        self._is_empty = not found
        self._loaded(found, max(last, *(t.id for t in found), 0), changes)

    def _take_over(self) -> None:
        """What an older version wrote: tokens where the ids are now, the pending commit in a table
        of its own."""
        if self._database.read("pragma user_version") != [(0,)]:
            return
        self.of_older_release = not self._is_empty
        old = "select 1 from sqlite_master where name = 'pending'"
        columns = "name, door, user, deadline, timeout, before, ended"
        rows = self._database.read(old) and self._database.read(f"select {columns} from pending")
        for name, northbound, user, deadline, timeout, before, ended in rows:
            if self._pending.value is None:
                origin = Origin(str(northbound), str(user), str(name))
                made = Pending.of(origin, int(deadline), int(timeout), unpacked(before))
                self._pending.set(replace(made, ended=bool(ended)))
        with contextlib.suppress(StorageError), self._database.transaction() as db:
            db.execute("drop table if exists pending")
            db.execute("update transactions set name = ''")
            db.execute("pragma user_version = 1")

    @property
    def pending(self) -> Pending | None:
        return self._pending.value

    def close(self) -> None:
        self._database.close()

    def save(self, unsaved: Unsaved) -> bool:
        """Bring this to disk; whether it is there now."""
        if not (unsaved.made or unsaved.statuses):
            return True
        rows = [
            (
                t.id,
                t.time,
                t.origin.northbound,
                t.origin.user,
                t.origin.address,
                t.actions,
                t.status,
                t.commit_id,
                configuration,
            )
            for t, configuration in unsaved.made
        ]
        marked = [(status, number) for number, status in unsaved.statuses.items()]
        try:
            with stages(Stage.HISTORY), self._database.transaction() as db:
                db.executemany(
                    "insert or replace into transactions"
                    " (id, time, door, user, address, actions, status, name, configuration)"
                    " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
                db.executemany("update transactions set status = ? where id = ?", marked)
                db.execute("delete from transactions where id <= ?", (unsaved.forgotten,))
        except StorageError:
            return False
        return True

    def configuration(self, number: int) -> bytes | None:
        """The packed configuration after a transaction; None when it is not known."""
        found = self._database.read("select configuration from transactions where id = ?", number)
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def pend(self, pending: Pending) -> None:
        """Raises StorageError with nothing changed."""
        self._pending.write(pending)

    def keep(self) -> None:
        """Nothing is pending. Raises StorageError with nothing changed."""
        self._pending.clear()

    def follow(self, pending: Pending | None) -> None:
        """The file follows when it can: ``save_pending``."""
        self._pending.set(pending)

    def save_pending(self) -> bool:
        """Whether the file has what it was given last."""
        return self._pending.save()


def _address(db: sqlite3.Connection) -> str:
    """The column, which an older release did not write; an empty text where it can't be added."""
    if any(name == "address" for _, name, *_ in db.execute(_COLUMNS)):
        return "address"
    try:
        db.execute("alter table transactions add column address text not null default ''")
    except sqlite3.OperationalError:
        return "''"
    return "address"
