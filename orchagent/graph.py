"""What depends on what in the view, as APPL_DB and the kernel declare it. Pure.

A node is built once all it needs is built, and taken down before what it needs goes. Nothing is
counted by hand: who uses a node follows from the rows. Rows in any order end the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orchagent import plans, sai
from orchagent.decap import DecapModes
from orchagent.nodes import (
    INSTALLED,
    ROWS,
    VIRTUAL,
    Change,
    Create,
    Fields,
    Kind,
    Node,
    Operation,
    Plan,
    Remove,
    State,
    Status,
    referred,
)
from orchagent.sai import Attributes, Reference

_NOTHING = Plan()


class Graph:
    """``put`` and ``drop`` say what is declared, ``settle`` what is to be done about it."""

    def __init__(self) -> None:
        # Of rows, and of nodes that follow from them.
        self._plans: dict[Node, Plan] = {}
        self._rows: set[Node] = set()
        self._users: dict[Node, set[Node]] = {}
        self._neighbors = plans.Neighbors()
        self._modes = DecapModes()
        # Of SIDs that a DSCP mode may be configured for.
        self._decapsulating: dict[Node, Fields] = {}
        # VRFs of interfaces that rows declare.
        self._vrfs: dict[str, str] = {}
        self._built: dict[Node, Attributes] = {}
        self._failed: dict[Node, str] = {}
        self._dirty: set[Node] = set()

    def adopt(self, built: Mapping[Node, Attributes]) -> None:
        """What exists already, from before a restart."""
        self._built.update(built)
        self._dirty.update(built)

    def put(self, node: Node, fields: Fields) -> None:
        """A row with these fields; what it was before is void."""
        self._rows.add(node)
        if node.kind is Kind.NEIGHBOR:
            self._neighbors.put(node, fields)
        elif node.kind is Kind.INTERFACE:
            self._vrfs[node.name] = fields.get("vrf_name", "")
            self._replan(Node(Kind.ROUTER_INTERFACE, node.name))
        elif node.kind is Kind.SID:
            if plans.decapsulates(fields):
                self._decapsulating[node] = fields
            else:
                self._decapsulating.pop(node, None)
        self._declare(node, plans.of_row(node, fields, self._modes))
        if node.kind is Kind.NEIGHBOR:
            self._meet(node)

    def drop(self, node: Node) -> None:
        """The row is gone."""
        self._rows.discard(node)
        self._decapsulating.pop(node, None)
        if node.kind is Kind.NEIGHBOR:
            self._neighbors.drop(node)
            self._see(node)
            return
        self._forget(node)
        if node.kind is Kind.INTERFACE and self._vrfs.pop(node.name, ""):
            self._replan(Node(Kind.ROUTER_INTERFACE, node.name))

    def see(self, neighbors: Mapping[Node, Fields]) -> None:
        """These neighbors are there, beside those that rows declare; none but these."""
        for node in self._neighbors.see(neighbors):
            self._see(node)

    def configure(self, modes: DecapModes) -> None:
        """How SIDs treat the DSCP of what they decapsulate, by CONFIG_DB."""
        if modes == self._modes:
            return
        self._modes = modes
        for node, fields in self._decapsulating.items():
            self._declare(node, plans.of_row(node, fields, modes))

    def settle(self) -> list[Operation]:
        """What is to be done now, in order. It counts as done until ``failed`` says otherwise."""
        concerned = sorted(self._concerned())
        leaving = self._leaving(concerned)
        # An object that another one refers to until that is changed below.
        late = set[Node]()
        for node in reversed(concerned):
            if node in self._built and (node not in leaving or node in late):
                late |= leaving.intersection(referred(self._built[node]))
        operations: list[Operation] = []
        gone = {n: self._built.pop(n) for n in reversed(concerned) if n in leaving}
        operations += (Remove(n) for n in gone if n not in late and n.kind not in VIRTUAL)
        for node in concerned:
            if not self._ready(node):
                continue
            attributes, before = self._attributes(node), self._built.get(node)
            self._built[node] = attributes
            if node.kind in VIRTUAL:
                continue
            if before is None:
                operations.append(Create(node, attributes))
            elif before != attributes:
                different = {n: v for n, v in attributes.items() if before.get(n) != v}
                operations.append(Change(node, different))
        operations += (Remove(n) for n in gone if n in late and n.kind not in VIRTUAL)
        return operations

    def failed(self, node: Node, reason: str) -> None:
        """An operation was rejected; the node does not exist. The next ``settle`` takes down what
        was built for it alone."""
        self._built.pop(node, None)
        self._failed[node] = reason
        self._dirty |= {node, *(n for n in self._plan(node).needs if n.kind is Kind.COUNTER)}

    def state(self, node: Node) -> State | None:
        """What became of a row; None when there is none."""
        if node not in self._rows:
            return None
        plan = self._plan(node)
        if plan.fault is not None:
            return plan.fault
        if (reason := self._failed.get(node)) is not None:
            return State(Status.FAILED, reason)
        if node in self._built:
            return INSTALLED
        return State(Status.PENDING, self._lacking(node))

    def concerned_rows(self, operations: Iterable[Operation]) -> set[Node]:
        """Rows whose state the operations may have changed."""
        found = {o.node for o in operations if o.node.kind in ROWS}
        for operation in operations:
            if operation.node.kind in (Kind.GROUP_MEMBER, Kind.SRV6_NEXT_HOP, Kind.NEXT_HOP):
                users = self._users.get(operation.node, ())
                found |= {n for n in users if n.kind in ROWS and n in self._rows}
            if operation.node.kind is Kind.TUNNEL_MAP_ENTRY:
                users = self._users.get(operation.node, ())
                found |= {n for n in users if n.kind is Kind.PIC_CONTEXT}
        return found

    @property
    def rows(self) -> Iterable[Node]:
        return self._rows

    @property
    def built(self) -> Mapping[Node, Attributes]:
        """All objects that exist."""
        return {n: a for n, a in self._built.items() if n.kind not in VIRTUAL}

    def users(self, node: Node) -> int:
        """How many nodes use this one."""
        return len(self._users.get(node, ()))

    def count(self, kind: Kind) -> int:
        """How many of this kind exist."""
        return sum(1 for node in self._built if node.kind is kind)

    def _declare(self, node: Node, plan: Plan) -> None:
        if self._plans.get(node) == plan and node not in self._failed:
            return
        self._failed.pop(node, None)
        before = self._plan(node).needs
        self._plans[node] = plan
        # New needs first: one that goes and comes is the same object.
        for need in plan.needs:
            if need not in self._users:
                # It comes with its first user. To look at all users of a VRF for each new one
                # would be quadratic.
                self._users[need] = set()
                self._dirty.add(need)
                if need.kind not in ROWS:
                    self._failed.pop(need, None)
                    self._declare(need, self._derived(need))
            self._users[need].add(node)
        self._release(node, (n for n in before if n not in plan.needs))
        self._dirty.add(node)

    def _forget(self, node: Node) -> None:
        plan = self._plans.pop(node, _NOTHING)
        self._failed.pop(node, None)
        self._release(node, plan.needs)
        self._dirty.add(node)

    def _release(self, node: Node, needs: Iterable[Node]) -> None:
        for need in needs:
            users = self._users[need]
            users.discard(node)
            if not users:
                del self._users[need]
                self._dirty.add(need)
                if need.kind not in ROWS:
                    self._forget(need)

    def _derived(self, node: Node) -> Plan:
        return plans.derived(node, self._neighbors, self._vrfs)

    def _replan(self, node: Node) -> None:
        """Something that a derived node follows from has changed."""
        if node in self._users:
            self._declare(node, self._derived(node))

    def _see(self, node: Node) -> None:
        """A neighbor that no row declares came, changed or went."""
        if node in self._rows:
            return
        fields = self._neighbors.fields(node)
        if fields is None:
            self._forget(node)
        else:
            self._declare(node, plans.of_row(node, fields, self._modes))
        self._meet(node)

    def _meet(self, neighbor: Node) -> None:
        """A neighbor is otherwise: so are its entry, and what goes by its address."""
        self._replan(Node(Kind.NEIGHBOR_ENTRY, neighbor.name))
        self._replan(Node(Kind.ADJACENCY, plans.address(neighbor)))
        self._replan(Node(Kind.ADJACENCY, neighbor.name))

    def _concerned(self) -> set[Node]:
        """What is dirty, with all that depends on it, however far."""
        todo, seen = list(self._dirty), set[Node]()
        self._dirty = set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            todo += self._users.get(node, ())
            if node.kind is Kind.SID:
                # Its counter comes and goes with it, also when it waits for something else.
                todo += (n for n in self._plan(node).needs if n.kind is Kind.COUNTER)
        return seen

    def _leaving(self, concerned: Iterable[Node]) -> set[Node]:
        """Objects to take down; also those to create again, with all that refers to them."""
        leaving, anew = set[Node](), set[Node]()
        for node in concerned:
            if (before := self._built.get(node)) is None:
                continue
            if not self._exists(node):
                leaving.add(node)
            elif not self._can_stay(node) or not anew.isdisjoint(referred(before)):
                leaving.add(node)
                anew.add(node)
        return leaving

    def _plan(self, node: Node) -> Plan:
        return self._plans.get(node, _NOTHING)

    def _ready(self, node: Node) -> bool:
        """Whether it is to exist, given what is built by now."""
        return self._is_declared(node) and all(n in self._built for n in self._plan(node).needs)

    def _exists(self, node: Node) -> bool:
        """Whether it is to go on existing: no more than ``_ready``, asked before removals reach
        what it needs."""
        return self._is_declared(node) and all(
            n in self._built and self._exists(n) for n in self._plan(node).needs
        )

    def _can_stay(self, node: Node) -> bool:
        """Whether it can become as planned without being created again."""
        before, after = self._built[node], self._attributes(node)
        return before == after or sai.can_be_changed(before, after)

    def _is_declared(self, node: Node) -> bool:
        """Whether something asks for it, its needs aside."""
        plan = self._plans.get(node)
        if plan is None or plan.fault is not None or node in self._failed:
            return False
        if node.kind is Kind.COUNTER:
            return any(self._wants_counter(user) for user in self._users.get(node, ()))
        return True

    def _wants_counter(self, sid: Node) -> bool:
        others = [n for n in self._plan(sid).needs if n.kind is not Kind.COUNTER]
        return self._is_declared(sid) and all(n in self._built and self._exists(n) for n in others)

    def _attributes(self, node: Node) -> Attributes:
        attributes = self._plan(node).attributes
        if not any(isinstance(v, Reference) and v.kind in VIRTUAL for v in attributes.values()):
            return attributes
        return {n: self._resolved(v) for n, v in attributes.items()}

    def _resolved(self, value: str | Reference) -> str | Reference:
        if not isinstance(value, Reference) or value.kind not in VIRTUAL:
            return value
        other = self._plan(Node(Kind(value.kind), value.name)).stands_for
        return value if other is None else self._resolved(other)

    def _lacking(self, node: Node) -> str:
        for need in self._plan(node).needs:
            if need in self._built or need.kind is Kind.COUNTER:
                continue
            if need in self._failed:
                return f"{plans.words(need)}: {self._failed[need]}"
            if need.kind not in ROWS and (plan := self._plans.get(need)) is not None:
                if plan.fault is not None:
                    return plan.fault.reason
                return self._lacking(need)
            return plans.missing(need)
        return "what it needs is being built"
