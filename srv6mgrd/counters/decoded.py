"""Object records of the store as one reader knows them: only those that changed are decoded again.

A commit of one SID changes one record; to decode a hundred thousand takes a second, in which
nothing else of the reader runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from srv6mgrd.counters.store_file import OBJECT, Entry, all_unpacked, unpacked
from srv6mgrd.model.status import ObjectRef, ObjectStatus

# Records that are compared, and decoded, in one piece.
_EACH = 64
_BLOCK = _EACH * OBJECT.size


class Decoded:
    """Used by one thread. Keeps a hash of each block of records rather than the records, which are
    40 MB of a hundred thousand objects."""

    def __init__(self) -> None:
        self._hashes: list[int] = []
        self._entries: list[Entry | None] = []
        self._objects: dict[ObjectRef, ObjectStatus] = {}
        # What the call before the last one returned, and which objects differ from that.
        self._base: dict[ObjectRef, ObjectStatus] = {}
        self._touched: set[ObjectRef] = set()

    def differences(self, base: Mapping[ObjectRef, ObjectStatus]) -> tuple[ObjectRef, ...] | None:
        """Which of the objects that were returned last differ from those of ``base``; None unless
        these were returned by the call before."""
        if base is not self._base:
            return None
        now = self._objects
        return tuple(ref for ref in self._touched if base.get(ref) != now.get(ref))

    def objects(self, records: bytes) -> dict[ObjectRef, ObjectStatus]:
        """In the order of their slots. An object that is the same is the very one of before."""
        hashes = [hash(records[at : at + _BLOCK]) for at in range(0, len(records), _BLOCK)]
        if not self._hashes and hashes:
            # There is nothing to compare with.
            self._hashes, self._entries = hashes, all_unpacked(records)
            self._base = self._objects
            self._objects = dict(entry for entry in self._entries if entry is not None)
            self._touched = set(self._objects)
            return self._objects
        before, self._hashes = self._hashes, hashes
        same_objects = len(self._entries) == len(records) // OBJECT.size
        changed: dict[ObjectRef, ObjectStatus] = {}
        self._base, self._touched = self._objects, set()
        for number, found in enumerate(hashes):
            if number < len(before) and before[number] == found:
                continue
            for old, new in self._decode(
                number * _EACH, records[number * _BLOCK : (number + 1) * _BLOCK]
            ):
                same_objects &= old is not None and new is not None and old[0] == new[0]
                self._touched.update(entry[0] for entry in (old, new) if entry is not None)
                if new is not None:
                    changed[new[0]] = new[1]
        end = len(records) // OBJECT.size
        self._touched.update(entry[0] for entry in self._entries[end:] if entry is not None)
        del self._entries[end:]
        if same_objects:
            # A copy asks for no hash of any object.
            self._objects = self._objects | changed
        else:
            self._objects = dict(entry for entry in self._entries if entry is not None)
        return self._objects

    def _decode(self, first: int, records: bytes) -> list[tuple[Entry | None, Entry | None]]:
        """Those that are others than before."""
        found = [unpacked(records, at) for at in range(0, len(records), OBJECT.size)]
        known = self._entries[first : first + _EACH]
        # Those behind the last record are gone.
        pairs = list(zip_longest(known, found))
        self._entries[first : first + _EACH] = [
            old if old == new else new for old, new in pairs[: len(found)]
        ]
        return [(old, new) for old, new in pairs if old != new]
