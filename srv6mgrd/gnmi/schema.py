"""The data model as a tree of plain objects: what paths and values are resolved against.

Pure: ``models.py`` builds it from libyang, tests build it by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from ipaddress import ip_address, ip_interface


class Kind(Enum):
    """Kind of a data node (RFC 7950 section 4.2.2)."""

    CONTAINER = auto()
    LIST = auto()
    LEAF = auto()
    LEAF_LIST = auto()


class Base(Enum):
    """The kind of a value, as far as the encodings distinguish it (RFC 7951 section 6)."""

    STRING = auto()
    IDENTITY = auto()
    INT = auto()
    INT64 = auto()
    UINT = auto()
    UINT64 = auto()
    DECIMAL = auto()
    BOOL = auto()
    EMPTY = auto()
    BINARY = auto()
    UNION = auto()


@dataclass(eq=False, slots=True)
class Node:
    """A schema node. ``member`` is its name in RFC 7951 JSON: with module where that changes."""

    name: str
    module: str
    kind: Kind = Kind.CONTAINER
    config: bool = True
    keys: tuple[str, ...] = ()
    base: Base = Base.STRING
    typedef: str = ""
    presence: bool = False
    # nacm:default-deny-all, here or above (RFC 8341 section 3.4.5): read only by a rule.
    hidden: bool = False
    # It counts, though its place doesn't say so (view.is_counter).
    counts: bool = False
    parent: Node | None = field(default=None, repr=False)
    children: dict[str, Node] = field(default_factory=dict, repr=False)

    @property
    def member(self) -> str:
        if self.parent is None or self.parent.module != self.module:
            return f"{self.module}:{self.name}"
        return self.name

    @property
    def is_leaf(self) -> bool:
        return self.kind in (Kind.LEAF, Kind.LEAF_LIST)

    @property
    def is_key(self) -> bool:
        parent = self.parent
        return parent is not None and parent.kind is Kind.LIST and self.name in parent.keys

    def add(self, child: Node) -> Node:
        """Append ``child``; returns it."""
        child.parent = self
        self.children[child.member] = child
        return child

    def child(self, name: str) -> Node | None:
        """Child by name, with or without its module."""
        if ":" in name:
            found = self.children.get(name)
            return found or next(
                (c for c in self.children.values() if f"{c.module}:{c.name}" == name), None
            )
        return self.children.get(name) or next(
            (c for c in self.children.values() if c.name == name), None
        )

    def descendants(self) -> Iterator[Node]:
        """Itself and all nodes below."""
        yield self
        for child in self.children.values():
            yield from child.descendants()

    def lineage(self) -> tuple[Node, ...]:
        """Nodes from the top down to this one; the root that holds the modules left out."""
        if self.parent is None:
            return ()
        return (*self.parent.lineage(), self)

    @property
    def path(self) -> str:
        """Schema path, module names where they change."""
        return "/" + "/".join(n.member for n in self.lineage())


def root() -> Node:
    """The node above all modules."""
    return Node("", "")


_ADDRESS_TYPES = {"ipv4-prefix", "ipv6-prefix", "ip-prefix"}


def canonical(node: Node, text: str) -> str:
    """Canonical form of a key or leaf value, where text in a path may deviate from it.

    RFC 6991 types only; libyang brings everything that is written into canonical form itself.
    """
    try:
        if node.typedef in _ADDRESS_TYPES and "/" in text:
            return str(ip_interface(text).network)
        if "ip" in node.typedef and "address" in node.typedef and "%" not in text:
            return str(ip_address(text))
    except ValueError:
        pass
    return text
