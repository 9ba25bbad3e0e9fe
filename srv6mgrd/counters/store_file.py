"""The store: one memory-mapped file that srv6mgrd writes and any process reads without asking it.

Layout, little endian. Header (one page), then ``capacity`` object records, as many counter, base
and cleared records; object ``i`` owns record ``i`` of each.

    header   magic 8s, layout u32, capacity u32, lock u64, generation u64, sample u64,
             sampled_at u64 (ns), used u32, replaced u32, lease u64 (monotonic ns), renewed u64 (ns)
    object   kind u8, status u8, name_length u8, detail_length u8, reason_length u16, pad,
             since u64, last_repair u64, repairs u64, name 64s, detail 104s, reason 216s
    counters packets u64, octets u64, errors u64, discontinuity u64 (ns)
    base     packets u64, octets u64, errors u64: what earlier routes of the SID counted; the
             writer's own, written before the counters so that a crash in between loses nothing
    cleared  packets u64, octets u64, errors u64, at u64 (ns): the counters when an operator
             cleared them; readers subtract it, so that the counters themselves never go back

``lock`` is a sequence lock: odd while the writer is inside; a reader that saw it odd or changed
reads again. F is a full barrier (``counters.fence``), since arm64 reorders stores with stores and
loads with loads:

    writer   lock = n + 1; F; data; F; lock = n + 2
    reader   F; a = lock; F; data; F; b = lock; what was read counts if a == b and a is even

A reader that accepts reads no mix. Say that it has read a datum of the write n -> n + 2, and a <=
n. That datum was stored after the writer's first F, so n + 1 was stored to ``lock`` before it;
the reader loads ``lock`` again after its last F, so b is n + 1 or later, and it does not accept.
Say that it has read a datum from before that write, and a >= n + 2. n + 2 was stored after the
writer's second F, hence after the datum, and the reader loads data after its own second F, so it
loads the new datum. Both steps need that a store becomes visible to all others at once (multi-
copy atomicity: Armv8, RISC-V, x86; with full barriers Power, too). The reader's first F orders
what it read before: who has seen a new ``generation``, or a lease that was renewed after a write,
reads that write.

``generation`` moves with every change of objects or status, ``sample`` with every
set of counters. A file that is too small is replaced by a larger one under the same name and
marked ``replaced``, upon which readers open it again.

``lease`` is when the statuses stop being current unless the writer renews it, 0 for no lease (a
writer that did not report yet, or an older one); ``renewed`` is when it last did. From then on
readers see every status as unknown, and ``generation`` moves.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from srv6mgrd.model.status import (
    REASON_LENGTH,
    InstallStatus,
    Kind,
    ObjectRef,
    ObjectStatus,
    clipped,
)

DEFAULT_PATH = Path("/run/srv6mgr/store")

MAGIC = b"srv6mgr\0"
LAYOUT = 3
PAGE = 4096
HEADER = struct.Struct("<8sIIQQQQIIQQ")
# The header as u64 words, each read and written in one piece (struct goes byte by byte, zeros
# first). ``used`` and ``replaced`` share the last one.
LOCK, GENERATION, SAMPLE, SAMPLED_AT, USED, LEASE, RENEWED = range(2, 9)
REPLACED = 1 << 32
# Set in the generation that readers see once the lease has expired.
EXPIRED = 1 << 63
# Room for two SIDs of any length, each with its family.
DETAIL_LENGTH = 104
OBJECT = struct.Struct(f"<BBBBH2xQQQ64s{DETAIL_LENGTH}s{REASON_LENGTH}s")
# The same, but kind and name alone.
NAME = struct.Struct(f"<BxB29x64s{DETAIL_LENGTH + REASON_LENGTH}x")
COUNTERS = struct.Struct("<QQQQ")
BASE = struct.Struct("<QQQ")

Entry = tuple[ObjectRef, ObjectStatus]

# What an enum's call looks up again each time.
KIND = {kind.value: kind for kind in Kind}
STATUS = {status.value: status for status in InstallStatus}


class StoreError(Exception):
    """The store can't be read: absent, foreign or of another layout."""


class Places(NamedTuple):
    """Where objects, counters, bases and cleared begin, and where the file ends."""

    objects_at: int
    counters_at: int
    bases_at: int
    cleared_at: int
    size: int


def places(capacity: int) -> Places:
    """Those of a store for so many objects."""
    counters_at = PAGE + capacity * OBJECT.size
    bases_at = counters_at + capacity * COUNTERS.size
    cleared_at = bases_at + capacity * BASE.size
    return Places(PAGE, counters_at, bases_at, cleared_at, cleared_at + capacity * COUNTERS.size)


