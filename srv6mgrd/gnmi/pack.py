"""Counters of all SIDs as bytes on the wire, thousands of leaves in each message.

Written in C (``pack.c``) where that is built, else in Python: a hundred thousand SIDs a second
need the former. Both give the same bytes, those of the protobuf library.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path as File
from typing import Any, NamedTuple, Protocol

import cffi

from srv6mgrd.counters.fence import LIBRARY
from srv6mgrd.counters.store_reader import Records, since
from srv6mgrd.counters.yang import sid_counters
from srv6mgrd.gnmi import encode, frames, wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.path import Path, Pattern, Step
from srv6mgrd.gnmi.schema import Node
from srv6mgrd.gnmi.view import Want

_LOG = logging.getLogger(__name__)

# SIDs in a message: about 350 kB, where gRPC clients accept 4 MB by default.
_ROWS = 1000
_COLUMNS = 4
# What a leaf shows of a record of the store.
COLUMNS = {"in-pkts": 0, "in-octets": 1, "in-errors": 2, "discontinuity-time": 3}
_ENCODINGS = {wire.PROTO: 0, wire.JSON_IETF: 1, wire.JSON: 2, wire.ASCII: 3}

_DECLARATIONS = """
struct srv6_rows {
  const uint8_t *head; uint32_t head_length;
  const uint8_t *entries; const uint32_t *offsets; const uint32_t *slots;
  const uint8_t *tails; const uint32_t *tail_offsets; const uint8_t *columns; uint32_t leaves;
  const uint8_t *members; const uint32_t *member_offsets;
  const uint8_t *frame; uint32_t frame_length; uint32_t duplicates; uint32_t encoding;
};
size_t srv6_pack(const struct srv6_rows *r, const uint64_t *counters, const uint64_t *cleared,
                 uint64_t *last, uint8_t *known, uint32_t from, uint32_t to, uint8_t *room,
                 size_t size, size_t *end);
