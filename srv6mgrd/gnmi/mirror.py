"""The running configuration in memory, kept up with the changes that sysrepo reports. Pure.

One-entry reads in sysrepo cost as much as the whole configuration; this costs a lookup. A tree
is never changed in place: a reader in another thread keeps the one it has.

Shape: a container or list entry is a dict by RFC 7951 member name, a list a dict by key values,
a leaf its RFC 7951 value, a leaf-list a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from srv6mgrd.gnmi.path import Pattern, Step
from srv6mgrd.gnmi.schema import Kind, Node

Tree = Mapping[str, Any]


@dataclass(slots=True)
class Touched:
    """What a change did, as instance paths: branches or leaves, the highest that covers it."""

    updated: list[Pattern] = field(default_factory=list)
    deleted: list[Pattern] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.updated or self.deleted)


def lexical(value: Any) -> str:
    """A scalar of RFC 7951 JSON as the text that paths hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def entries(node: Node, tree: Tree) -> int:
    """How many entries its lists have; those in entries are not counted."""
    count = 0
    for member, below in tree.items():
        child = node.children.get(member)
        if child is not None and child.kind is Kind.LIST:
            count += len(below)
        elif child is not None and child.kind is Kind.CONTAINER:
            count += entries(child, below)
    return count


def tree(root: Node, data: Mapping[str, Any]) -> Tree:
    """RFC 7951 JSON in the shape above."""
    return apply(root, {}, data)[0]


def differences(root: Node, old: Tree, new: Tree, *, of_state: bool = False) -> Touched:
    """How one tree differs from another, as a change would report it. ``of_state``: of state below
    configuration that is reported elsewhere, its containers and entries of lists."""
    found = _Differences(of_state)
    found.compare(root, old, new, ())
    return found.touched


class _Differences:
    """One walk over two trees."""

    def __init__(self, of_state: bool) -> None:
        self.touched = Touched()
        self._of_state = of_state

    def compare(self, node: Node, old: Tree, new: Tree, at: Pattern) -> None:
        for member in {**old, **new}:
            child = node.children.get(member)
            before, after = old.get(member), new.get(member)
            if child is None or before == after or child.is_key:
                continue
            if child.kind is Kind.LIST:
                before, after = before or {}, after or {}
                for key in {**before, **after}:
                    self._branch((*at, Step(child, key)), before.get(key), after.get(key))
            elif child.kind is Kind.CONTAINER:
                self._branch((*at, Step(child)), before, after)
            else:
                self._report((*at, Step(child)), after)

    def _branch(self, at: Pattern, before: Any, after: Any) -> None:
        if before == after:
            return
        node = at[-1].node
        is_reported = before is None or after is None
        if self._of_state:
            is_reported = not node.config and (is_reported or not _holds_lists(node))
        if is_reported:
            self._report(at, after)
        else:
            self.compare(node, before or {}, after or {}, at)

    def _report(self, at: Pattern, after: Any) -> None:
        # Statuses may be in the same container: what of state went is reported leaf by leaf.
        has_gone = after is None and (not self._of_state or bool(at[-1].keys))
        (self.touched.deleted if has_gone else self.touched.updated).append(at)


def _holds_lists(node: Node) -> bool:
    """Whether it is a container of lists, which may be long; what is below a ``state`` is small."""
    return (
        node.kind is Kind.CONTAINER
        and node.name != "state"
        and any(child.kind is Kind.LIST or _holds_lists(child) for child in node.children.values())
    )


def apply(root: Node, tree: Tree, diff: Mapping[str, Any]) -> tuple[Tree, Touched]:
    """The tree after a change; ``diff`` is JSON with ``yang:operation`` metadata.

    RFC 7952 section 5.2 says how JSON encodes metadata; libyang's diff knows the operations
    create, delete, replace and none, which nodes below inherit.
    """
    change = _Change()
    return change.container(root, tree, diff, "none", ()), change.touched


