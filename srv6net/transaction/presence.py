"""Whether a router has the entries that it should have.

A router adds defaults, and gives lists in its own order: an entry is there when everything that
was written is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6net.compile.configuration import Edit, Entries


def missing(wanted: Entries, found: Entries) -> Entries:
    """The wanted entries that are not there, or are others."""
    return {p: v for p, v in wanted.items() if p not in found or not _covers(found[p], v)}


def repair(wanted: Entries, others: Entries, found: Entries) -> Edit:
    """From what was found to what is wanted; ``others`` are entries that must be gone."""
    gone = tuple(sorted(path for path in others if path not in wanted and path in found))
    return Edit(gone, missing(wanted, found))


def _covers(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and _covers(found[name], value) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(any(_covers(one, value) for one in found) for value in wanted)
        )
    return bool(found == wanted)
