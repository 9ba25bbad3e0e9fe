"""What shall stand in Redis and what does, as far as it is ours. No I/O: the publisher's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from srv6mgrd.counters import sonic
from srv6mgrd.counters.status import SidCounters
from srv6mgrd.redis import diff
from srv6mgrd.redis.rows import (
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
# Changed field by field: what is known of them is a mapping of its own while it is not as wanted.
_OF_CELLS = (NAME_ROW, OID_ROW)


class Book:
    """Wanted rows against known ones; ``changes`` are what parts them.

    ``foreign`` holds wanted rows and fields (as key and field) that another writer made.
    """

    def __init__(self) -> None:
        self.foreign: set[tuple[RowKey, str]] = set()
        self._wanted: dict[RowKey, Fields] = {}
        self._known: diff.Known = {}
        self._dirty: set[RowKey] = set()
        # Replaced, never changed: it is what is wanted, and known, of both rows of cells.
        self._oids: dict[str, str] = {}
        self._highest = 0
        self._counters: dict[str, SidCounters] = {}
        self._counter_keys: dict[str, RowKey] = {}
        # SIDs whose rows hold what was counted last. Of these the wanted and the known fields are
        # one mapping, of some sample before: to make one for each sample costs more than all else.
        self._steady: set[str] = set()
        # Rows that change by themselves, beside those of the projection.
        self._states: Mapping[RowKey, Fields] = {}
        # Whether more may differ than what was wanted otherwise before.
        self._all_dirty = True
        # Whether the identifiers are others than when they were wanted last.
        self._renamed = True

    def adopt(self, rows: Mapping[RowKey, Fields], names: Fields) -> None:
        """Take over what Redis holds: our rows, and all of COUNTERS_SRV6_NAME_MAP.

        An identifier that we hold already goes before the one that Redis remembers: SIDs keep
        theirs through a Redis that lost all, or came back with a past of its own.
        """
        self._known = {key: dict(fields) for key, fields in rows.items()}
        remembered = {n: o for n, o in rows.get(OID_ROW, {}).items() if _OID.fault(o) is None}
        self._set_names(names, remembered)
        self._oids = {**remembered, **self._oids}
        self.foreign.clear()
        self._steady.clear()
        self._all_dirty = self._renamed = True

    def unnamed(self, changes: Changes) -> list[str]:
        """Names that need an object identifier; those of SIDs that are gone are forgotten."""
        names = {name for name in changes.counted.values() if name is not None}
        if changes.whole:
            gone = self._oids.keys() - names
        else:
            gone = changes.uncounted & self._oids.keys()
            if self._all_dirty:  # Redis remembers some that nobody has
                used = set(self._counter_keys.values())
                gone |= {n for n, o in self._oids.items() if counters_key(o) not in used} - names
        if gone:
            self._oids = {n: o for n, o in self._oids.items() if n not in gone}
            self._renamed = True
        return sorted(names - self._oids.keys())

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
        """Take over what shall be otherwise. Every counted SID has an identifier by now."""
        if changes.whole:
            self._wanted = dict(self._states)
            self._counter_keys.clear()
            self._steady.clear()
            self._all_dirty = self._renamed = True
        wanted, known = self._wanted, self._known
        for key, fields in changes.rows.items():
            if fields is not None:
                wanted[key] = fields
            else:
                wanted.pop(key, None)
        some = {*changes.rows, *self._count(changes.counted)}
        if self._renamed:
            for key in _OF_CELLS:
                some.add(key)
                if key in known:
                    known[key] = dict(known[key])
                if self._oids:
                    wanted[key] = self._oids
                else:
                    wanted.pop(key, None)
            self._renamed = False
        self.foreign = {
            (k, f) for k, f in self.foreign if k in wanted and (not f or f in wanted[k])
        }
        # What was carried out is known to be as it was wanted.
        some |= self._dirty | {key for key, _ in self.foreign}
        if self._all_dirty:
            self._count_all()
            some |= wanted.keys() | known.keys()
        self._dirty = set()
        for key in some:
            shall, now = wanted.get(key), known.get(key)
            if shall != now:
                self._dirty.add(key)
            elif shall is not None:
                # One mapping serves both; what Redis answered is not kept beside it.
                known[key] = shall
        self._all_dirty = False

    def _count(self, counted: Mapping[str, str | None]) -> Iterator[RowKey]:
        """Want the COUNTERS rows of these SIDs, None: not any more; the keys of all of them, of
        those before as well."""
        for prefix, name in counted.items():
            if (before := self._counter_keys.pop(prefix, None)) is not None:
                self._wanted.pop(before, None)
                self._steady.discard(prefix)
                yield before
            if name is None:
                self._counters.pop(prefix, None)
            else:
                key = self._counter_keys[prefix] = counters_key(self._oids[name])
                self._want_counters(prefix, key)
                yield key

    def _count_all(self) -> None:
        for prefix, key in self._counter_keys.items():
            if prefix not in self._steady:
                self._want_counters(prefix, key)

    def _want_counters(self, prefix: str, key: RowKey) -> None:
        if (sample := self._counters.get(prefix)) is not None:
            self._wanted[key] = sonic.fields(sample)
        elif fields := self._known.get(key):
            self._wanted[key] = fields  # ours from before a restart; the first sample is to come

    def sample(self, counters: Mapping[str, SidCounters]) -> Iterator[tuple[list[str], list[str]]]:
        """Take over counters by SID prefix; batches of SIDs whose rows stand already, and what
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
            if (key := keys.get(prefix)) is None:
                continue
            if prefix not in steady:
                fields = self._wanted[key] = sonic.fields(c)
                now = self._known.get(key)
                if now == fields:
                    continue
                if not now:
                    self._dirty.add(key)
                    continue
            prefixes.append(prefix)
            lines.append(f"{key.key} {c.packets} {c.octets} {c.errors}\n")
            if len(lines) == diff.BATCH:
                yield prefixes, lines
                prefixes, lines = [], []
        if lines:
            yield prefixes, lines

    def counted(self, prefixes: Iterable[str]) -> None:
        """Note that the counters of these SIDs were written."""
        for prefix in set(prefixes) - self._steady:
            key = self._counter_keys[prefix]
            self._known[key] = self._wanted[key]
            self._steady.add(prefix)

    def states(self, rows: Mapping[RowKey, Fields]) -> None:
        """Make these the rows of what changes by itself; those before that are not among them
        go."""
        for key in self._states.keys() - rows.keys():
            del self._wanted[key]
            self._dirty.add(key)
        for key, fields in rows.items():
            if self._wanted.get(key) != fields:
                self._wanted[key] = fields
                self._dirty.add(key)
        self._states = rows

    def concerns(self, keys: Iterable[str]) -> list[RowKey]:
        """Which of our rows changed keys may be; a row that we could not claim is tried anew. Rows
        of counters are not watched."""
        out = []
        for text in keys:
            for db in diff.DATABASES:
                row = RowKey(db, text)
                if row in self._known or row == NAME_ROW:
                    out.append(row)
                elif row in self._wanted:
                    self._dirty.add(row)
        return out

    def reread(self, rows: Mapping[RowKey, Fields]) -> None:
        """Note how these rows are now."""
        for key, fields in rows.items():
            if key == NAME_ROW:
                self._set_names(fields, {})
            elif key == OID_ROW:
                same = self._told_alike(fields)
                self._known[key] = same | {n: o for n, o in fields.items() if n not in same}
            else:
                shall = self._wanted.get(key)
                self._known[key] = shall if shall == fields and shall else dict(fields)
            self._dirty.add(key)

    def _told_alike(self, fields: Fields) -> dict[str, str]:
        """The identifiers that these fields tell as we hold them: our own texts, not theirs."""
        return {n: o for n, o in self._oids.items() if fields.get(n) == o}

    def changes(self) -> Iterator[tuple[str, list[diff.Change]]]:
        """Batches of changes to make, by database; each is reported to ``done``."""
        dirty, self._dirty = self._dirty, set()
        yield from diff.changes(dirty, self._wanted, self._known)
        for key in dirty.intersection(_OF_CELLS):
            if key in self._wanted and self._known.get(key) == self._wanted[key]:
                self._known[key] = self._wanted[key]

    def done(self, batch: Sequence[diff.Change], refused: Iterable[int]) -> list[RowKey]:
        """Note that a batch was carried out but for what was refused; return what was refused
        for the first time."""
        skipped = set(refused)
        if not skipped and not self.foreign:
            for change in batch:
                diff.done(self._known, change, self._wanted)
            return []
        fresh = []
        for number, (key, operation) in enumerate(batch):
            place = (key, str(operation[2]) if operation[0] == "cell" else "")
            if number not in skipped:
                diff.done(self._known, (key, operation), self._wanted)
                self.foreign.discard(place)
            elif place not in self.foreign:
                self.foreign.add(place)
                fresh.append(key)
        return fresh

    def _set_names(self, names: Fields, remembered: Fields) -> None:
        # A field is ours if it leads to our object: no identifier is given out twice.
        ours = self._told_alike(names)
        ours |= {n: o for n, o in names.items() if n not in ours and o == remembered.get(n)}
        self._known[NAME_ROW] = ours
