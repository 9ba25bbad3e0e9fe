"""The store: one memory-mapped file that srv6mgrd writes and any process reads without asking it.

Layout, little endian. Header (one page), then ``capacity`` object records, as many counter, base
and cleared records; object ``i`` owns record ``i`` of each.

    header   magic 8s, layout u32, capacity u32, lock u64, generation u64, sample u64,
             sampled_at u64 (ns), used u32, replaced u32
    object   kind u8, status u8, name_length u8, detail_length u8, reason_length u16, pad,
             since u64, last_repair u64, repairs u64, name 64s, detail 104s, reason 216s
    counters packets u64, octets u64, errors u64, discontinuity u64 (ns)
    base     packets u64, octets u64, errors u64: what earlier routes of the SID counted; the
             writer's own, written before the counters so that a crash in between loses nothing
    cleared  packets u64, octets u64, errors u64, at u64 (ns): the counters when an operator
             cleared them; readers subtract it, so that the counters themselves never go back

``lock`` is a sequence lock: odd while the writer is inside; a reader that saw it odd or changed
reads again. ``generation`` moves with every change of objects or status, ``sample`` with every
set of counters. A file that is too small is replaced by a larger one under the same name and
marked ``replaced``, upon which readers open it anew.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from srv6mgrd.counters.status import (
    REASON_LENGTH,
    InstallStatus,
    Kind,
    ObjectRef,
    ObjectStatus,
    SidCounters,
    clipped,
)

DEFAULT_PATH = Path("/run/srv6mgr/store")

_MAGIC = b"srv6mgr\0"
_LAYOUT = 3
_PAGE = 4096
_HEADER = struct.Struct("<8sIIQQQQII")
# The header as u64 words, each read and written in one piece (struct goes byte by byte, zeros
# first). ``used`` and ``replaced`` share the last one.
_LOCK, _GENERATION, _SAMPLE, _SAMPLED_AT, _USED = range(2, 7)
_REPLACED = 1 << 32
# Room for two SIDs of any length, each with its family.
_DETAIL_LENGTH = 104
_OBJECT = struct.Struct(f"<BBBBH2xQQQ64s{_DETAIL_LENGTH}s{REASON_LENGTH}s")
# The same, but kind and name alone.
_NAME = struct.Struct(f"<BxB29x64s{_DETAIL_LENGTH + REASON_LENGTH}x")
_COUNTERS = struct.Struct("<QQQQ")
_BASE = struct.Struct("<QQQ")

# What an enum's call looks up anew each time.
_KIND = {kind.value: kind for kind in Kind}
_STATUS = {status.value: status for status in InstallStatus}

T = TypeVar("T")


class StoreError(Exception):
    """The store can't be read: absent, foreign or of another layout."""


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


def since(counters: bytes, cleared: bytes, slot: int) -> SidCounters:
    """One record, since it was cleared."""
    at = slot * _COUNTERS.size
    return _since(_COUNTERS.unpack_from(counters, at), _COUNTERS.unpack_from(cleared, at))