class StoreMap:
    """A mapped store; knows where things are."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        """Raises StoreError; OSError when the file is out of reach or, to be written, the file
        system has no room for all of it: to touch a page that can't be had is death (SIGBUS)."""
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        with path.open("r+b" if writable else "rb") as file:
            length = os.fstat(file.fileno()).st_size
            header = file.read(HEADER.size).ljust(HEADER.size, b"\0")
            magic, layout, capacity, _, _, _, _, used, *_ = HEADER.unpack(header)
            size = self._place(capacity)
            if (magic, layout) != (MAGIC, LAYOUT) or length < size or used > capacity:
                raise StoreError(f"{path}: not a store of layout {LAYOUT}; restart srv6mgrd")
            if writable:
                os.posix_fallocate(file.fileno(), 0, length)
            self.bytes = mmap.mmap(file.fileno(), 0, access=access)
        self.words = memoryview(self.bytes)[:PAGE].cast("Q")

    @classmethod
    def private(cls, capacity: int, old: StoreMap | None) -> StoreMap:
        """One that is in no file, with all that ``old`` holds."""
        made = cls.__new__(cls)
        made._place(capacity)
        made.bytes = mmap.mmap(-1, places(capacity).size)
        for at, content in _contents(capacity, old):
            made.bytes[at : at + len(content)] = content
        made.words = memoryview(made.bytes)[:PAGE].cast("Q")
        return made

    def _place(self, capacity: int) -> int:
        """Where everything is; the size of the file."""
        at = places(capacity)
        self.capacity = capacity
        self.objects_at, self.counters_at = at.objects_at, at.counters_at
        self.bases_at, self.cleared_at = at.bases_at, at.cleared_at
        return at.size

    def close(self) -> None:
        self.words.release()
        self.bytes.close()

    @property
    def lock(self) -> int:
        return self.words[LOCK]

    @property
    def used(self) -> int:
        return self.words[USED] & (REPLACED - 1)

    @property
    def replaced(self) -> bool:
        return bool(self.words[USED] & REPLACED)

    @property
    def generation(self) -> int:
        """As readers see it."""
        return self.words[GENERATION] | (EXPIRED if self.expired else 0)

    @property
    def expired(self) -> bool:
        """Whether the writer no longer renews its lease."""
        return 0 < self.words[LEASE] < time.monotonic_ns()

    def slots(self) -> dict[str, int]:
        """Slot of each SID by prefix."""
        return {
            name[:length].decode(): slot
            for slot, (kind, length, name) in enumerate(NAME.iter_unpack(self.objects()))
            if kind == Kind.SID
        }

    def object(self, slot: int) -> Entry | None:
        return unpacked(self.bytes, self.objects_at + slot * OBJECT.size)

    def objects(self) -> bytes:
        """The records of all objects, to be decoded elsewhere."""
        return self.bytes[self.objects_at : self.objects_at + self.used * OBJECT.size]


def _contents(capacity: int, old: StoreMap | None) -> Iterator[tuple[int, bytes]]:
    """What a store of this capacity begins with, and where: nothing, or all that ``old`` holds."""
    # The generation starts at the clock, so that it differs from that of a store before.
    generation, sample, sampled_at, used = time.time_ns(), 0, 0, 0
    leased, renewed = 0, 0
    if old is not None:
        sample, sampled_at, used = old.words[SAMPLE], old.words[SAMPLED_AT], old.used
        leased, renewed = old.words[LEASE], old.words[RENEWED]
        at = places(capacity)
        for source, target, each in (
            (old.objects_at, at.objects_at, OBJECT.size),
            (old.counters_at, at.counters_at, COUNTERS.size),
            (old.bases_at, at.bases_at, BASE.size),
            (old.cleared_at, at.cleared_at, COUNTERS.size),
        ):
            yield target, old.bytes[source : source + used * each]
    numbers = (0, generation, sample, sampled_at, used, 0, leased, renewed)
    yield 0, HEADER.pack(MAGIC, LAYOUT, capacity, *numbers)


def create(path: Path, capacity: int, old: StoreMap | None = None) -> None:
    """Publish a store atomically: an empty one, or one with all that ``old`` holds. Raises OSError
    with nothing changed, also when the file system has no room for all of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, places(capacity).size)
            for at, content in _contents(capacity, old):
                file.seek(at)
                file.write(content)
        fresh.chmod(0o644)
        fresh.rename(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def packed(ref: ObjectRef, s: ObjectStatus) -> bytes:
    name, detail, reason = ref.name.encode(), s.detail.encode(), clipped(s.reason).encode()
    return OBJECT.pack(
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


def all_unpacked(records: bytes) -> list[Entry | None]:
    """The objects of all records in their order, None for a free one. Those whose statuses are
    alike share one."""
    statuses: dict[tuple[object, ...], ObjectStatus] = {}
    found: list[Entry | None] = []
    for kind, status, length, detail, reason, *times, name, about, why in OBJECT.iter_unpack(
        records
    ):
        if kind == 0:
            found.append(None)
            continue
        alike = (status, detail, reason, *times, about, why)
        known = statuses.get(alike)
        if known is None:
            since, repair, repairs = times
            known = statuses[alike] = ObjectStatus(
                STATUS[status],
                why[:reason].decode(),
                since,
                repair,
                repairs,
                about[:detail].decode(),
            )
        found.append((ObjectRef(KIND[kind], name[:length].decode()), known))
    return found


def unpacked(records: bytes | mmap.mmap, at: int) -> Entry | None:
    """The object whose record begins there; None for a free one."""
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
    ) = OBJECT.unpack_from(records, at)
    if kind == 0:
        return None
    return (
        ObjectRef(KIND[kind], name[:name_len].decode()),
        ObjectStatus(
            STATUS[status],
            why[:reason_len].decode() if reason_len else "",
            since,
            repair,
            repairs,
            detail[:detail_len].decode() if detail_len else "",
        ),
    )
