"""The one writer of the store. ``counters.store_file`` has its layout."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from srv6mgrd.counters.fence import fence
from srv6mgrd.counters.store_file import (
    BASE,
    COUNTERS,
    DEFAULT_PATH,
    GENERATION,
    LEASE,
    LOCK,
    OBJECT,
    RENEWED,
    REPLACED,
    SAMPLE,
    SAMPLED_AT,
    USED,
    StoreError,
    StoreMap,
    create,
    packed,
)
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.progress import state_progress
from srv6mgrd.storage import Problems
from srv6mgrd.threads import one_thread

_REMEDY = "readers see neither status nor counters until there is room"


@one_thread(but=("renew_lease",))
class StoreWriter:
    """The one writer. An existing store is taken over with all it holds."""

    def __init__(
        self, path: Path = DEFAULT_PATH, capacity: int = 1024, problems: Problems | None = None
    ) -> None:
        """Where the file system has no room for it the store is in memory, unseen, until it has."""
        self._path = path
        self._fence = fence()
        self._problems = problems or Problems()
        self._problems.retry(path.name, self.publish)
        # Whether no file has it.
        self._is_private = False
        # The map is replaced while another thread renews the lease.
        self._replacing = threading.Lock()
        self._slots: dict[ObjectRef, int] = {}
        self._free: list[int] = []
        # What the store is known to hold: these very objects need no write.
        self._statuses: Mapping[ObjectRef, ObjectStatus] = {}
        self._map = self._taken_over() or self._made(capacity, None)
        if self._map.lock % 2:  # the writer before died inside
            self._write_lock(self._map.lock + 1)
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

    def renew_lease(self, seconds: float) -> None:
        """Statuses are current for so long from now. May be called in any thread."""
        with self._replacing:
            self._map.words[RENEWED] = time.time_ns()
            self._map.words[LEASE] = time.monotonic_ns() + int(seconds * 1e9)

    def statuses(self) -> Mapping[ObjectRef, ObjectStatus]:
        """Those of the last ``set_statuses``, be it by the writer before."""
        return self._statuses

    def counters(self) -> dict[str, SidCounters]:
        """Counters of all SIDs by prefix."""
        at, size = self._map.counters_at, COUNTERS.size
        return {
            ref.name: SidCounters(*COUNTERS.unpack_from(self._map.bytes, at + slot * size))
            for ref, slot in self._slots.items()
            if ref.kind is Kind.SID
        }

    def bases(self) -> dict[str, tuple[int, int, int]]:
        """Base of every SID by prefix."""
        at, size = self._map.bases_at, BASE.size
        return {
            ref.name: BASE.unpack_from(self._map.bytes, at + slot * size)
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
            for ref, status in state_progress.each(statuses.items()):
                if before.get(ref) is not status:
                    self._put(self._slots[ref], packed(ref, status))
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
        moved = self._with(m.bases_at, BASE, bases.items()) if bases else b""
        reported = (
            (p, (c.packets, c.octets, c.errors, c.discontinuity)) for p, c in counters.items()
        )
        totals = self._with(m.counters_at, COUNTERS, reported) if counters else b""
        with self._writing(sampled_at=sampled_at):
            m.bytes[m.bases_at : m.bases_at + len(moved)] = moved
            m.bytes[m.counters_at : m.counters_at + len(totals)] = totals

    def _with(
        self, at: int, record: struct.Struct, values: Iterable[tuple[str, tuple[int, ...]]]
    ) -> bytearray:
        """The records of all SIDs of the store, with these among them."""
        made = bytearray(self._map.bytes[at : at + self._used * record.size])
        for prefix, numbers in state_progress.each(values):
            slot = self._slots.get(ObjectRef(Kind.SID, prefix))
            if slot is not None:
                record.pack_into(made, slot * record.size, *numbers)
        return made

    def clear_counters(self, prefixes: Iterable[str], now: int) -> None:
        """From now on (ns) readers see these SIDs count from 0."""
        with self._writing(sampled_at=self._map.words[SAMPLED_AT] or now):
            m = self._map
            for prefix in prefixes:
                slot = self._slots.get(ObjectRef(Kind.SID, prefix))
                if slot is not None:
                    at = m.counters_at + slot * COUNTERS.size
                    packets, octets, errors, _ = COUNTERS.unpack_from(m.bytes, at)
                    at = m.cleared_at + slot * COUNTERS.size
                    COUNTERS.pack_into(m.bytes, at, packets, octets, errors, now)

    def _clear(self, slot: int) -> None:
        none = bytes(COUNTERS.size)
        self._put(slot, bytes(OBJECT.size), none, bytes(BASE.size), none)

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
            (m.objects_at, OBJECT.size, record),
            (m.counters_at, COUNTERS.size, counters),
            (m.bases_at, BASE.size, base),
            (m.cleared_at, COUNTERS.size, cleared),
        ):
            if data:
                m.bytes[at + slot * size : at + (slot + 1) * size] = data

    def _write_lock(self, value: int) -> None:
        """What is written before is visible before, what is written after is visible after."""
        self._fence()
        self._map.words[LOCK] = value
        self._fence()

    @contextmanager
    def _writing(self, *, objects: bool = False, sampled_at: int = 0) -> Iterator[None]:
        lock = self._map.lock
        self._write_lock(lock + 1)
        try:
            yield
        finally:
            words = self._map.words
            words[GENERATION] += objects
            if sampled_at:
                words[SAMPLE] += 1
                words[SAMPLED_AT] = sampled_at
            words[USED] = self._used
            self._write_lock(lock + 2)

    def _reserve(self, objects: int) -> None:
        capacity = self._map.capacity
        while capacity < objects:
            capacity *= 2
        if capacity > self._map.capacity:
            self._replace(capacity)

    def publish(self) -> None:
        """Bring the store into its file, should it not be there."""
        if self._is_private:
            self._replace(self._map.capacity)

    def _replace(self, capacity: int) -> None:
        old = self._map
        made = self._made(capacity, old)
        with self._replacing:
            self._map = made
            old.words[USED] |= REPLACED
            old.close()

    def _taken_over(self) -> StoreMap | None:
        """The store of the writer before; None where there is none that can be written."""
        try:
            return StoreMap(self._path, writable=True)
        except (OSError, StoreError):
            return None

    def _made(self, capacity: int, old: StoreMap | None) -> StoreMap:
        """A new store, in its file if possible."""
        try:
            create(self._path, capacity, old)
            made = StoreMap(self._path, writable=True)
        except (OSError, StoreError) as error:
            if not self._is_private:
                # Readers are better off without than with one that nobody writes.
                with suppress(OSError):
                    self._path.unlink()
            self._is_private = True
            cause = error.strerror if isinstance(error, OSError) else error
            self._problems.report(self._path.name, f"it can't be written ({cause}); {_REMEDY}")
            return StoreMap.private(capacity, old)
        self._is_private = False
        self._problems.resolve(self._path.name)
        return made
