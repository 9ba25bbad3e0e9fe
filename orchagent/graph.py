"""What depends on what: VRFs, next hops, segment lists and SIDs, as APPL_DB declares them. Pure.

A node is built once all it needs is built, and taken down before what it needs goes. Nothing is
counted by hand: who uses a node follows from the rows. Rows in any order end the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from orchagent import sai
from orchagent.sai import Attributes, Reference

Fields = Mapping[str, str]


class Kind(IntEnum):
    """Kinds of nodes, in the order in which they are built."""

    VRF = 1
    NEIGHBOR = 2
    ROUTER_INTERFACE = 3
    NEXT_HOP = 4
    SID_LIST = 5
    COUNTER = 6
    SID = 7

    __hash__ = int.__hash__


class Node(NamedTuple):
    """A node: its kind, and the key of its row or a name of its own."""

    kind: Kind
    name: str


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


_INSTALLED = State(Status.INSTALLED)
_ROUTER = "default"

# Those that stand for a row; the others follow from their users.
ROWS = (Kind.VRF, Kind.NEIGHBOR, Kind.SID_LIST, Kind.SID)


@dataclass(frozen=True, slots=True)
class Create:
    """Build an object. References are to nodes that are built."""

    node: Node
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Change:
    """Change attributes of an object that stands."""

    node: Node
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Remove:
    """Take an object down."""

    node: Node


Operation = Create | Change | Remove


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a row asks for: the nodes that it needs, and its attributes; or why it can't be."""

    needs: tuple[Node, ...] = ()
    attributes: Attributes = field(default_factory=dict)
    fault: State | None = None


