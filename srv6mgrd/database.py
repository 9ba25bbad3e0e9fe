"""An SQLite file that keeps state over a restart, and keeps nobody from starting.

A file that is damaged, or of a newer version, is set aside. One that can't be written is read as
far as possible; writes fail, and each of them tries to open it again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from srv6mgrd.storage import Problems, StorageError, check_regular, set_aside
from srv6mgrd.threads import one_thread

# Primary result codes (sqlite.org/rescode.html) that say nothing about the content of the file.
_ENVIRONMENT = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)
_VERSION = 1

Connect = Callable[..., sqlite3.Connection]


@one_thread()
class Database:
    """Used by one thread."""

    def __init__(
        self,
        path: Path | None,
        load: Callable[[sqlite3.Connection], None],
        problems: Problems,
        connect: Connect = sqlite3.connect,
    ) -> None:
        """``path`` None keeps it in memory. ``load`` prepares the schema where it is absent, and
        reads; it raises sqlite3.Error, ValueError or TypeError on what makes no sense."""
        self._path = path
        self._load = load
        self._problems = problems
        self._connect = connect
        self._writable = True
        try:
            self._db = self._opened()
        except (sqlite3.Error, OSError) as error:
            self._writable = False
            self._report(error)
            self._db = self._readable()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. Raises StorageError."""
        try:
            if not self._writable:
                opened = self._opened()
                self._db.close()
                self._db, self._writable = opened, True
            self._db.execute("begin")
            yield self._db
            self._db.execute("commit")
        except (sqlite3.Error, OSError) as error:
            # A full disk ends the transaction by itself, other errors don't.
            with suppress(sqlite3.Error):
                self._db.execute("rollback")
            raise StorageError(self._failed(error)) from error
        if self._path is not None:
            self._problems.resolve(self._path.name)

    def read(self, sql: str, *values: int | str) -> list[tuple[Any, ...]]:
        """Rows; none when the file can't be read (any more)."""
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            self._failed(error)
            return []

    def _failed(self, error: Exception) -> str:
        """What went wrong with an open file; one that turned out to be damaged is set aside."""
        if _is_environment(error) or self._path is None:
            return self._report(error)
        self._db.close()
        set_aside(self._path, self._problems, error)
        self._writable = False
        self._db = self._readable()
        return f"{self._path.name}: it was damaged ({error}) and is created again"

    def _report(self, error: Exception) -> str:
        if self._path is None:
            return f"it can't be written ({error})"
        if self._path.is_dir():
            remedy = "it is a folder; remove it"
        else:
            remedy = f"make {self._path.parent} writable, with room"
        problem = f"it can't be written ({error}); {remedy}"
        self._problems.report(self._path.name, problem)
        return f"{self._path.name}: {problem}"

    def _opened(self) -> sqlite3.Connection:
        """The file, or a new one when it makes no sense. Raises sqlite3.Error or OSError."""
        if self._path is None:
            return self._loaded(self._connect(":memory:", isolation_level=None))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        _check(self._path)
        try:
            return self._loaded(self._connect(self._path, isolation_level=None))
        except (sqlite3.Error, ValueError, TypeError) as error:
            if _is_environment(error) or not set_aside(self._path, self._problems, error):
                raise sqlite3.OperationalError(str(error)) from error
        return self._loaded(self._connect(self._path, isolation_level=None))

    def _readable(self) -> sqlite3.Connection:
        """The file as far as it can be read without a write; else an empty one in memory."""
        options = () if self._path is None else ("mode=ro", "immutable=1")
        for option in options:
            with suppress(sqlite3.Error, OSError, ValueError, TypeError):
                _check(self._path)
                uri = f"{Path(self._path or '').absolute().as_uri()}?{option}"
                return self._loaded(self._connect(uri, uri=True, isolation_level=None))
        return self._loaded(self._connect(":memory:", isolation_level=None))

    def _loaded(self, db: sqlite3.Connection) -> sqlite3.Connection:
        try:
            found = int(db.execute("pragma user_version").fetchone()[0])
            if found > _VERSION:
                raise ValueError(f"it is of version {found}, which a newer srv6mgrd wrote")
            self._load(db)
        except BaseException:
            db.close()
            raise
        return db


def _check(path: Path | None) -> None:
    """SQLite reports a folder; at a FIFO it would wait. Raises OSError."""
    if path is not None and path.exists() and not path.is_dir():
        check_regular(path, path)


def _is_environment(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return code is None or code & 0xFF in _ENVIRONMENT
    return isinstance(error, OSError)