class _Map:
    """A mapped store file; knows where things are."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        with path.open("r+b" if writable else "rb") as file:
            length = os.fstat(file.fileno()).st_size
            header = file.read(_HEADER.size).ljust(_HEADER.size, b"\0")
            magic, layout, self.capacity, *_ = _HEADER.unpack(header)
            places = _places(self.capacity)
            self.objects_at, self.counters_at, self.bases_at, self.cleared_at, size = places
            if (magic, layout) != (_MAGIC, _LAYOUT) or length < size:
                raise StoreError(f"{path}: not a store of layout {_LAYOUT}; restart srv6mgrd")
            self.bytes = mmap.mmap(file.fileno(), 0, access=access)
        self.words = memoryview(self.bytes)[:_PAGE].cast("Q")

    def close(self) -> None:
        self.words.release()
        self.bytes.close()

    @property
    def lock(self) -> int:
        return self.words[_LOCK]

    @property
    def used(self) -> int:
        return self.words[_USED] & (_REPLACED - 1)

    @property
    def replaced(self) -> bool:
        return bool(self.words[_USED] & _REPLACED)

    def slots(self) -> dict[str, int]:
        """Slot of each SID by prefix."""
        records = self.bytes[self.objects_at : self.objects_at + self.used * _OBJECT.size]
        return {
            name[:length].decode(): slot
            for slot, (kind, length, name) in enumerate(_NAME.iter_unpack(records))
            if kind == Kind.SID
        }

    def object(self, slot: int) -> tuple[ObjectRef, ObjectStatus] | None:
        (
            kind,
            status,
            name_len,
            detail_len,
            reason_len,
            since,
            repair,
            repairs,
            name,
            detail,
            why,
        ) = _OBJECT.unpack_from(self.bytes, self.objects_at + slot * _OBJECT.size)
        if kind == 0:
            return None
        return (
            ObjectRef(_KIND[kind], name[:name_len].decode()),
            ObjectStatus(
                _STATUS[status],
                why[:reason_len].decode() if reason_len else "",
                since,
                repair,
                repairs,
                detail[:detail_len].decode() if detail_len else "",
            ),
        )


def _places(capacity: int) -> tuple[int, int, int, int, int]:
    """Where objects, counters, bases and cleared begin, and where the file ends."""
    counters_at = _PAGE + capacity * _OBJECT.size
    bases_at = counters_at + capacity * _COUNTERS.size
    cleared_at = bases_at + capacity * _BASE.size
    return _PAGE, counters_at, bases_at, cleared_at, cleared_at + capacity * _COUNTERS.size


def _create(path: Path, capacity: int, old: _Map | None = None) -> None:
    """Publish a store atomically: an empty one, or one with all that ``old`` holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    objects_at, counters_at, bases_at, cleared_at, size = _places(capacity)
    # The generation starts at the clock, so that it differs from that of a store before.
    generation, sample, sampled_at, used = time.time_ns(), 0, 0, 0
    with fresh.open("wb") as file:
        file.truncate(size)
        if old is not None:
            sample, sampled_at, used = old.words[_SAMPLE], old.words[_SAMPLED_AT], old.used
            for source, target, each in (
                (old.objects_at, objects_at, _OBJECT.size),
                (old.counters_at, counters_at, _COUNTERS.size),
                (old.bases_at, bases_at, _BASE.size),
                (old.cleared_at, cleared_at, _COUNTERS.size),
            ):
                file.seek(target)
                file.write(old.bytes[source : source + used * each])
        file.seek(0)
        file.write(
            _HEADER.pack(_MAGIC, _LAYOUT, capacity, 0, generation, sample, sampled_at, used, 0)
        )
    fresh.chmod(0o644)
    fresh.rename(path)


