"""The key that libyang rejected. It names only the list, since it has no entry without a key;
but an operator wants to know which of his thousand names is too long."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# A node of a data path, with the keys of an entry.
_STEP = re.compile(r"/([\w:.-]+)((?:\[[^=\]]+=(?:'[^']*'|\"[^\"]*\")\])*)")


def is_without_entry(path: str) -> bool:
    """Whether a path leads to a leaf of a list, and not into one of its entries."""
    steps = _STEP.findall(path)
    return len(steps) > 1 and not steps[-2][1]


def find(context: Any, document: bytes, path: str) -> str | None:
    """The first value in ``document`` that can't be the key leaf at ``path``; None when all can,
    or the path is not that of a key without an entry."""
    import libyang

    if not is_without_entry(path):
        return None
    steps = _STEP.findall(path)
    parent, key = path.rpartition("/")[0], steps[-1][0].rpartition(":")[2]
    try:
        data = json.loads(document)
    except ValueError:
        return None
    for value in _values(data, [name.rpartition(":")[2] for name, _ in steps]):
        if '"' in value:
            return value
        try:
            context.create_data_path(f'{parent}[{key}="{value}"]').root().free()
        except libyang.LibyangError:
            return value
    return None


def _values(data: Any, names: list[str]) -> Iterator[str]:
    """The node at the end of these names, whatever entries lie on the way."""
    if isinstance(data, list):
        for entry in data:
            yield from _values(entry, names)
    elif not names:
        if isinstance(data, str):
            yield data
    elif isinstance(data, dict):
        for member, below in data.items():
            if member.rpartition(":")[2] == names[0]:
                yield from _values(below, names[1:])
