"""What shall stand in Redis and what does, as far as it is ours. No I/O: the publisher's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from srv6mgrd.counters import sonic
from srv6mgrd.counters.status import SidCounters
from srv6mgrd.redis import diff
from srv6mgrd.redis.rows import (
    COUNTERS,
    NAME_MAP,
    SID_OID,
    Projection,
    counters_key,
    index_of,
    oid_of,
)
from srv6mgrd.redis.schema import Fields, RowKey

NAME_ROW, OID_ROW = NAME_MAP.key(), SID_OID.key()
_OID = SID_OID.map[1]


class Book:
    """Wanted rows against known ones; ``changes`` are what parts them.

    ``foreign`` holds wanted rows and fields (as key and field) that another writer made.
    """

    def __init__(self) -> None:
        self.foreign: set[tuple[RowKey, str]] = set()
        self._wanted: dict[RowKey, Fields] = {}
        self._known: diff.Known = {}
        self._dirty: set[RowKey] = set()
        self._oids: dict[str, str] = {}
        self._highest = 0
        self._counters: dict[str, SidCounters] = {}
        self._counter_keys: dict[str, RowKey] = {}

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

    def unnamed(self, projection: Projection) -> list[str]:
        """Names that need an object identifier; those of SIDs that are gone are forgotten."""
        names = set(projection.counted.values())
        self._oids = {n: o for n, o in self._oids.items() if n in names}
        return sorted(names - self._oids.keys())

    @property
    def highest_index(self) -> int:
        """Highest index of an identifier that we hold or held."""
        self._highest = max(self._highest, *map(index_of, self._oids.values()), 0)
        return self._highest

    def name(self, names: Sequence[str], first_index: int) -> None:
        """Give these names consecutive object identifiers."""
        self._oids.update((n, oid_of(first_index + i)) for i, n in enumerate(names))
        self._highest = first_index + len(names) - 1

    def absorb(self, projection: Projection) -> None:
        """Make this what is wanted. Every counted SID has an identifier by now."""
        wanted = dict(projection.rows)
        if self._oids:
            wanted[OID_ROW] = wanted[NAME_ROW] = dict(self._oids)
        keys = {p: counters_key(self._oids[n]) for p, n in projection.counted.items()}
        self._counters = {p: c for p, c in self._counters.items() if p in keys}
        for prefix, key in keys.items():
            if (sample := self._counters.get(prefix)) is not None:
                wanted[key] = sonic.fields(sample)
            elif fields := self._known.get(key):
                wanted[key] = fields  # ours from before a restart; the first sample is to come
        self._wanted, self._counter_keys = wanted, keys
        self.foreign = {
            (k, f) for k, f in self.foreign if k in wanted and (not f or f in wanted[k])
        }
        known = self._known
        self._dirty = {k for k in wanted.keys() | known.keys() if wanted.get(k) != known.get(k)}

    def sample(
        self, counters: Mapping[str, SidCounters]
    ) -> Iterator[tuple[str, list[diff.Change]]]:
        """Take over counters by SID prefix; batches of changes as from ``changes``.

        A short cut past the diff: thousands of rows, every second, whose fields are all written.
        """
        before, keys, batch = self._counters, self._counter_keys, list[diff.Change]()
        for prefix, c in counters.items():
            if before.get(prefix) == c:
                continue
            before[prefix] = c
            if (key := keys.get(prefix)) is None:
                continue
            fields = self._wanted[key] = sonic.fields(c)
            now = self._known.get(key)
            if now == fields:
                continue
            words = [word for pair in fields.items() for word in pair]
            batch.append((key, ("put", key.key, 0 if now else 1, words, [])))
            if len(batch) == diff.BATCH:
                yield COUNTERS.database, batch
                batch = []
        if batch:
            yield COUNTERS.database, batch

    def concerns(self, keys: Iterable[str]) -> list[RowKey]:
        """Which of our rows changed keys may be; a row that we could not claim is tried anew."""
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
            else:
                self._known[key] = dict(fields)
            self._dirty.add(key)

    def changes(self) -> Iterator[tuple[str, list[diff.Change]]]:
        """Batches of changes to make, by database; each is reported to ``done``."""
        dirty, self._dirty = self._dirty, set()
        return diff.changes(dirty, self._wanted, self._known)

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
        ours = {n: o for n, o in names.items() if o in (remembered.get(n), self._oids.get(n))}
        self._known[NAME_ROW] = ours
