"""State beside statuses (``counters.observed``) as a tree, and how one differs from another. Pure.

The tree has lists with the keys of declared objects; state hangs below them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.gnmi.mirror import Touched, Tree, tree
from srv6mgrd.gnmi.path import Pattern, Step
from srv6mgrd.gnmi.schema import Kind, Node

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


def changes(root: Node, old: Tree, new: Tree) -> Touched:
    """Branches of state that changed: containers and entries of lists."""
    touched = Touched()
    _compare(root, old, new, (), touched)
    return touched


def _compare(node: Node, old: Tree, new: Tree, at: Pattern, touched: Touched) -> None:
    for member in {**old, **new}:
        child = node.children.get(member)
        before, after = old.get(member), new.get(member)
        if child is None or before == after or child.is_key:
            continue
        if child.kind is Kind.LIST:
            for key in {**(before or {}), **(after or {})}:
                here = (*at, Step(child, key))
                _entry(here, (before or {}).get(key), (after or {}).get(key), touched)
        elif child.config:
            _compare(child, before or {}, after or {}, (*at, Step(child)), touched)
        else:
            # Statuses may stand in the same container: what went is told leaf by leaf.
            touched.updated.append((*at, Step(child)))


def _entry(at: Pattern, before: Any, after: Any, touched: Touched) -> None:
    if before == after:
        return
    if at[-1].node.config:
        _compare(at[-1].node, before or {}, after or {}, at, touched)
    else:
        (touched.deleted if after is None else touched.updated).append(at)