class Graph:
    """``put`` and ``drop`` say what is declared, ``settle`` what is to be done about it."""

    def __init__(self) -> None:
        self._plans: dict[Node, _Plan] = {}
        self._users: dict[Node, set[Node]] = {}
        # Neighbors beside those of rows.
        self._seen: frozenset[Node] = frozenset()
        # Addresses of neighbors on any interface.
        self._at: dict[str, set[Node]] = {}
        self._built: dict[Node, Attributes] = {}
        self._failed: dict[Node, str] = {}
        self._dirty: set[Node] = set()

    def adopt(self, built: Mapping[Node, Attributes]) -> None:
        """What stands already, from before a restart."""
        self._built.update(built)
        self._dirty.update(built)

    def put(self, node: Node, fields: Fields) -> None:
        """A row with these fields; what it was before is void."""
        plan = _PLANS[node.kind](node.name, fields)
        if self._plans.get(node) == plan and node not in self._failed:
            return
        self._unlink(node)
        self._failed.pop(node, None)
        self._plans[node] = plan
        for need in plan.needs:
            if need not in self._users:
                # Next hops and counters come with their first user. To look at all users of a VRF
                # for each new one would be quadratic.
                self._users[need] = set()
                self._dirty.add(need)
            self._users[need].add(node)
        if node.kind is Kind.NEIGHBOR:
            self._at.setdefault(_address(node), set()).add(node)
        self._dirty.add(node)

    def drop(self, node: Node) -> None:
        """The row is gone."""
        self._unlink(node)
        self._plans.pop(node, None)
        self._failed.pop(node, None)
        self._dirty.add(node)

    def see(self, neighbors: frozenset[Node]) -> None:
        """These neighbors are there, beside those that rows declare; none but these."""
        before, self._seen = self._seen, neighbors
        for node in before - neighbors:
            self._forget_address(node)
        for node in neighbors - before:
            self._at.setdefault(_address(node), set()).add(node)
        self._dirty |= before ^ neighbors

    def settle(self) -> list[Operation]:
        """What is to be done now, in order. It counts as done until ``failed`` says otherwise."""
        concerned = self._concerned()
        removals: list[Operation] = []
        puts: list[Operation] = []
        for node in sorted(concerned, reverse=True):
            if node in self._built and not (self._exists(node) and self._can_stay(node)):
                removals.append(Remove(node))
                del self._built[node]
        for node in sorted(concerned):
            if not self._ready(node):
                continue
            attributes, before = self._attributes(node), self._built.get(node)
            if before is None:
                puts.append(Create(node, attributes))
            elif before != attributes:
                different = {n: v for n, v in attributes.items() if before.get(n) != v}
                puts.append(Change(node, different))
            self._built[node] = attributes
        return removals + puts

    def failed(self, node: Node, reason: str) -> None:
        """An operation was refused; the node does not stand. The next ``settle`` takes down what
        was built for it alone."""
        self._built.pop(node, None)
        self._failed[node] = reason
        self._dirty |= {node, *(n for n in self._plan(node).needs if n.kind is Kind.COUNTER)}

    def state(self, node: Node) -> State | None:
        """What became of a row; None when there is none."""
        plan = self._plans.get(node)
        if plan is None:
            return None
        if plan.fault is not None:
            return plan.fault
        if (reason := self._failed.get(node)) is not None:
            return State(Status.FAILED, reason)
        if node in self._built or node.kind is Kind.NEIGHBOR:
            return _INSTALLED
        return State(Status.PENDING, self._lacking(node))

    def concerned_rows(self, operations: Iterable[Operation]) -> set[Node]:
        """Rows whose state the operations may have changed."""
        return {o.node for o in operations if o.node.kind in ROWS}

    @property
    def rows(self) -> Iterable[Node]:
        return self._plans.keys()

    @property
    def built(self) -> Mapping[Node, Attributes]:
        """All that stands."""
        return self._built

    def users(self, node: Node) -> int:
        """How many nodes use this one."""
        return len(self._users.get(node, ()))

    def count(self, kind: Kind) -> int:
        """How many of this kind stand."""
        return sum(1 for node in self._built if node.kind is kind)

    def _unlink(self, node: Node) -> None:
        for need in self._plan(node).needs:
            users = self._users[need]
            users.discard(node)
            if not users:
                del self._users[need]
                self._dirty.add(need)
        if node.kind is Kind.NEIGHBOR and node not in self._seen:
            self._at.get(_address(node), set()).discard(node)

    def _forget_address(self, node: Node) -> None:
        if node not in self._plans:
            self._at.get(_address(node), set()).discard(node)

    def _concerned(self) -> set[Node]:
        """What is dirty, with all that stands on it, however far."""
        todo, seen, interfaces = list(self._dirty), set[Node](), set[Node]()
        self._dirty = set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            todo += self._users.get(node, ())
            if node.kind is Kind.NEIGHBOR:
                todo += (Node(Kind.NEXT_HOP, name) for name in (node.name, _address(node)))
            elif node.kind is Kind.SID:
                # Its counter comes and goes with it, also when it waits for something else.
                todo += (n for n in self._plan(node).needs if n.kind is Kind.COUNTER)
            elif node.kind is Kind.NEXT_HOP and (interface := _interface(node)) is not None:
                # Not with all that use it: those of this next hop are concerned already.
                interfaces.add(interface)
        return seen | interfaces

    def _plan(self, node: Node) -> _Plan:
        return self._plans.get(node, _NOTHING)

    def _ready(self, node: Node) -> bool:
        """Whether it shall stand, given what is built by now."""
        return self._is_declared(node) and all(n in self._built for n in self._plan(node).needs)

    def _exists(self, node: Node) -> bool:
        """Whether it shall go on standing: no more than ``_ready``, asked before removals reach
        what it needs."""
        return self._is_declared(node) and all(
            n in self._built and self._exists(n) for n in self._plan(node).needs
        )

    def _can_stay(self, node: Node) -> bool:
        """Whether it need not be made anew to become what it shall be."""
        before, after = self._built[node], self._attributes(node)
        return before == after or sai.can_be_changed(before, after)

    def _is_declared(self, node: Node) -> bool:
        """Whether something asks for it, its needs aside."""
        if node in self._failed:
            return False
        if node.kind in (Kind.VRF, Kind.SID_LIST, Kind.SID, Kind.NEIGHBOR):
            plan = self._plans.get(node)
            return plan is not None and plan.fault is None
        if node.kind is Kind.NEXT_HOP:
            return bool(self._users.get(node)) and self._neighbor(node) is not None
        if node.kind is Kind.ROUTER_INTERFACE:
            return any(
                self._is_declared(need)
                for user in self._users.get(node, ())
                for need in self._plan(user).needs
                if need.kind is Kind.NEXT_HOP
            )
        return any(self._wants_counter(user) for user in self._users.get(node, ()))

    def _wants_counter(self, sid: Node) -> bool:
        others = [n for n in self._plan(sid).needs if n.kind is not Kind.COUNTER]
        return self._is_declared(sid) and all(
            n in self._built and self._is_declared(n) for n in others
        )

    def _neighbor(self, node: Node) -> Node | None:
        """The neighbor of a next hop; of one without interface, if there is only one."""
        if "@" in node.name:
            neighbor = Node(Kind.NEIGHBOR, node.name)
            return neighbor if neighbor in self._plans or neighbor in self._seen else None
        found = self._at.get(node.name, set())
        return next(iter(found)) if len(found) == 1 else None

    def _attributes(self, node: Node) -> Attributes:
        if node.kind is Kind.NEXT_HOP:
            interface = _interface(node)
            reference = Reference(int(interface.kind), interface.name) if interface else None
            return sai.next_hop(_address(node), reference)
        if node.kind is Kind.ROUTER_INTERFACE:
            return sai.router_interface(Reference(int(Kind.VRF), _ROUTER))
        if node.kind is Kind.COUNTER:
            return sai.COUNTER
        return self._plan(node).attributes

    def _lacking(self, node: Node) -> str:
        for need in self._plan(node).needs:
            if need.kind in (Kind.COUNTER, Kind.ROUTER_INTERFACE) or need in self._built:
                continue
            if need.kind is Kind.VRF:
                return f"VRF {need.name} is not there yet (VRF_TABLE)"
            if need in self._failed:
                return f"next hop {need.name}: {self._failed[need]}"
            return f"next hop {need.name} is not resolved yet (NEIGH_TABLE, kernel)"
        return "what it needs is being built"


