"""Nodes of the graph: objects of the view, and the rows that ask for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from orchagent.sai import Attributes, Reference

Fields = Mapping[str, str]


class Kind(IntEnum):
    """Kinds of nodes, in the order in which they are built."""

    VRF = 1
    ROUTER_INTERFACE = 2
    INTERFACE = 3
    NEIGHBOR_ENTRY = 4
    NEXT_HOP = 5
    NEIGHBOR = 6
    ADJACENCY = 7
    SID_LIST = 8
    TUNNEL_MAP = 9
    TUNNEL = 10
    PREFIX_AGG = 11
    TUNNEL_MAP_ENTRY = 12
    SRV6_NEXT_HOP = 13
    GROUP = 14
    GROUP_MEMBER = 15
    NEXT_HOP_GROUP = 16
    PIC_CONTEXT = 17
    TUNNEL_TERM = 18
    COUNTER = 19
    SID = 20
    ROUTE = 21

    __hash__ = int.__hash__


class Node(NamedTuple):
    """A node: its kind, and the key of its row or a name of its own."""

    kind: Kind
    name: str


# Those that are rows; the others follow from their users.
ROWS = frozenset(
    {
        Kind.VRF,
        Kind.INTERFACE,
        Kind.NEIGHBOR,
        Kind.SID_LIST,
        Kind.NEXT_HOP_GROUP,
        Kind.PIC_CONTEXT,
        Kind.SID,
        Kind.ROUTE,
    }
)
# Those that nothing is made of: rows that ask for several objects, and names for another node.
VIRTUAL = frozenset(
    {
        Kind.INTERFACE,
        Kind.NEIGHBOR,
        Kind.ADJACENCY,
        Kind.NEXT_HOP_GROUP,
        Kind.PIC_CONTEXT,
    }
)


class Status(StrEnum):
    """What became of a row (YANG typedef install-status)."""

    INSTALLED = "installed"
    PENDING = "pending"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class State(NamedTuple):
    """Status and reason."""

    status: Status
    reason: str = ""


INSTALLED = State(Status.INSTALLED)
# The default VRF: the virtual router that a switch has anyway.
ROUTER = "default"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a node asks for: the nodes that it needs, and its attributes; or why it can't be.
    References to a virtual node mean the node that it ``stands_for``."""

    needs: tuple[Node, ...] = ()
    attributes: Attributes = field(default_factory=dict)
    fault: State | None = None
    stands_for: Reference | None = None


def reference(node: Node) -> Reference:
    return Reference(int(node.kind), node.name)


def referred(attributes: Attributes) -> list[Node]:
    """The nodes that attributes refer to, but for the switch's own virtual router."""
    found = (v for v in attributes.values() if isinstance(v, Reference))
    return [Node(Kind(v.kind), v.name) for v in found if v != _SWITCH_ROUTER]


_SWITCH_ROUTER = Reference(int(Kind.VRF), ROUTER)


@dataclass(frozen=True, slots=True)
class Create:
    """Build an object. References are to nodes that are built."""

    node: Node
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Change:
    """Change attributes of an existing object."""

    node: Node
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Remove:
    """Take an object down."""

    node: Node


Operation = Create | Change | Remove
