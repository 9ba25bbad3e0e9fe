"""The schema of the configuration, as far as it takes to find an object by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """What may hold data."""

    CONTAINER = "container"
    LIST = "list"
    LEAF = "leaf"
    LEAF_LIST = "leaf-list"


@dataclass(frozen=True, slots=True)
class Schema:
    """A node, whose children are made when they are asked for. ``canonical`` makes the value that
    libyang takes of one that is written shorter."""

    name: str
    module: str
    kind: Kind
    keys: tuple[str, ...] = ()
    is_empty: bool = False
    below: Callable[[], Sequence[Schema]] = tuple
    canonical: Callable[[str], str] = str
    _children: list[Sequence[Schema]] = field(default_factory=list, repr=False, compare=False)

    @property
    def children(self) -> Sequence[Schema]:
        if not self._children:
            self._children.append(self.below())
        return self._children[0]

    def child(self, name: str) -> Schema | None:
        """The child of this name, with or without the module in front."""
        module, _, plain = name.rpartition(":")
        found = (c for c in self.children if c.name == plain and module in ("", c.module))
        return next(found, None)


def of_libyang(snode: Any) -> Schema:
    """The configuration below a schema node. It is good as long as the context is."""
    from libyang.schema import SNode, Type

    kinds = {
        SNode.CONTAINER: Kind.CONTAINER,
        SNode.LIST: Kind.LIST,
        SNode.LEAF: Kind.LEAF,
        SNode.LEAFLIST: Kind.LEAF_LIST,
    }

    def children(node: Any) -> Iterator[Schema]:
        for child in node.children():
            if child.nodetype() in (SNode.CHOICE, SNode.CASE):
                yield from children(child)
            elif child.nodetype() in kinds and not child.config_false():
                yield made(child)

    def made(node: Any) -> Schema:
        kind = kinds[node.nodetype()]
        name, module = node.name(), node.module().name()
        if kind in (Kind.LEAF, Kind.LEAF_LIST):
            base = node.type().base()
            canonical = _identity(node) if base == Type.IDENT else str
            return Schema(name, module, kind, is_empty=base == Type.EMPTY, canonical=canonical)
        keys = tuple(k.name() for k in list(node.keys())) if kind is Kind.LIST else ()
        return Schema(name, module, kind, keys, below=lambda: tuple(children(node)))

    return made(snode)


def _identity(leaf: Any) -> Callable[[str], str]:
    """Identities of other modules need the name of theirs in front (RFC 7951 section 6.8)."""

    def canonical(text: str) -> str:
        if ":" in text:
            return text
        bases = list(leaf.type().identity_bases())
        while bases:
            identity = bases.pop()
            if identity.name() == text:
                return f"{identity.module().name()}:{text}"
            bases += identity.derived()
        return text

    return canonical
