"""State beside statuses (``counters.observed``, ``counters.alarms``) as a tree. Pure.

The tree has lists with the keys of declared objects, below which state hangs, and alarms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from srv6mgrd.counters.node import ABSENT, Version
from srv6mgrd.gnmi.mirror import Tree, tree
from srv6mgrd.gnmi.path import Pattern
from srv6mgrd.gnmi.schema import Node

TOP = "srv6mgr-srv6:srv6"

# Of the files that it is read from.
Versions = tuple[Version, ...]
NOTHING: Versions = (ABSENT,) * 4


class Observed(NamedTuple):
    """What was read: members by their top in RFC 7951 form."""

    version: Versions
    tops: Mapping[str, Mapping[str, Any]]


def observed_tree(root: Node, tops: Mapping[str, Mapping[str, Any]], before: Tree) -> Tree:
    """The tree of what was read; parts that are the same as before are the very same objects, so
    that what was made of them is not made again."""
    whole: dict[str, Any] = {}
    for top, members in tops.items():
        made = tree(root, {top: members}).get(top, {}) if members else {}
        known = before.get(top, {})
        parts = {
            member: known[member] if known.get(member) == part else part
            for member, part in made.items()
        }
        if parts:
            whole[top] = parts
    return whole


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
