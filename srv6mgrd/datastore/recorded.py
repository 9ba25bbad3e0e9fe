"""A configuration as the history keeps it: whole, or as the changes in the one before it.

A change of a few SIDs among 100,000 takes a few hundred bytes then, instead of all of them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from srv6mgrd.model.sid_changes import SidChange, tree_with

# In front of changes; what zlib makes begins otherwise (RFC 1950 section 2.2).
_CHANGES = b"c"


def packed(configuration: str | Sequence[SidChange]) -> bytes:
    """A configuration as JSON, or the changes in it."""
    if isinstance(configuration, str):
        return zlib.compress(configuration.encode(), 1)
    return _CHANGES + zlib.compress(json.dumps(configuration).encode(), 1)


def is_whole(blob: bytes) -> bool:
    return not blob.startswith(_CHANGES)


def unpacked(blob: Any) -> str:
    """A whole configuration. Raises zlib.error, UnicodeDecodeError or TypeError."""
    return zlib.decompress(blob).decode()


def unpacked_with(blob: bytes, changes: Sequence[bytes]) -> str:
    """A whole configuration with changes made in it, one after the other. Raises what
    ``unpacked`` does, ValueError or KeyError."""
    if not changes:
        return unpacked(blob)
    tree = json.loads(unpacked(blob), object_hook=lambda members: members)
    for each in changes:
        made = json.loads(zlib.decompress(each.removeprefix(_CHANGES)))
        tree_with(tree, [SidChange(*change) for change in made])
    return "".join(json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).iterencode(tree))
