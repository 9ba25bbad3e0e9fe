"""The journal: which objects in the kernel and in FRR srv6mgrd put there.

Written before an object is created and after it is removed, so a crash at any point leaves it
naming at least everything that is ours. An object is removed only when the journal names it and
it has our mark. Of kinds that have none the journal holds more than the key: which lines of an
FRR context, which VRF of an interface, which encapsulation source are ours.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from srv6mgrd.database import Connect, Database
from srv6mgrd.kinds.object import Object
from srv6mgrd.storage import Problems

DEFAULT_PATH = Path("/var/lib/srv6mgr/journal.sqlite")

_SCHEMA = """
create table if not exists owned (key text primary key, lines text) without rowid;
create table if not exists configured (declares integer not null);
"""


class Journal:
    """Keys of the objects we own; for kinds without a mark also what of them is ours.

    Writing raises StorageError, and changes nothing then but for ``adopt``.
    """

    def __init__(
        self,
        path: Path | None = DEFAULT_PATH,
        connect: Connect = sqlite3.connect,
        *,
        problems: Problems | None = None,
    ) -> None:
        """``path`` None keeps it in memory. A journal that can't be read is set aside, and
        begun again (``Reconciler.repair``)."""
        self._lines: dict[str, tuple[str, ...]] = {}
        # Keys of what was adopted and could not be written yet.
        self._unwritten: set[str] = set()
        # None: nothing was ever declared, as far as the journal knows.
        self._declares: bool | None = None
        self._database = Database(path, self._load, problems or Problems(), connect)

    def _load(self, db: sqlite3.Connection) -> None:
        db.execute("pragma journal_mode=wal")
        # Survives the death of the process; after a power loss the kernel's objects are gone too.
        db.execute("pragma synchronous=normal")
        for statement in _SCHEMA.strip().splitlines():
            db.execute(statement)
        (declares,) = db.execute("select max(declares) from configured").fetchone()
        lines = {
            sys.intern(key): tuple(json.loads(lines)) if lines else ()
            for key, lines in db.execute("select key, lines from owned")
        }
        if self._lines:
            # Begun again, after the file before turned out to be damaged.
            rows = [(key, _stored(known)) for key, known in self._lines.items()]
            db.executemany("insert or replace into owned values (?, ?)", rows)
        self._declares, self._lines = declares and bool(declares), {**lines, **self._lines}

    def close(self) -> None:
        self._database.close()

    @property
    def declares(self) -> bool:
        """Whether the configuration declared something when it was last known. Where it did, an
        empty one is a lost one, unless a commit of nothing was under way."""
        return bool(self._declares)

    @property
    def is_new(self) -> bool:
        """Whether it knows of no configuration: this is the first start, or it was lost."""
        return self._declares is None and not self._lines

    def declare(self, something: bool) -> None:
        """The configuration declares something, or a commit of nothing begins."""
        if something != self._declares:
            with self._database.transaction() as db:
                db.executemany("delete from configured", [()])
                db.executemany("insert into configured values (?)", [(int(something),)])
            self._declares = something

    def __contains__(self, key: object) -> bool:
        return key in self._lines

    def owns(self, obj: Object) -> bool:
        """Whether this is what we put there, or were about to, as far as the journal knows."""
        known = self._lines.get(obj.key)
        return known is not None and set(obj.owned_lines) <= set(known)

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
        self._write(self._added(objects))

    def adopt(self, objects: Iterable[Object]) -> None:
        """These exist and are ours. That is known even while it can't be written: what was found
        by its mark loses it when somebody replaces it. Each call tries to write the rest."""
        rows = self._added(objects)
        self._lines.update(rows)
        self._unwritten.update(rows)
        self._write(self._behind())

    def _behind(self) -> dict[str, tuple[str, ...]]:
        return {key: self._lines[key] for key in self._unwritten if key in self._lines}

    def _added(self, objects: Iterable[Object]) -> dict[str, tuple[str, ...]]:
        rows = {}
        for obj in objects:
            key = obj.key
            known, lines = self._lines.get(key), obj.owned_lines
            if known:
                lines = _union(known, lines)
            if known != lines:
                rows[key] = lines
        return rows

    def done(self, objects: Iterable[Object]) -> None:
        """After writing: lines that are no longer there are not ours."""
        rows = {}
        for obj in objects:
            if not (known := self._lines.get(obj.key)):
                continue
            there = obj.owned_lines
            if any(line not in there for line in known):
                rows[obj.key] = tuple(line for line in known if line in there)
        self._write(rows)

    def forget(self, keys: Iterable[str]) -> None:
        """After removal."""
        gone = [key for key in keys if key in self._lines]
        if gone:
            with self._database.transaction() as db:
                db.executemany("delete from owned where key = ?", [(key,) for key in gone])
            for key in gone:
                self._lines.pop(key, None)

    def _write(self, rows: dict[str, tuple[str, ...]]) -> None:
        if not rows:
            return
        rows = self._behind() | rows
        with self._database.transaction() as db:
            db.executemany(
                "insert or replace into owned values (?, ?)",
                [(key, _stored(lines)) for key, lines in rows.items()],
            )
        self._lines.update(rows)
        self._unwritten.clear()


def _stored(lines: tuple[str, ...]) -> str:
    return json.dumps(lines) if lines else ""


def _union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return a + tuple(line for line in b if line not in a)
