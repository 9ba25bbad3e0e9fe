"""The journal: which objects in the kernel and in FRR srv6mgrd put there.

Written before an object is created and after it is removed, so a crash at any point leaves it
naming at least everything that is ours. An object is removed only when the journal names it and
it bears our mark. Of kinds that have none the journal holds more than the key: which lines of an
FRR context, which VRF of an interface, which encapsulation source are ours.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path

from srv6mgrd.plan.objects import EncapSource, FrrBlock, Object, VrfPort

DEFAULT_PATH = Path("/var/lib/srv6mgr/journal.sqlite")

_LOG = logging.getLogger(__name__)

_SCHEMA = """
create table if not exists owned (key text primary key, lines text) without rowid;
create table if not exists configured (declares integer not null);
"""


class JournalError(Exception):
    """The journal can't be opened or written; it names what it did before. ``cause; remedy``."""


class Journal:
    """Keys of the objects we own; for kinds without a mark also what of them is ours.

    Writing raises JournalError, and changes nothing then.
    """

    def __init__(
        self,
        path: Path | None = DEFAULT_PATH,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> None:
        """``path`` None keeps it in memory. A journal that can't be read is set aside: nothing
        is removed then, and what is declared is adopted by its mark. Raises JournalError."""
        self._lines: dict[str, tuple[str, ...]] = {}
        self._connect = connect
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._open(path)
        except (sqlite3.OperationalError, OSError) as error:
            # Out of reach or locked, which says nothing about what is in it.
            raise JournalError(f"{path}: {error}; make it readable and writable") from error
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            if path is None:
                raise
            self._db.close()
            aside = path.with_suffix(".damaged")
            _LOG.error("journal %s is damaged (%s); set aside as %s", path, error, aside)
            path.replace(aside)
            for tail in ("-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    path.with_name(path.name + tail).unlink()
            self._open(path)

    def _open(self, path: Path | None) -> None:
        self._db = self._connect(path or ":memory:", isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        # Survives the death of the process; after a power loss the kernel's objects are gone too.
        self._db.execute("pragma synchronous=normal")
        for statement in _SCHEMA.strip().splitlines():
            self._db.execute(statement)
        self._declares = bool(
            self._db.execute("select coalesce(max(declares), 0) from configured").fetchone()[0]
        )
        self._lines = {
            sys.intern(key): tuple(json.loads(lines)) if lines else ()
            for key, lines in self._db.execute("select key, lines from owned")
        }

    def close(self) -> None:
        self._db.close()

    @property
    def declares(self) -> bool:
        """Whether the configuration declared something when it was last known. Where it did, an
        empty one is a lost one, unless a commit of nothing was under way."""
        return self._declares

    def declare(self, something: bool) -> None:
        """The configuration declares something, or a commit of nothing begins."""
        if something != self._declares:
            with self._transaction():
                self._db.executemany("delete from configured", [()])
                self._db.executemany("insert into configured values (?)", [(int(something),)])
            self._declares = something

    def __contains__(self, key: object) -> bool:
        return key in self._lines

    def owns(self, obj: Object) -> bool:
        """Whether this is what we put there, or were about to, as far as the journal can tell."""
        known = self._lines.get(obj.key)
        return known is not None and set(_lines(obj)) <= set(known)

    @property
    def keys(self) -> Iterable[str]:
        return self._lines.keys()

    def lines(self, key: str) -> tuple[str, ...]:
        """Our lines in an FRR context."""
        return self._lines.get(key, ())

    def checkpoint(self) -> Mapping[str, tuple[str, ...]]:
        """All that it holds, for ``restore``."""
        return dict(self._lines)

    def restore(self, checkpoint: Mapping[str, tuple[str, ...]], but: Container[str]) -> None:
        """After undoing: own what was owned then, ``but`` for keys that could not be undone."""
        self.forget(key for key in self._lines if key not in checkpoint and key not in but)
        self._write(
            {
                key: lines
                for key, lines in checkpoint.items()
                if self._lines.get(key) != lines and key not in but
            }
        )

    def intend(self, objects: Iterable[Object]) -> None:
        """Before writing: these may come to be. Lines are added to those known, so that a crash
        before the old ones are gone does not disown them."""
        rows = {}
        for obj in objects:
            key = obj.key
            known, lines = self._lines.get(key), _lines(obj)
            if known:
                lines = _union(known, lines)
            if known != lines:
                rows[key] = lines
        self._write(rows)

    def done(self, objects: Iterable[Object]) -> None:
        """After writing: lines that are no longer there are not ours."""
        rows = {}
        for obj in objects:
            if not (known := self._lines.get(obj.key)):
                continue
            there = _lines(obj)
            if any(line not in there for line in known):
                rows[obj.key] = tuple(line for line in known if line in there)
        self._write(rows)

    def forget(self, keys: Iterable[str]) -> None:
        """After removal."""
        gone = [key for key in keys if key in self._lines]
        if gone:
            with self._transaction():
                self._db.executemany("delete from owned where key = ?", [(key,) for key in gone])
            for key in gone:
                self._lines.pop(key, None)

    def _write(self, rows: dict[str, tuple[str, ...]]) -> None:
        if not rows:
            return
        with self._transaction():
            self._db.executemany(
                "insert or replace into owned values (?, ?)",
                [(key, json.dumps(lines) if lines else "") for key, lines in rows.items()],
            )
        self._lines.update(rows)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("begin")
            yield
            self._db.execute("commit")
        except sqlite3.Error as error:
            # A full disk ends the transaction by itself, other errors don't.
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("rollback")
            raise JournalError(
                f"the journal can't be written ({error}); make room where it lies"
            ) from error


def _lines(obj: Object) -> tuple[str, ...]:
    """What is ours of an object that bears no mark."""
    match obj:
        case FrrBlock():
            return obj.lines
        case VrfPort():
            return (obj.vrf,)
        case EncapSource():
            return (str(obj.address),)
    return ()


def _union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return a + tuple(line for line in b if line not in a)
