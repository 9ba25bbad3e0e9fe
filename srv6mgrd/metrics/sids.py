"""Counters of SIDs as text of OpenMetrics: three samples of a hundred thousand SIDs in 0.1 s.

Written in C (``samples.c``) where that is built, else in Python, which takes 20 times as long. The
library makes an object of each sample, and takes 10 us for it (docs/adr/0079).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import cffi

from srv6mgrd.counters.fence import LIBRARY
from srv6mgrd.counters.labels import sid_labels
from srv6mgrd.counters.store_file import COUNTERS, OBJECT, unpacked
from srv6mgrd.counters.store_reader import Snapshot
from srv6mgrd.model.status import Kind

_LOG = logging.getLogger(__name__)
# Records that are encoded in one piece, which is up to 4 MB of text.
_ROWS = 10_000
_VRF = 16
# A sample beside the name of its metric takes at most: prefix 64, detail 104, number 20, labels 24.
_ROOM = 256

_DECLARATIONS = """
struct srv6_samples {
  const uint8_t *objects; const uint64_t *counters; const uint8_t *name; uint32_t name_length;
  uint32_t column; const uint8_t *vrfs; uint32_t vrf_count;
};
size_t srv6_samples(const struct srv6_samples *s, uint32_t from, uint32_t to, uint8_t *room);
"""


class Counter(NamedTuple):
    """One counter of every SID: its metric without ``_total``, and its column in the record."""

    name: str
    unit: str
    help: str
    column: int


COUNTERS_OF_SIDS = (
    Counter("srv6_sid_packets", "", "Packets to the SID, processed.", 0),
    Counter("srv6_sid_bytes", "bytes", "Bytes of these packets, outer header included.", 1),
    Counter("srv6_sid_errors", "", "Packets to the SID that could not be processed.", 2),
)


class Encoder(Protocol):
    """Makes the samples of one counter, in pieces. No VRF: those of all SIDs."""

    def __call__(
        self, snapshot: Snapshot, counter: Counter, vrfs: Iterable[str]
    ) -> Iterator[bytes]: ...


def _head(counter: Counter) -> str:
    return f'{counter.name}_total{{sid="'


def in_python(snapshot: Snapshot, counter: Counter, vrfs: Iterable[str]) -> Iterator[bytes]:
    """The Encoder that needs nothing built."""
    wanted, head = frozenset(vrfs), _head(counter)
    lines = []
    for slot in range(len(snapshot.objects) // OBJECT.size):
        entry = unpacked(snapshot.objects, slot * OBJECT.size)
        if entry is None or entry[0].kind is not Kind.SID:
            continue
        behavior, vrf = sid_labels(entry[1].detail)
        if wanted and vrf not in wanted:
            continue
        value = COUNTERS.unpack_from(snapshot.counters, slot * COUNTERS.size)[counter.column]
        lines.append(f'{head}{entry[0].name}",vrf="{vrf}",behavior="{behavior}"}} {value}\n')
    if lines:
        yield "".join(lines).encode()


class InC:
    """The Encoder in C."""

    def __init__(self, library: Path) -> None:
        """Raises OSError when it can't be loaded, AttributeError when it is of another release."""
        self._ffi = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        loaded: Any = self._ffi.dlopen(str(library))
        self._encode = loaded.srv6_samples

    def __call__(
        self, snapshot: Snapshot, counter: Counter, vrfs: Iterable[str]
    ) -> Iterator[bytes]:
        ffi = self._ffi
        names = [vrf.encode() for vrf in vrfs]
        head = _head(counter).encode()
        kept = [
            ffi.from_buffer(kind, buffer)
            for kind, buffer in (
                ("uint8_t[]", snapshot.objects),
                ("uint64_t[]", snapshot.counters),
                ("uint8_t[]", head),
                ("uint8_t[]", b"".join(name.ljust(_VRF, b"\0") for name in names)),
            )
        ]
        given: Any = ffi.new("struct srv6_samples *")
        given.objects, given.counters, given.name, given.vrfs = kept
        given.name_length, given.column, given.vrf_count = len(head), counter.column, len(names)
        records = len(snapshot.objects) // OBJECT.size
        room = bytearray((len(head) + _ROOM) * min(_ROWS, records))
        place = ffi.from_buffer("uint8_t[]", room)
        for first in range(0, records, _ROWS):
            size = self._encode(given, first, min(first + _ROWS, records), place)
            if size:
                yield bytes(memoryview(room)[:size])


@cache
def encoder() -> Encoder:
    """The one in C if it is installed with this Python."""
    try:
        return InC(LIBRARY)
    except (OSError, AttributeError):
        _LOG.warning("%s: absent or of another release; many SIDs take long", LIBRARY)
        return in_python
