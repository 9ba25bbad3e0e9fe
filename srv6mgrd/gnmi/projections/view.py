"""A view: a list of another model that has one entry for each SID, or locator. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.gnmi.path import Pattern, Step, is_concrete
from srv6mgrd.gnmi.schema import Base, Kind, Node
from srv6mgrd.model.status import Kind as Object
from srv6mgrd.model.status import ObjectStatus, SidCounters

# The lists of ours that views show.
SOURCES: Mapping[Object, tuple[str, ...]] = {
    Object.SID: ("srv6mgr-srv6:srv6", "local-sids", "sid"),
    Object.LOCATOR: ("srv6mgr-srv6:srv6", "locators", "locator"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is reported of an object; ``config`` in the shape of gnmi.mirror. Of a SID the name
    is its prefix; others have no counters."""

    name: str
    config: Mapping[str, Any]
    status: ObjectStatus
    counters: SidCounters


# Returns the report of an object; None while nothing is known of it.
Read = Callable[[Object, str], Shown | None]


@dataclass(frozen=True, slots=True)
class View:
    """``list`` is the list, keys of the lists above it given; ``entry`` makes its entry for an
    object of kind ``of``, None when it has none. ``origins`` name the schema tree that it belongs
    to; ``bare`` says that its first element is known without module and origin too."""

    list: Pattern
    entry: Callable[[Shown], dict[str, Any] | None]
    origins: tuple[str, ...]
    bare: bool
    of: Object = Object.SID

    @property
    def top(self) -> Node:
        """The top-level node."""
        return self.list[0].node

    def at(self, name: str) -> Pattern:
        """The path of the entry of an object."""
        return (*self.list[:-1], Step(self.list[-1].node, (name,)))


class Entries(Mapping[tuple[str, ...], Any]):
    """The entries of a view at one moment, made when asked for."""

    def __init__(self, view: View, objects: Mapping[tuple[str, ...], Any], read: Read) -> None:
        """``objects`` is the configured list."""
        self._view, self._objects, self._read = view, objects, read

    def __getitem__(self, key: tuple[str, ...]) -> dict[str, Any]:
        shown = self._read(self._view.of, key[0]) if key in self._objects else None
        entry = None if shown is None else self._view.entry(shown)
        if entry is None:
            raise KeyError(key)
        return entry

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (key for key in self._objects if key in self)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and self.get(key) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)


def sids_of(config: Mapping[str, Any]) -> Mapping[tuple[str, ...], Any]:
    """The configured SIDs by key."""
    return objects_of(config, Object.SID)


def objects_of(config: Mapping[str, Any], of: Object) -> Mapping[tuple[str, ...], Any]:
    """The configured objects of a kind that views show, by key."""
    found: Any = config
    for member in SOURCES[of]:
        found = found.get(member, {})
    entries: Mapping[tuple[str, ...], Any] = found
    return entries


def trees(views: tuple[View, ...], config: Mapping[str, Any], read: Read) -> dict[str, Any]:
    """The views as data, by top-level member; what has no entry is left out."""
    out: dict[str, Any] = {}
    for view in views:
        entries = Entries(view, objects_of(config, view.of), read)
        if not entries:
            continue
        level = out
        for step in view.list[:-1]:
            level = level.setdefault(step.node.member, {})
            if step.node.kind is Kind.LIST:
                keys = dict(zip(step.node.keys, step.keys, strict=True))
                level = level.setdefault(step.keys, keys)
        level[view.list[-1].node.member] = entries
    return out


def touched(pattern: Pattern, of: Object) -> tuple[bool, str | None]:
    """Whether a change at ``pattern`` concerns objects of a kind, and which; None is all of
    them."""
    source = SOURCES[of]
    names = tuple(step.node.member for step in pattern[: len(source)])
    if names != source[: len(names)]:
        return False, None
    if len(pattern) >= len(source) and is_concrete(pattern[2:3]):
        return True, pattern[2].keys[0]
    return True, None


# Schema nodes, as the models declare them.


def container(parent: Node, name: str, module: str = "") -> Node:
    """A container with state; ``module`` where it differs from the parent's."""
    return parent.add(Node(name, module or parent.module, config=False))


def listed(parent: Node, name: str, *keys: Node) -> Node:
    """A list with its keys."""
    node = Node(name, parent.module, Kind.LIST, config=False, keys=tuple(k.name for k in keys))
    parent.add(node)
    for key in keys:
        node.add(key)
    return node


def leaf(module: str, name: str, base: Base = Base.STRING, typedef: str = "") -> Node:
    """A leaf."""
    return Node(name, module, Kind.LEAF, config=False, base=base, typedef=typedef)


def counter(module: str, name: str) -> Node:
    """A leaf that counts."""
    node = leaf(module, name, Base.UINT64, "counter64")
    node.counts = True
    return node
