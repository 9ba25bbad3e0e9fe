"""From rows as they are to rows as they shall be: operations, in an order that readers stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from srv6mgrd.redis.schema import Fields, RowKey, Table, table_of, tables
from srv6mgrd.redis.wire import Operation

# Rows per script: Redis serves nobody else meanwhile (2 to 3 ms), nor does our event loop.
BATCH = 500

# Those that hold rows of ours.
DATABASES = tuple(dict.fromkeys(t.database for t in tables() if t.order))

Change = tuple[RowKey, Operation]
Known = dict[RowKey, Fields]


class ForeignTableError(Exception):
    """A row of a table that redis-schema doesn't know: a mistake of the caller."""


def changes(
    keys: Iterable[RowKey], wanted: Mapping[RowKey, Fields], known: Mapping[RowKey, Fields]
) -> Iterator[tuple[str, list[Change]]]:
    """Batches of operations, by database, that make these rows as wanted; none for equal rows.

    What is removed goes first, last written first removed: a reader that follows a reference
    (name map to counters, SID to VRF) finds its end.
    """
    removals: list[tuple[Table, Change]] = []
    puts: list[tuple[Table, Change]] = []
    for key in keys:
        shall, now = wanted.get(key), known.get(key)
        if shall == now:
            continue
        table = table_of(key)
        if table is None:
            raise ForeignTableError(f"{key.db} {key.key}")
        if table.shared:
            for field, old, new in _cells(shall or {}, now or {}):
                into = puts if new else removals
                into.append((table, (key, ("cell", key.key, field, old, new))))
        elif shall is None:
            removals.append((table, (key, ("drop", key.key))))
        else:
            puts.append((table, (key, _put(key, shall, now or {}))))
    removals.sort(key=lambda c: -c[0].order)
    puts.sort(key=lambda c: c[0].order)
    for phase in (removals, puts):
        for table, group in groupby(phase, key=lambda c: c[0]):
            todo = [change for _, change in group]
            for first in range(0, len(todo), BATCH):
                yield table.database, todo[first : first + BATCH]


def _put(key: RowKey, shall: Fields, now: Fields) -> Operation:
    if not now:
        return ("put", key.key, 1, [word for pair in shall.items() for word in pair], [])
    set_ = [word for f, v in shall.items() if now.get(f) != v for word in (f, v)]
    gone = [f for f in now if f not in shall]
    return ("put", key.key, 0, set_, gone)


def done(known: Known, change: Change, wanted: Mapping[RowKey, Fields]) -> None:
    """Note in ``known`` that an operation was carried out."""
    key, operation = change
    if operation[0] == "put":
        # Shared: neither is changed in place, only replaced.
        known[key] = wanted[key]
    elif operation[0] == "drop":
        known.pop(key, None)
    else:
        _, _, field, _, new = operation
        cells = known[key]
        assert isinstance(cells, dict)
        if new:
            cells[str(field)] = str(new)
        else:
            cells.pop(str(field), None)


def _cells(shall: Fields, now: Fields) -> Iterator[tuple[str, str, str]]:
    """field, old, new of each field that differs; empty is none."""
    for field in now.keys() - shall.keys():
        yield field, now[field], ""
    for field, value in shall.items():
        if now.get(field) != value:
            yield field, now.get(field, ""), value