class _Change:
    """One walk over a diff. ``above`` is the operation that a node inherits."""

    def __init__(self) -> None:
        self.touched = Touched()

    def container(
        self, node: Node, old: Tree, diff: Mapping[str, Any], above: str, at: Pattern
    ) -> dict[str, Any]:
        new = dict(old)
        for member, value in diff.items():
            child = node.children.get(member)
            if child is None:  # metadata, or another model's data
                continue
            here = (*at, Step(child))
            meta = diff.get("@" + member)
            below: Any
            if child.kind is Kind.LIST:
                below = self._list(child, old.get(member, {}), value, above, at)
            elif child.kind is Kind.LEAF_LIST:
                below = _leaf_list(list(old.get(member, ())), value, meta, above) or None
                self._leaf(here, old.get(member), below, above)
            elif child.kind is Kind.LEAF:
                below = None if _operation(meta, above) == "delete" else value
                self._leaf(here, old.get(member), below, above)
            else:
                operation = _operation(value.get("@"), above)
                below = self._branch(here, old.get(member), value, operation, above)
            if below is None or (not below and not child.is_leaf and not child.presence):
                new.pop(member, None)
            else:
                new[member] = below
        return new

    def _leaf(self, at: Pattern, old: Any, new: Any, above: str) -> None:
        # New nodes of a new branch are reported once, at the top of the branch.
        if above == "create" or old == new:
            return
        (self.touched.deleted if new is None else self.touched.updated).append(at)

    def _branch(
        self, at: Pattern, old: Tree | None, diff: Mapping[str, Any], operation: str, above: str
    ) -> dict[str, Any] | None:
        if operation == "delete":
            if old is not None:
                self.touched.deleted.append(at)
            return None
        if operation == "create":
            if above != "create":
                self.touched.updated.append(at)
            if not old:
                return _made(at[-1].node, diff)
        return self.container(at[-1].node, old or {}, diff, operation, at)

    def _list(
        self,
        node: Node,
        old: Mapping[tuple[str, ...], Any],
        diff: list[Mapping[str, Any]],
        above: str,
        at: Pattern,
    ) -> dict[tuple[str, ...], Any]:
        new = dict(old)
        for entry in diff:
            key = _key(node, entry)
            # A list entry's own "replace" is a move; what it holds inherits "none" then.
            operation = _operation(entry.get("@"), above).replace("replace", "none")
            below = self._branch((*at, Step(node, key)), old.get(key), entry, operation, above)
            if below is None:
                new.pop(key, None)
            else:
                new[key] = below
        return new


def _made(node: Node, diff: Mapping[str, Any]) -> dict[str, Any]:
    """A branch where none was: all that is in it is new. Most of ten thousand entries at once."""
    new: dict[str, Any] = {}
    for member, value in diff.items():
        child = node.children.get(member)
        if child is None:  # metadata, or another model's data
            continue
        if child.kind is Kind.LEAF:
            new[member] = value
        elif child.kind is Kind.LEAF_LIST:
            new[member] = list(value)
        elif child.kind is Kind.LIST:
            new[member] = {_key(child, entry): _made(child, entry) for entry in value}
        elif (below := _made(child, value)) or child.presence:
            new[member] = below
    return new


def _key(node: Node, entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple([lexical(entry[k]) for k in node.keys])


def _leaf_list(values: list[Any], diff: list[Any], meta: Any, above: str) -> list[Any]:
    metas = meta if isinstance(meta, list) else [None] * len(diff)
    metas += [None] * (len(diff) - len(metas))
    for value, m in zip(diff, metas, strict=False):
        if _operation(m, above) == "delete":
            if value in values:
                values.remove(value)
        elif value not in values:
            values.append(value)
    return values


def _operation(meta: Mapping[str, str] | None, above: str) -> str:
    return meta.get("yang:operation", above) if meta else above
