"""From present rows to desired rows: operations, in an order that readers tolerate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain, islice
from typing import TypeVar

from srv6mgrd.redis.schema import Fields, RowKey, Table, table_of, tables
from srv6mgrd.redis.wire import Operation

# Rows per script: Redis serves nobody else meanwhile (2 to 3 ms), nor does our event loop.
BATCH = 500

# Those that hold rows of ours.
DATABASES = tuple(dict.fromkeys(t.database for t in tables() if t.order))

Change = tuple[RowKey, Operation]
T = TypeVar("T")


class ForeignTableError(Exception):
    """A row of a table that redis-schema doesn't know: a mistake of the caller."""


class Rows:
    """Desired rows, and rows as they are known to be: one entry where both are the same."""

    def __init__(self) -> None:
        # By database and key: a pair for each of 300,000 rows would take 20 MiB.
        self._wanted: dict[str, dict[str, Fields]] = {db: {} for db in DATABASES}
        # What is known of those that are otherwise; None: there is no such row.
        self._apart: dict[RowKey, Fields | None] = {}

    def wanted(self, key: RowKey) -> Fields | None:
        return self._wanted[key.db].get(key.key)

    def known(self, key: RowKey) -> Fields | None:
        return self._apart[key] if key in self._apart else self.wanted(key)

    @property
    def apart(self) -> Set[RowKey]:
        """Rows that differ from the desired ones."""
        return self._apart.keys()

    def want(self, key: RowKey, fields: Fields | None) -> None:
        """None: no such row is desired."""
        known = self.known(key)
        if fields is None:
            self._wanted[key.db].pop(key.key, None)
        else:
            self._wanted[key.db][key.key] = fields
        self.know(key, known)

    def know(self, key: RowKey, fields: Fields | None) -> None:
        """None: there is no such row. The fields are changed by ``done``, if cell by cell."""
        if _is_same(fields, self.wanted(key)):
            self._together(key)
        else:
            self._apart[key] = fields

    def adopt(self, found: dict[RowKey, Fields]) -> None:
        """These are all rows that there are. Empties it: all freed at once would hold every
        thread."""
        # A set operation on so many would hold every thread.
        self._apart = {key: None for key in self._all_wanted() if key not in found}
        while found:
            key, fields = found.popitem()
            self.know(key, fields)

    def clear(self) -> None:
        """No row is desired."""
        keys = chain(self._all_wanted(), list(self._apart))
        self._apart = {key: f for key in keys if (f := self.known(key))}
        self._wanted = {db: {} for db in DATABASES}

    def _all_wanted(self) -> Iterator[RowKey]:
        return (RowKey(db, key) for db, rows in self._wanted.items() for key in rows)

    def done(self, change: Change) -> None:
        """An operation was carried out."""
        key, operation = change
        if operation[0] == "put":
            self._together(key)
        elif operation[0] == "drop":
            self.know(key, None)
        else:
            _, _, field, _, new = operation
            cells = self._apart.get(key)
            if cells is None:
                cells = self._apart[key] = dict(self.known(key) or {})
            assert isinstance(cells, dict)
            # Not compared after each of thousands: ``settle`` does.
            if new:
                cells[str(field)] = str(new)
            else:
                cells.pop(str(field), None)

    def _together(self, key: RowKey) -> None:
        self._apart.pop(key, None)
        if not self._apart:
            # A dict that held many keeps their room.
            self._apart = {}

    def settle(self, key: RowKey) -> None:
        """All that was to be done with a row was."""
        self.know(key, self.known(key))


def _is_same(one: Fields | None, other: Fields | None) -> bool:
    """Whether they are equal. To compare so many in one operation would hold every thread."""
    if one is None or other is None or len(one) < BATCH:
        return one == other
    return len(one) == len(other) and all(other.get(f) == value for f, value in one.items())


def changes(keys: Iterable[RowKey], rows: Rows) -> Iterator[tuple[str, list[Change]]]:
    """Batches of operations, by database, that make these rows as wanted; none for equal rows.

    What is removed goes first, last written first removed: a reader that follows a reference
    (name map to counters, SID to VRF) finds its end.
    """
    gone: dict[Table, list[RowKey]] = {}
    put: dict[Table, list[RowKey]] = {}
    emptied: dict[Table, list[Change]] = {}
    filled: dict[Table, list[Change]] = {}
    for key in keys:
        shall, now = rows.wanted(key), rows.known(key)
        if _is_same(shall, now):
            continue
        table = table_of(key)
        if table is None:
            raise ForeignTableError(f"{key.db} {key.key}")
        if table.shared:
            for field, old, new in _cells(shall or {}, now or {}):
                into = filled if new else emptied
                into.setdefault(table, []).append((key, ("cell", key.key, field, old, new)))
        else:
            (gone if shall is None else put).setdefault(table, []).append(key)
    for table in sorted(dict.fromkeys([*gone, *emptied]), key=lambda t: -t.order):
        drops: Iterator[Change] = ((key, ("drop", key.key)) for key in _taken(gone, table))
        yield from _batches(table, chain(_taken(emptied, table), drops))
    for table in sorted(dict.fromkeys([*put, *filled]), key=lambda t: t.order):
        puts = ((key, _put(key, rows)) for key in _taken(put, table))
        yield from _batches(table, chain(_taken(filled, table), puts))


def _taken(lists: Mapping[Table, list[T]], table: Table) -> Iterator[T]:
    """Each goes as it is taken: all freed at once would hold every thread."""
    items = lists.get(table, [])
    items.reverse()
    while items:
        yield items.pop()


def _batches(table: Table, todo: Iterable[Change]) -> Iterator[tuple[str, list[Change]]]:
    """Made one after the other: all at once would be freed at once, which holds every thread."""
    changes = iter(todo)
    while batch := list(islice(changes, BATCH)):
        yield table.database, batch


def _put(key: RowKey, rows: Rows) -> Operation:
    shall, now = rows.wanted(key) or {}, rows.known(key)
    if not now:
        return ("put", key.key, 1, [word for pair in shall.items() for word in pair], [])
    set_ = [word for f, v in shall.items() if now.get(f) != v for word in (f, v)]
    gone = [f for f in now if f not in shall]
    return ("put", key.key, 0, set_, gone)


def _cells(shall: Fields, now: Fields) -> Iterator[tuple[str, str, str]]:
    """field, old, new of each field that differs; empty is none."""
    for field, value in now.items():
        if field not in shall:
            yield field, value, ""
    for field, value in shall.items():
        if now.get(field) != value:
            yield field, now.get(field, ""), value
