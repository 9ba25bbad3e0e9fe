"""Readers of the store, in any process. ``counters.store_file`` has its layout."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, ItemsView, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from srv6mgrd.counters import lease
from srv6mgrd.counters.decoded import Decoded
from srv6mgrd.counters.fence import fence
from srv6mgrd.counters.store_file import (
    COUNTERS,
    DEFAULT_PATH,
    RENEWED,
    SAMPLE,
    SAMPLED_AT,
    StoreError,
    StoreMap,
)
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Records:
    """Counter and cleared records in slot order; ``slots`` is the slot of each SID by prefix;
    ``at`` (ns) is when the sample was taken."""

    generation: int
    sample: int
    at: int
    slots: Mapping[str, int]
    counters: bytes
    cleared: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All records as they are stored, in slot order. ``current``: a writer vouches for the
    statuses; ``at`` (ns) is when the counters were sampled, 0: not yet."""

    objects: bytes
    counters: bytes
    at: int
    current: bool


def since(counters: bytes, cleared: bytes, slot: int) -> SidCounters:
    """One record, since it was cleared."""
    at = slot * COUNTERS.size
    return _since(COUNTERS.unpack_from(counters, at), COUNTERS.unpack_from(cleared, at))


def _since(total: tuple[int, ...], cleared: tuple[int, ...]) -> SidCounters:
    """What was counted since it was cleared. A SID that began
    to count after that was not meant."""
    packets, octets, errors, began = total
    if not cleared[3] or began > cleared[3]:
        return SidCounters(*total)
    return SidCounters(packets - cleared[0], octets - cleared[1], errors - cleared[2], cleared[3])


class Counted(Mapping[str, SidCounters]):
    """Counters by prefix, each made from its record when it is asked for: who reads one SID does
    not wait for those of a hundred thousand."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def __getitem__(self, prefix: str) -> SidCounters:
        records = self._records
        return since(records.counters, records.cleared, records.slots[prefix])

    def __iter__(self) -> Iterator[str]:
        return iter(self._records.slots)

    def __len__(self) -> int:
        return len(self._records.slots)

    def items(self) -> ItemsView[str, SidCounters]:
        """Those of all SIDs, made at once. Records that are alike share one."""
        records = self._records
        totals = list(COUNTERS.iter_unpack(records.counters))
        cleared = list(COUNTERS.iter_unpack(records.cleared))
        known: dict[tuple[int, ...], SidCounters] = {}
        found = {}
        for prefix, slot in records.slots.items():
            alike = totals[slot] + cleared[slot]
            counted = known.get(alike)
            if counted is None:
                counted = known[alike] = _since(totals[slot], cleared[slot])
            found[prefix] = counted
        return found.items()


class StoreReader:
    """Reads a store that another process writes; follows it through replacement and restart.

    Every method raises StoreError while there is no store.
    """

    def __init__(self, path: Path = DEFAULT_PATH) -> None:
        self._path = path
        self._fence = fence()
        self._map: StoreMap | None = None
        self._decoded = Decoded()
        self._records: Records | None = None

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
            self._map = None

    @property
    def generation(self) -> int:
        """Moves when an object comes, goes or changes its status, and when the lease expires or
        is renewed after that."""
        return self._read(lambda m: m.generation)

    @property
    def sample(self) -> tuple[int, int]:
        """Number of the last counter sample, and when it was taken (ns)."""
        return self._read(lambda m: (m.words[SAMPLE], m.words[SAMPLED_AT]))

    def look(self) -> tuple[int, int] | None:
        """Generation and number of the last sample; None while they are written. Waits for
        nobody."""
        m = self._open()
        before = m.lock
        found = m.generation, m.words[SAMPLE]
        return found if m.lock == before and before % 2 == 0 else None

    def objects(self) -> dict[ObjectRef, ObjectStatus]:
        """All objects with their status, in the order of their slots."""
        records, renewed = self._read(
            lambda m: (m.objects(), m.words[RENEWED] if m.expired else None)
        )
        found = self._decoded.objects(records)
        return found if renewed is None else lease.expired(found, renewed)

    def differences(self, before: Mapping[ObjectRef, ObjectStatus]) -> tuple[ObjectRef, ...] | None:
        """In which objects the last ``objects`` differ from those of ``before``, the one before it;
        None: it is not known."""
        return self._decoded.differences(before)

    def counters(self) -> Mapping[str, SidCounters]:
        """Counters of every SID, by prefix, since they were cleared."""
        self._records = self.records(self._records)
        return Counted(self._records)

    def records(self, before: Records | None = None) -> Records:
        """The counters of all SIDs as they are stored, for readers at scale. ``slots`` is the
        very mapping of ``before`` while it is the same."""

        def read(m: StoreMap) -> Records:
            generation = m.generation
            if before is not None and before.generation == generation:
                slots = before.slots
            else:
                slots = m.slots()
                if before is not None and slots == before.slots:
                    slots = before.slots
            size = m.used * COUNTERS.size
            return Records(
                generation,
                m.words[SAMPLE],
                m.words[SAMPLED_AT],
                slots,
                m.bytes[m.counters_at : m.counters_at + size],
                m.bytes[m.cleared_at : m.cleared_at + size],
            )

        return self._read(read)

    def snapshot(self) -> Snapshot:
        """All of it at one moment, undecoded: 450 bytes for each object."""

        def read(m: StoreMap) -> Snapshot:
            counters = m.bytes[m.counters_at : m.counters_at + m.used * COUNTERS.size]
            return Snapshot(m.objects(), counters, m.words[SAMPLED_AT], not m.expired)

        return self._read(read)

    def _read(self, read: Callable[[StoreMap], T]) -> T:
        stuck, deadline = -1, 0.0
        while True:
            m = self._open()
            before = self._lock(m)
            if before != stuck:
                # It writes: only who says nothing new for a second is dead.
                stuck, deadline = before, time.monotonic() + 1
            if before % 2 == 0:
                try:
                    value = read(m)
                except (KeyError, ValueError):  # torn; the lock shows it
                    if self._lock(m) == before:
                        raise
                else:
                    if self._lock(m) == before:
                        return value
            if time.monotonic() > deadline:
                raise StoreError(f"{self._path}: its writer died inside; restart srv6mgrd")
            os.sched_yield()

    def _lock(self, m: StoreMap) -> int:
        """Read behind all that was read before, and before all that is read later."""
        self._fence()
        found = m.lock
        self._fence()
        return found

    def _open(self) -> StoreMap:
        if self._map is not None and not self._map.replaced:
            return self._map
        self.close()
        try:
            self._map = StoreMap(self._path, writable=False)
        except FileNotFoundError:
            raise StoreError(f"{self._path}: absent; is srv6mgrd running?") from None
        return self._map
