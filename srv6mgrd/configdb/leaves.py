"""Members of the running configuration, compared with those that rows declare. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.configdb.objects import Leaves

# YANG's defaults, which the running configuration leaves out.
_DEFAULTS: Leaves = {
    "block-length": 32,
    "node-length": 16,
    "function-length": 16,
    "argument-length": 0,
    # Of steered routes; behavior of a SID is mandatory.
    "behavior": "H.Encaps",
    # Of service functions and hops of chains.
    "weight": 1,
    "drain": False,
    "interval": 100,
    "failures": 2,
    "successes": 10,
    "on-failure": "bypass",
}

# Leaf-lists that are ordered by the user. A list of this name has an index.
_ORDERED = "segment"


def holds(entry: Mapping[str, Any], leaves: Leaves) -> bool:
    """Whether an entry has these leaves; others beside them don't matter."""
    return all(
        _has(found := entry.get(n, _DEFAULTS.get(n)), v)
        and (n != _ORDERED or isinstance(v[0], Mapping) or found == v)
        for n, v in leaves.items()
    )


def _has(found: Any, value: Any) -> bool:
    """The same of a member, which may be a container or a list."""
    if isinstance(value, Mapping):
        found = {} if found is None else found  # all of it may be defaults
        return isinstance(found, Mapping) and holds(found, value)
    if isinstance(value, list) and isinstance(found, list):
        # Thousands of rules of a classifier are in the same order, mostly.
        return len(found) == len(value) and all(
            _has(beside, v) or any(_has(f, v) for f in found)
            for beside, v in zip(found, value, strict=True)
        )
    return bool(found == value)


def goes(before: Any, after: Any) -> bool:
    """Whether a member has to be removed before it is written: an edit merges."""
    return after is None or (isinstance(before, list | dict) and before != after)