"""


class Table:
    """The SIDs that have counters, in the order of the configuration, and their records."""

    def __init__(
        self,
        counters: Node,
        sids: Mapping[tuple[str, ...], Any],
        slots: Mapping[str, int],
        before: Table | None = None,
    ) -> None:
        """``counters`` is the schema node above the leaves, three below the list of SIDs.
        ``before`` is another one of the same schema, with most of these SIDs."""
        *above, self._list, self._state, self._counters = counters.lineage()
        self._above = tuple(Step(node) for node in above)
        self.slots = slots
        self.keys = [key for key in sids if key[0] in slots]
        self.records = array("I", [slots[key[0]] for key in self.keys])
        self.head = frames.path(self._above)
        known = {} if before is None else before._elements
        # Of each SID, encoded.
        self._elements: dict[tuple[str, ...], bytes] = {
            key: known.get(key) or frames.element(Step(self._list, key)) for key in self.keys
        }
        elements = self._elements.values()
        self.entries = b"".join(elements)
        self.offsets = array("I", [0])
        at = 0
        for element in elements:
            at += len(element)
            self.offsets.append(at)
        self.longest = max(map(len, elements), default=0)

    def tail(self, node: Node) -> Pattern:
        """The steps from below the entry to a leaf, or to the container of them."""
        above = Step(self._state), Step(self._counters)
        return above if node is self._counters else (*above, Step(node))

    def at(self, key: tuple[str, ...], node: Node) -> Pattern:
        return (*self._above, Step(self._list, key), *self.tail(node))


class Request(NamedTuple):
    """The contents: these leaves of each SID, so encoded; or with ``whole`` the container that they
    are in, as one JSON value with these members."""

    leaves: tuple[Node, ...]
    encoding: int
    prefix: Path
    duplicates: int = 0
    whole: Node | None = None
    # Of the paths, as they were asked for.
    origin: str = ""


class Reported:
    """The last values sent to a subscriber that wants no repetition, by record."""

    def __init__(self) -> None:
        self._slots: Mapping[str, int] = {}
        self.last = array("Q")
        self.known = bytearray()

    def follow(self, table: Table, records: int) -> None:
        """Make room, and forget records that belong to another SID now."""
        more = records * _COLUMNS - len(self.known)
        if more > 0:
            self.last.frombytes(bytes(8 * more))
            self.known += bytes(more)
        if self._slots is table.slots:
            return
        for prefix, slot in table.slots.items():
            if self._slots.get(prefix) != slot:
                self.known[slot * _COLUMNS : (slot + 1) * _COLUMNS] = bytes(_COLUMNS)
        self._slots = table.slots


class Packer(Protocol):
    """Makes the message of some rows; empty when there is nothing to report."""

    def __call__(
        self, table: Table, sample: Records, asked: Request, rows: range, reported: Reported | None
    ) -> bytes: ...


class Sample:
    """The counters of all SIDs at one moment; its messages are made once for all subscribers."""

    def __init__(self, table: Table, records: Records, pack: Packer | None = None) -> None:
        self.table, self.records = table, records
        self._pack = pack or packer()
        self._made: dict[tuple[Any, ...], bytes] = {}

    def response(self, asked: Request) -> bytes:
        """All of it as a GetResponse with one Notification, which has the bytes of a
        SubscribeResponse with it; several are one with all of theirs. Empty when there is nothing
        to report."""
        return self._pack(self.table, self.records, asked, range(len(self.table.keys)), None)

    def messages(self, asked: Request, reported: Reported | None = None) -> Iterator[bytes]:
        """SubscribeResponses; with ``reported`` only what differs from it."""
        if reported is not None:
            reported.follow(self.table, len(self.records.counters) // (8 * _COLUMNS))
        for first in range(0, len(self.table.keys), _ROWS):
            rows = range(first, min(first + _ROWS, len(self.table.keys)))
            if reported is not None or asked.duplicates:
                message = self._pack(self.table, self.records, asked, rows, reported)
            elif (known := self._made.get((asked, first))) is not None:
                message = known
            else:
                message = self._pack(self.table, self.records, asked, rows, None)
                self._made[asked, first] = message
            if message:
                yield message


def in_python(
    table: Table, sample: Records, asked: Request, rows: range, reported: Reported | None
) -> bytes:
    """The Packer that needs nothing built."""
    updates = []
    for key, slot in ((table.keys[row], table.records[row]) for row in rows):
        found = since(sample.counters, sample.cleared, slot)
        numbers = (found.packets, found.octets, found.errors, found.discontinuity)
        texts = sid_counters(found)
        if asked.whole is not None:
            members = {leaf.member: texts[leaf.name] for leaf in asked.leaves if leaf.name in texts}
            if members:
                value = wire.tree_value(asked.encoding, asked.whole, members)
                updates.append(frames.whole_update(table.at(key, asked.whole), value, asked.origin))
            continue
        for leaf in asked.leaves:
            column = COLUMNS[leaf.name]
            if reported is not None:
                at = slot * _COLUMNS + column
                if reported.known[at] and reported.last[at] == numbers[column]:
                    continue
                reported.known[at], reported.last[at] = 1, numbers[column]
            if leaf.name in texts:
                path = table.at(key, leaf)
                value = texts[leaf.name]
                updates.append(
                    frames.update(asked.encoding, path, value, asked.duplicates, asked.origin)
                )
    if not updates:
        return b""
    return frames.notification(sample.at, frames.prefix(asked.prefix), updates)


class InC:
    """The Packer in C."""

    def __init__(self, library: File) -> None:
        """Raises OSError when it can't be loaded."""
        self._ffi = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        self._library: Any = self._ffi.dlopen(str(library))

    def __call__(
        self, table: Table, sample: Records, asked: Request, rows: range, reported: Reported | None
    ) -> bytes:
        ffi = self._ffi
        named = asked.leaves if asked.whole is None else [asked.whole] * len(asked.leaves)
        tails = [frames.path(table.tail(node)) for node in named]
        members = [] if asked.whole is None else _members(asked)
        offsets, member_offsets = _offsets(tails), _offsets(members)
        frame = frames.frame(sample.at, frames.prefix(asked.prefix))
        head = frames.origin(asked.origin) + table.head
        # The numbers take 40 bytes at most, tags and lengths 30.
        each = len(head) + table.longest + max(map(len, [*tails, *members]), default=0) + 80
        room = bytearray(each * len(rows) * len(asked.leaves) + len(frame) + 64)
        columns = bytes(COLUMNS[leaf.name] for leaf in asked.leaves)
        kept = [
            ffi.from_buffer(kind, buffer)
            for kind, buffer in (
                ("uint8_t[]", head),
                ("uint8_t[]", table.entries),
                ("uint32_t[]", table.offsets),
                ("uint32_t[]", table.records),
                ("uint8_t[]", b"".join(tails)),
                ("uint32_t[]", offsets),
                ("uint8_t[]", columns),
                ("uint8_t[]", frame),
                ("uint8_t[]", b"".join(members)),
                ("uint32_t[]", member_offsets),
            )
        ]
        given: Any = ffi.new("struct srv6_rows *")
        (given.head, given.entries, given.offsets, given.slots, given.tails, given.tail_offsets,
         given.columns, given.frame, given.members, given.member_offsets) = kept  # fmt: skip
        if not members:
            given.members = ffi.NULL
        given.head_length, given.frame_length = len(head), len(frame)
        given.leaves, given.duplicates = len(asked.leaves), asked.duplicates
        given.encoding = _ENCODINGS[asked.encoding]
        stop = ffi.new("size_t *")
        start = self._library.srv6_pack(
            given,
            ffi.from_buffer("uint64_t[]", sample.counters),
            ffi.from_buffer("uint64_t[]", sample.cleared),
            ffi.NULL if reported is None else ffi.from_buffer("uint64_t[]", reported.last),
            ffi.NULL if reported is None else ffi.from_buffer("uint8_t[]", reported.known),
            rows.start,
            rows.stop,
            ffi.from_buffer("uint8_t[]", room),
            len(room),
            stop,
        )
        return bytes(memoryview(room)[start : stop[0]]) if start else b""


