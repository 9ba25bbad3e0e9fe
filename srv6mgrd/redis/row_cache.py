"""Our rows in Redis, the desired and the present ones. No I/O: the publisher's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from srv6mgrd.counters import sonic
from srv6mgrd.model.status import SidCounters
from srv6mgrd.redis import diff
from srv6mgrd.redis.rows import (
    COUNTERS,
    NAME_MAP,
    SID_OID,
    Changes,
    counters_key,
    index_of,
    oid_of,
)
from srv6mgrd.redis.schema import Fields, RowKey

NAME_ROW, OID_ROW = NAME_MAP.key(), SID_OID.key()
_OID = SID_OID.map[1]
# Of thousands of fields, changed one by one.
_OF_CELLS = (NAME_ROW, OID_ROW)


class RowCache:
    """Wanted rows against known ones; ``changes`` are what parts them.

    ``foreign`` holds wanted rows and fields (as key and field) that another writer made.
    """

    def __init__(self) -> None:
        self.foreign: set[tuple[RowKey, str]] = set()
        self._rows = diff.Rows()
        # Those that may be apart, and were not tried in vain.
        self._dirty: set[RowKey] = set()
        # Replaced, never changed: it is what is wanted, and known, of both rows of cells.
        self._oids: dict[str, str] = {}
        self._highest = 0
        self._counters: dict[str, SidCounters] = {}
        # Their keys in COUNTERS.
        self._counter_keys: dict[str, str] = {}
        # SIDs whose rows hold what was counted last. The fields that we hold of these are of some
        # sample before: to make them for each sample costs more than all else.
        self._steady: set[str] = set()
        # Rows that change by themselves, beside those of the projection.
        self._states: Mapping[RowKey, Fields] = {}
        # Whether more may differ than what was wanted otherwise before.
        self._all_dirty = True
        # Whether the identifiers are others than when they were wanted last.
        self._renamed = True

    def adopt(self, rows: dict[RowKey, Fields], names: Fields) -> None:
        """Take over what Redis holds: our rows, and all of COUNTERS_SRV6_NAME_MAP. Empties
        ``rows``.

        An identifier that we hold already goes before the one that Redis remembers: SIDs keep
        theirs through a Redis that lost all, or came back with a past of its own.
        """
        remembered = {n: o for n, o in rows.get(OID_ROW, {}).items() if _OID.fault(o) is None}
        self._rows.adopt(rows)
        self._set_names(names, remembered)
        self._oids = {**remembered, **self._oids}
        self.foreign.clear()
        self._steady.clear()
        self._all_dirty = self._renamed = True

    def unnamed(self, changes: Changes) -> list[str]:
        """Names that need an object identifier; those of SIDs that are gone are forgotten."""
        names = dict.fromkeys(name for name in changes.counted.values() if name is not None)
        gone: Set[str]
        if changes.whole:
            gone = {n for n in self._oids if n not in names}
        else:
            gone = changes.uncounted & self._oids.keys()
            if self._all_dirty:  # Redis remembers some that nobody has
                used = set(self._counter_keys.values())
                unused = {n for n, o in self._oids.items() if counters_key(o).key not in used}
                gone = gone | (unused - names.keys())
        if gone:
            self._oids = {n: o for n, o in self._oids.items() if n not in gone}
            self._renamed = True
        return [n for n in names if n not in self._oids]

    @property
    def highest_index(self) -> int:
        """Highest index of an identifier that we hold or held."""
        self._highest = max(self._highest, *map(index_of, self._oids.values()), 0)
        return self._highest

    def name(self, names: Sequence[str], first_index: int) -> None:
        """Give these names consecutive object identifiers."""
        self._oids = self._oids | {n: oid_of(first_index + i) for i, n in enumerate(names)}
        self._renamed = True
        self._highest = first_index + len(names) - 1

    def absorb(self, changes: Changes) -> None:
        """Take over the changes, and empty them. Every counted SID has an identifier by now."""
        if changes.whole:
            self._rows.clear()
            for key, fields in self._states.items():
                self._rows.want(key, fields)
            self._counter_keys.clear()
            self._steady.clear()
            self._all_dirty = self._renamed = True
        rows = self._rows
        some = list[RowKey]()
        while changes.rows:
            key, wanted = changes.rows.popitem()
            rows.want(key, wanted)
            some.append(key)
        some += self._count(changes.counted)
        if self._renamed:
            for key in _OF_CELLS:
                known = rows.known(key)
                rows.want(key, self._oids or None)
                if known is not None:
                    rows.know(key, dict(known))
                some.append(key)
            self._renamed = False
        self.foreign = {
            (key, field)
            for key, field in self.foreign
            if (shall := rows.wanted(key)) is not None and (not field or field in shall)
        }
        some += self._dirty
        some += [key for key, _ in self.foreign]
        if self._all_dirty:
            self._count_all()
            some += rows.apart
        apart = rows.apart
        # Not as a set operation, which holds every thread.
        self._dirty = {key for key in some if key in apart}
        self._all_dirty = False

    def _count(self, counted: Mapping[str, str | None]) -> Iterator[RowKey]:
        """Want the COUNTERS rows of these SIDs, None: not any more; the keys of all of them, of
        those before as well."""
        for prefix, name in counted.items():
            if (before := self._counter_keys.pop(prefix, None)) is not None:
                row = RowKey(COUNTERS.database, before)
                self._rows.want(row, None)
                self._steady.discard(prefix)
                yield row
            if name is None:
                self._counters.pop(prefix, None)
            else:
                key = counters_key(self._oids[name])
                self._counter_keys[prefix] = key.key
                self._want_counters(prefix, key)
                yield key

    def _count_all(self) -> None:
        for prefix, key in self._counter_keys.items():
            if prefix not in self._steady:
                self._want_counters(prefix, RowKey(COUNTERS.database, key))

    def _want_counters(self, prefix: str, key: RowKey) -> None:
        if (sample := self._counters.get(prefix)) is not None:
            self._rows.want(key, sonic.fields(sample))
        elif fields := self._rows.known(key):
            self._rows.want(key, fields)  # ours from before a restart; the first sample is to come

    def sample(self, counters: Mapping[str, SidCounters]) -> Iterator[tuple[list[str], list[str]]]:
        """Take over counters by SID prefix; batches of SIDs whose rows exist already, and what
        they count as ``Wire.count`` takes it. Those that were written are reported to ``counted``.
        Rows that are yet to be made are among the next ``changes``.

        A short cut past the diff: thousands of rows, every second.
        """
        before, keys, steady = self._counters, self._counter_keys, self._steady
        prefixes, lines = list[str](), list[str]()
        for prefix, c in counters.items():
            if before.get(prefix) is c:
                continue
            before[prefix] = c
            if (text := keys.get(prefix)) is None:
                continue
            if prefix not in steady:
                key = RowKey(COUNTERS.database, text)
                self._rows.want(key, sonic.fields(c))
                if key not in self._rows.apart:
                    continue
                if not self._rows.known(key):
                    self._dirty.add(key)
                    continue
            prefixes.append(prefix)
            lines.append(f"{text} {c.packets} {c.octets} {c.errors}\n")
            if len(lines) == diff.BATCH:
                yield prefixes, lines
                prefixes, lines = [], []
        if lines:
            yield prefixes, lines

    def counted(self, prefixes: Iterable[str]) -> None:
        """Note that the counters of these SIDs were written."""
        for prefix in set(prefixes) - self._steady:
            key = RowKey(COUNTERS.database, self._counter_keys[prefix])
            self._rows.know(key, self._rows.wanted(key))
            self._steady.add(prefix)

    def states(self, rows: Mapping[RowKey, Fields]) -> None:
        """Make these the rows of what changes by itself; those before that are not among them
        go."""
        for key in self._states.keys() - rows.keys():
            self._rows.want(key, None)
            self._dirty.add(key)
        for key, fields in rows.items():
            if self._rows.wanted(key) != fields:
                self._rows.want(key, fields)
                self._dirty.add(key)
        self._states = rows

    def concerns(self, keys: Iterable[str]) -> list[RowKey]:
        """Which of our rows changed keys may be; a row that we could not claim is tried again. Rows
        of counters are not watched."""
        out = []
        for text in keys:
            for db in diff.DATABASES:
                row = RowKey(db, text)
                if self._rows.known(row) is not None or row == NAME_ROW:
                    out.append(row)
                elif self._rows.wanted(row) is not None:
                    self._dirty.add(row)
        return out

    def reread(self, rows: Mapping[RowKey, Fields]) -> None:
        """Note how these rows are now."""
        for key, fields in rows.items():
            if key == NAME_ROW:
                self._set_names(fields, {})
            elif key == OID_ROW:
                same = self._reported_alike(fields)
                known = same | {n: o for n, o in fields.items() if n not in same}
                self._rows.know(key, known)
            else:
                self._rows.know(key, dict(fields) or None)
            self._dirty.add(key)

    def _reported_alike(self, fields: Fields) -> dict[str, str]:
        """The identifiers in these fields, as the texts that we hold and not as new ones."""
        return {n: o for n, o in self._oids.items() if fields.get(n) == o}

    def changes(self) -> Iterator[tuple[str, list[diff.Change]]]:
        """Batches of changes to make, by database; each is reported to ``done``."""
        dirty, self._dirty = self._dirty, set()
        yield from diff.changes(dirty, self._rows)
        for key in dirty.intersection(_OF_CELLS):
            self._rows.settle(key)
        # One by one: freed at once, they would hold every thread.
        while dirty:
            dirty.pop()

    def done(self, batch: Sequence[diff.Change], rejected: Iterable[int]) -> list[RowKey]:
        """Note that a batch was carried out but for what was rejected; return what was rejected
        for the first time."""
        skipped = set(rejected)
        if not skipped and not self.foreign:
            for change in batch:
                self._rows.done(change)
            return []
        fresh = []
        for number, (key, operation) in enumerate(batch):
            place = (key, str(operation[2]) if operation[0] == "cell" else "")
            if number not in skipped:
                self._rows.done((key, operation))
                self.foreign.discard(place)
            elif place not in self.foreign:
                self.foreign.add(place)
                fresh.append(key)
        return fresh

    def _set_names(self, names: Fields, remembered: Fields) -> None:
        # A field is ours if it leads to our object: no identifier is given out twice.
        ours = self._reported_alike(names)
        ours |= {n: o for n, o in names.items() if n not in ours and o == remembered.get(n)}
        self._rows.know(NAME_ROW, ours)