class StoreWriter:
    """The one writer. An existing store is taken over with all it holds."""

    def __init__(self, path: Path = DEFAULT_PATH, capacity: int = 1024) -> None:
        self._path = path
        self._slots: dict[ObjectRef, int] = {}
        self._free: list[int] = []
        # What the store is known to hold: these very objects need no write.
        self._statuses: Mapping[ObjectRef, ObjectStatus] = {}
        try:
            self._map = _Map(path, writable=True)
            if self._map.lock % 2:  # the writer before died inside
                self._write_lock(self._map.lock + 1)
        except (FileNotFoundError, StoreError):
            _create(path, capacity)
            self._map = _Map(path, writable=True)
        self._used = self._map.used
        statuses: dict[ObjectRef, ObjectStatus] = {}
        alike: dict[ObjectStatus, ObjectStatus] = {}
        for slot in range(self._used):
            try:
                entry = self._map.object(slot)
            except (KeyError, ValueError):  # torn by the death of the writer before
                entry = None
                self._clear(slot)
            if entry is None:
                self._free.append(slot)
            else:
                ref, status = entry
                self._slots[ref], statuses[ref] = slot, alike.setdefault(status, status)
        self._statuses = statuses

    def close(self) -> None:
        self._map.close()

    def statuses(self) -> Mapping[ObjectRef, ObjectStatus]:
        """Those of the last ``set_statuses``, be it by the writer before."""
        return self._statuses

    def counters(self) -> dict[str, SidCounters]:
        """Counters of all SIDs by prefix."""
        at, size = self._map.counters_at, _COUNTERS.size
        return {
            ref.name: SidCounters(*_COUNTERS.unpack_from(self._map.bytes, at + slot * size))
            for ref, slot in self._slots.items()
            if ref.kind is Kind.SID
        }

    def bases(self) -> dict[str, tuple[int, int, int]]:
        """Base of every SID by prefix."""
        at, size = self._map.bases_at, _BASE.size
        return {
            ref.name: _BASE.unpack_from(self._map.bytes, at + slot * size)
            for ref, slot in self._slots.items()
            if ref.kind is Kind.SID
        }

    def set_statuses(self, statuses: Mapping[ObjectRef, ObjectStatus]) -> None:
        """Make these the objects of the store: new ones added, absent ones removed. The mapping
        is kept, not copied."""
        gone = [ref for ref in self._slots if ref not in statuses]
        new = [ref for ref in statuses if ref not in self._slots]
        self._reserve(len(self._slots) - len(gone) + len(new))
        with self._writing(objects=True):
            for ref in gone:
                slot = self._slots.pop(ref)
                self._free.append(slot)
                self._clear(slot)
            for ref in new:
                if self._free:
                    self._slots[ref] = self._free.pop()
                else:
                    self._slots[ref] = self._used
                    self._used += 1
            before, self._statuses = self._statuses, {}
            for ref, status in statuses.items():
                if before.get(ref) is not status:
                    self._put(self._slots[ref], _pack(ref, status))
        self._statuses = statuses

    def set_counters(
        self,
        counters: Mapping[str, SidCounters],
        bases: Mapping[str, tuple[int, int, int]],
        sampled_at: int,
    ) -> None:
        """Store a sample by SID prefix, ``bases`` those that it moved. SIDs that the store
        doesn't hold are left out."""
        m = self._map
        # Made aside and put in place by one copy: a hundred thousand records take 0.2 s to make,
        # for which no reader could read.
        moved = self._with(m.bases_at, _BASE, bases.items()) if bases else b""
        told = ((p, (c.packets, c.octets, c.errors, c.discontinuity)) for p, c in counters.items())
        totals = self._with(m.counters_at, _COUNTERS, told) if counters else b""
        with self._writing(sampled_at=sampled_at):
            m.bytes[m.bases_at : m.bases_at + len(moved)] = moved
            m.bytes[m.counters_at : m.counters_at + len(totals)] = totals

    def _with(
        self, at: int, record: struct.Struct, values: Iterable[tuple[str, tuple[int, ...]]]
    ) -> bytearray:
        """The records of all SIDs that stand there, with these among them."""
        made = bytearray(self._map.bytes[at : at + self._used * record.size])
        for prefix, numbers in values:
            slot = self._slots.get(ObjectRef(Kind.SID, prefix))
            if slot is not None:
                record.pack_into(made, slot * record.size, *numbers)
        return made

    def clear_counters(self, prefixes: Iterable[str], now: int) -> None:
        """From now on (ns) readers see these SIDs count from 0."""
        with self._writing(sampled_at=self._map.words[_SAMPLED_AT] or now):
            m = self._map
            for prefix in prefixes:
                slot = self._slots.get(ObjectRef(Kind.SID, prefix))
                if slot is not None:
                    at = m.counters_at + slot * _COUNTERS.size
                    packets, octets, errors, _ = _COUNTERS.unpack_from(m.bytes, at)
                    at = m.cleared_at + slot * _COUNTERS.size
                    _COUNTERS.pack_into(m.bytes, at, packets, octets, errors, now)

    def _clear(self, slot: int) -> None:
        none = bytes(_COUNTERS.size)
        self._put(slot, bytes(_OBJECT.size), none, bytes(_BASE.size), none)

    def _put(
        self,
        slot: int,
        record: bytes,
        counters: bytes = b"",
        base: bytes = b"",
        cleared: bytes = b"",
    ) -> None:
        m = self._map
        for at, size, data in (
            (m.objects_at, _OBJECT.size, record),
            (m.counters_at, _COUNTERS.size, counters),
            (m.bases_at, _BASE.size, base),
            (m.cleared_at, _COUNTERS.size, cleared),
        ):
            if data:
                m.bytes[at + slot * size : at + (slot + 1) * size] = data

    def _write_lock(self, value: int) -> None:
        self._map.words[_LOCK] = value

    @contextmanager
    def _writing(self, *, objects: bool = False, sampled_at: int = 0) -> Iterator[None]:
        lock = self._map.lock
        self._write_lock(lock + 1)
        try:
            yield
        finally:
            words = self._map.words
            words[_GENERATION] += objects
            if sampled_at:
                words[_SAMPLE] += 1
                words[_SAMPLED_AT] = sampled_at
            words[_USED] = self._used
            self._write_lock(lock + 2)

    def _reserve(self, objects: int) -> None:
        if objects <= self._map.capacity:
            return
        old, capacity = self._map, self._map.capacity
        while capacity < objects:
            capacity *= 2
        _create(self._path, capacity, old)
        self._map = _Map(self._path, writable=True)
        old.words[_USED] |= _REPLACED
        old.close()


