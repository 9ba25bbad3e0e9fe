"""State beside statuses (``counters.observed``) as a tree. Pure.

The tree has lists with the keys of declared objects; state hangs below them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.gnmi.mirror import Tree, tree
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.schema import Node

TOP = "srv6mgr-srv6:srv6"


def observed_tree(root: Node, members: Mapping[str, Any], before: Tree) -> Tree:
    """The tree of what was read; parts that are the same as before are the very same objects, so
    that what was made of them is not made again."""
    made = tree(root, {TOP: members}).get(TOP, {}) if members else {}
    known = before.get(TOP, {})
    parts = {
        member: known[member] if known.get(member) == part else part
        for member, part in made.items()
    }
    return {TOP: parts} if parts else {}


def below(seen: Tree, at: Pattern) -> Any:
    """What was observed at an instance; None for nothing."""
    found: Any = seen
    for node, keys in at:
        found = found.get(node.member)
        if found is not None and keys:
            found = found.get(keys)
        if found is None:
            return None
    return found