def _address(node: Node) -> str:
    return node.name.partition("@")[0]


def _interface(next_hop: Node) -> Node | None:
    """The router interface of a next hop that names one."""
    name = next_hop.name.partition("@")[2]
    return Node(Kind.ROUTER_INTERFACE, name) if name else None


def _vrf(name: str, _: Fields) -> _Plan:
    return _Plan(attributes=sai.VIRTUAL_ROUTER)


def _nothing(name: str, _: Fields) -> _Plan:
    return _NOTHING


def _sid_list(name: str, fields: Fields) -> _Plan:
    try:
        return _Plan(attributes=sai.sid_list(fields))
    except sai.SaiError as error:
        return _Plan(fault=State(Status.FAILED, str(error)))


def _sid(name: str, fields: Fields) -> _Plan:
    try:
        entry = sai.my_sid(name, fields)
    except sai.UnsupportedError as error:
        return _Plan(fault=State(Status.UNSUPPORTED, str(error)))
    except sai.SaiError as error:
        return _Plan(fault=State(Status.FAILED, str(error)))
    attributes: dict[str, str | Reference] = dict(entry.attributes)
    needs = []
    if entry.vrf is not None:
        if entry.vrf != _ROUTER:
            needs.append(Node(Kind.VRF, entry.vrf))
        attributes[sai.VRF] = Reference(int(Kind.VRF), entry.vrf)
    if entry.next_hop is not None:
        hop = Node(Kind.NEXT_HOP, entry.next_hop)
        interface = _interface(hop)
        needs += [hop] if interface is None else [interface, hop]
        attributes[sai.NEXT_HOP_ID] = Reference(int(Kind.NEXT_HOP), entry.next_hop)
    needs.append(Node(Kind.COUNTER, name))
    attributes[sai.COUNTER_ID] = Reference(int(Kind.COUNTER), name)
    return _Plan(tuple(needs), attributes)


_NOTHING = _Plan()
_PLANS = {
    Kind.VRF: _vrf,
    Kind.NEIGHBOR: _nothing,
    Kind.SID_LIST: _sid_list,
    Kind.SID: _sid,
}