def _pack(ref: ObjectRef, s: ObjectStatus) -> bytes:
    name, detail, reason = ref.name.encode(), s.detail.encode(), clipped(s.reason).encode()
    return _OBJECT.pack(
        ref.kind,
        s.status,
        len(name),
        len(detail),
        len(reason),
        s.since,
        s.last_repair,
        s.repairs,
        name,
        detail,
        reason,
    )


def _since(total: tuple[int, ...], cleared: tuple[int, ...]) -> SidCounters:
    """What was counted since it was cleared. A SID that began
    to count after that was not meant."""
    packets, octets, errors, began = total
    if not cleared[3] or began > cleared[3]:
        return SidCounters(*total)
    return SidCounters(packets - cleared[0], octets - cleared[1], errors - cleared[2], cleared[3])


class StoreReader:
    """Reads a store that another process writes; follows it through replacement and restart.

    Every method raises StoreError while there is no store.
    """

    def __init__(self, path: Path = DEFAULT_PATH) -> None:
        self._path = path
        self._map: _Map | None = None

    def close(self) -> None:
        if self._map is not None:
            self._map.close()
            self._map = None

    @property
    def generation(self) -> int:
        """Moves when an object comes, goes or changes its status."""
        return self._read(lambda m: m.words[_GENERATION])

    @property
    def sample(self) -> tuple[int, int]:
        """Number of the last counter sample, and when it was taken (ns)."""
        return self._read(lambda m: (m.words[_SAMPLE], m.words[_SAMPLED_AT]))

    def objects(self) -> dict[ObjectRef, ObjectStatus]:
        """All objects with their status, in the order of their slots."""

        def read(m: _Map) -> dict[ObjectRef, ObjectStatus]:
            entries = (m.object(slot) for slot in range(m.used))
            return dict(e for e in entries if e is not None)

        return self._read(read)

    def counters(self) -> dict[str, SidCounters]:
        """Counters of every SID, by prefix, since they were cleared."""

        def read(m: _Map) -> dict[str, SidCounters]:
            out = {}
            for slot in range(m.used):
                entry = m.object(slot)
                if entry is not None and entry[0].kind is Kind.SID:
                    where = m.counters_at + slot * _COUNTERS.size
                    total = _COUNTERS.unpack_from(m.bytes, where)
                    where = m.cleared_at + slot * _COUNTERS.size
                    out[entry[0].name] = _since(total, _COUNTERS.unpack_from(m.bytes, where))
            return out

        return self._read(read)

    def records(self, before: Records | None = None) -> Records:
        """The counters of all SIDs as they are stored, for readers at scale. ``slots`` is the
        very mapping of ``before`` while it is the same."""

        def read(m: _Map) -> Records:
            generation = m.words[_GENERATION]
            if before is not None and before.generation == generation:
                slots = before.slots
            else:
                slots = m.slots()
                if before is not None and slots == before.slots:
                    slots = before.slots
            size = m.used * _COUNTERS.size
            return Records(
                generation,
                m.words[_SAMPLE],
                m.words[_SAMPLED_AT],
                slots,
                m.bytes[m.counters_at : m.counters_at + size],
                m.bytes[m.cleared_at : m.cleared_at + size],
            )

        return self._read(read)

    def _read(self, read: Callable[[_Map], T]) -> T:
        stuck, deadline = -1, 0.0
        while True:
            m = self._open()
            before = m.lock
            if before != stuck:
                # It writes: only who says nothing new for a second is dead.
                stuck, deadline = before, time.monotonic() + 1
            if before % 2 == 0:
                try:
                    value = read(m)
                except (KeyError, ValueError):  # torn; the lock tells
                    if m.lock == before:
                        raise
                else:
                    if m.lock == before:
                        return value
            if time.monotonic() > deadline:
                raise StoreError(f"{self._path}: its writer died inside; restart srv6mgrd")
            os.sched_yield()

    def _open(self) -> _Map:
        if self._map is not None and not self._map.replaced:
            return self._map
        self.close()
        try:
            self._map = _Map(self._path, writable=False)
        except FileNotFoundError:
            raise StoreError(f"{self._path}: absent; is srv6mgrd running?") from None
        return self._map