def _members(asked: Request) -> list[bytes]:
    """What each leaf is called in the value of the container, with its colon."""
    assert asked.whole is not None
    make = encode.json_ietf if asked.encoding == wire.JSON_IETF else encode.json_plain
    names = (next(iter(make(asked.whole, {leaf.member: "0"}))) for leaf in asked.leaves)
    return [encode.dumps(name) + b":" for name in names]


def _offsets(parts: Sequence[bytes]) -> array[int]:
    """Where each begins in all of them joined, and where the last one ends."""
    return array("I", accumulate(map(len, parts), initial=0))


@cache
def packer() -> Packer:
    """The one in C if it is installed with this Python."""
    try:
        return InC(LIBRARY)
    except OSError:
        _LOG.warning("%s: absent; sampling is slow with more than some thousand SIDs", LIBRARY)
        return in_python


def counters_of(root: Node) -> Node | None:
    """The schema node above the counters of a SID; None in a schema without."""
    node: Node | None = root
    for name in ("srv6", "local-sids", "sid", "state", "counters"):
        node = None if node is None else node.child(name)
    return node


def named(
    root: Node, patterns: Iterable[Pattern], want: Want, budget: Budget | None = None
) -> tuple[tuple[Node, ...], bool]:
    """The wanted counters of every SID that these paths name, and whether they name no other
    wanted leaf."""
    patterns = list(patterns)
    if budget is not None:
        budget.spend(sum(1 for p in patterns for _ in (p[-1].node if p else root).descendants()))
    above = counters_of(root)
    known = [leaf for leaf in above.children.values() if leaf.name in COLUMNS] if above else []
    taken = [leaf for leaf in known if any(counts_all(p, leaf) for p in patterns)]
    packed = tuple(leaf for leaf in taken if want(leaf))
    rest = (
        leaf
        for pattern in patterns
        for leaf in (pattern[-1].node if pattern else root).descendants()
        if leaf.is_leaf and leaf not in taken and want(leaf)
    )
    return packed, bool(packed) and not any(True for _ in rest)


def counts_all(pattern: Pattern, leaf: Node) -> bool:
    """Whether a path names this leaf of every SID, by itself or by a node above."""
    steps = zip(pattern, leaf.lineage(), strict=False)
    return len(pattern) <= len(leaf.lineage()) and all(
        step.node is node and not any(step.keys) for step, node in steps
    )
