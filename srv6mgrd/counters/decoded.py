"""Object records of the store as one reader knows them: only those that changed are decoded again.

A commit of one SID changes one record; to decode a hundred thousand takes a second, in which
nothing else of the reader runs.
"""

from __future__ import annotations

from srv6mgrd.counters.store_file import OBJECT, Entry, unpacked
from srv6mgrd.model.status import ObjectRef, ObjectStatus

# Records that are compared in one piece.
_BLOCK = 64 * OBJECT.size


class Decoded:
    """Used by one thread."""

    def __init__(self) -> None:
        self._records = b""
        self._entries: list[Entry | None] = []

    def objects(self, records: bytes) -> dict[ObjectRef, ObjectStatus]:
        """In the order of their slots. An object whose record is the same is the very one of
        before."""
        before, self._records = self._records, records
        entries = self._entries
        number = len(records) // OBJECT.size
        del entries[number:]
        entries += [None] * (number - len(entries))
        for block in range(0, len(records), _BLOCK):
            end = block + _BLOCK
            if records[block:end] == before[block:end]:
                continue
            for at in range(block, min(end, len(records)), OBJECT.size):
                if records[at : at + OBJECT.size] != before[at : at + OBJECT.size]:
                    entries[at // OBJECT.size] = unpacked(records, at)
        return dict(entry for entry in entries if entry is not None)
