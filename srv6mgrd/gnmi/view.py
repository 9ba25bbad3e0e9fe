"""Configuration, status and counters as one readable tree at one moment. Pure.

Status and counters hang below configured objects only: what the configuration no longer holds
has no state, whatever the store still says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from srv6mgrd.counters.yang import object_state
from srv6mgrd.gnmi.budget import LEAF, Budget
from srv6mgrd.gnmi.mirror import Tree, tree
from srv6mgrd.gnmi.observed import below as observed_below
from srv6mgrd.gnmi.path import Pattern, Step
from srv6mgrd.gnmi.projections.view import Shown, View, objects_of, trees
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.schema import Kind, Node
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.status import Kind as Object
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters

# Whether a node is wanted; asked for leaves only.
Want = Callable[[Node], bool]


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a tree is given: leaves that are wanted, that may be read, and that lie at most
    ``depth`` levels below the path (gnmi-depth.md); 0 is any number of levels."""

    want: Want
    permit: Permit | None = None
    depth: int = 0

    def takes(self, at: Pattern, base: int) -> bool:
        """Whether the leaf ``at`` is given for a path of ``base`` elements."""
        if self.depth and len(at) - base > self.depth:
            return False
        return self.want(at[-1].node) and self.permitted(at)

    def permitted(self, at: Pattern) -> bool:
        return self.permit is None or self.permit(at)


_POLICIES = "/srv6mgr-srv6:srv6/srv6mgr-routing-policy:routing-policy/policy-definitions"
_CHAINING = "/srv6mgr-srv6:srv6/srv6mgr-chain:service-chaining"
_STATEFUL = {
    "/srv6mgr-srv6:srv6/locators/locator": Object.LOCATOR,
    "/srv6mgr-srv6:srv6/vrfs/vrf": Object.VRF,
    "/srv6mgr-srv6:srv6/interfaces/interface": Object.INTERFACE,
    "/srv6mgr-srv6:srv6/local-sids/sid": Object.SID,
    "/srv6mgr-srv6:srv6/vrfs/vrf/srv6mgr-bgp:bgp": Object.VRF_BGP,
    "/srv6mgr-srv6:srv6/vrfs/vrf/srv6mgr-ospf:ospf": Object.OSPF,
    "/srv6mgr-srv6:srv6/vrfs/vrf/srv6mgr-ospf:ospfv3": Object.OSPFV3,
    "/srv6mgr-srv6:srv6/segment-lists/segment-list": Object.SEGMENT_LIST,
    f"{_POLICIES}/policy-definition": Object.ROUTING_POLICY,
    f"{_CHAINING}/service-function": Object.SERVICE_FUNCTION,
    f"{_CHAINING}/service-function-group": Object.SERVICE_FUNCTION_GROUP,
    f"{_CHAINING}/service-function-chain": Object.SERVICE_FUNCTION_CHAIN,
    f"{_CHAINING}/classifier": Object.CLASSIFIER,
}
_PROXY = "srv6mgr-proxy:proxy"
# Routes and leaks are named by two keys. Some are in two lists: of a VRF, and of none, which has
# a name here.
_TOP = "/srv6mgr-srv6:srv6"
_VRF = f"{_TOP}/vrfs/vrf"
_ROUTES = {
    f"{_TOP}/srv6mgr-steering:steering/route": (Object.ROUTE, "main"),
    f"{_VRF}/srv6mgr-steering:steering/route": (Object.ROUTE, None),
    f"{_VRF}/srv6mgr-routing:static-routes/route": (Object.STATIC_ROUTE, None),
    f"{_TOP}/srv6mgr-routing:default-vrf/import-from": (Object.ROUTE_LEAK, DEFAULT_VRF),
    f"{_VRF}/srv6mgr-routing:route-leaking/import-from": (Object.ROUTE_LEAK, None),
}
_ROUTE_KINDS = frozenset(kind for kind, _ in _ROUTES.values())


class Model:
    """The schema, which of its nodes are objects with state, and the views beside it."""

    def __init__(self, root: Node, views: tuple[View, ...] = ()) -> None:
        self.root = root
        self.views = views
        self._tops = frozenset(view.top.member for view in views)
        self._routes = {n.path: n for n in root.descendants() if n.path in _ROUTES}
        self._objects = {
            id(node): _STATEFUL[node.path] for node in root.descendants() if node.path in _STATEFUL
        }
        self._nodes = {kind: node for node, kind in self._nodes_of(root)}
        sid = self._nodes.get(Object.SID)
        self._proxy = None if sid is None else sid.child(_PROXY)
        if self._proxy is not None and (state := self._proxy.child("state")) is not None:
            # Its counters are in containers of other names.
            for node in state.descendants():
                node.counts = node.typedef == "counter64"

    def _nodes_of(self, root: Node) -> Iterator[tuple[Node, Object]]:
        for node in root.descendants():
            if (kind := self._objects.get(id(node))) is not None:
                yield node, kind

    def object_at(self, at: Pattern) -> ObjectRef | None:
        """The object that has its state below the instance ``at``."""
        if not at:
            return None
        node = at[-1].node
        if node in self._routes.values():
            return _route(*_ROUTES[node.path], at)
        kind = self._objects.get(id(node))
        if kind is None:
            return None
        name = next(step.keys[0] for step in reversed(at) if step.keys)
        return None if name is None else ObjectRef(kind, name)

    def state_of(self, ref: ObjectRef) -> Pattern | None:
        """The path of the state of an object."""
        if ref.kind in _ROUTE_KINDS:
            return self._state_of_route(ref)
        node = self._nodes.get(ref.kind)
        state = None if node is None else node.child("state")
        if node is None or state is None:
            return None
        # One list on the way: the object's own, or the VRF's that has a VRF_BGP.
        return (
            *(Step(n, (ref.name,) if n.kind is Kind.LIST else ()) for n in node.lineage()),
            Step(state),
        )

    def is_proxy(self, node: Node) -> bool:
        """Whether this is the container that makes a SID a proxy."""
        return node is self._proxy

    def state_of_proxy(self, prefix: str) -> Pattern | None:
        """The path of the state of a SID's proxy."""
        state = None if self._proxy is None else self._proxy.child("state")
        if self._proxy is None or state is None:
            return None
        steps = (Step(n, (prefix,) if n.kind is Kind.LIST else ()) for n in self._proxy.lineage())
        return (*steps, Step(state))

    def _state_of_route(self, ref: ObjectRef) -> Pattern | None:
        vrf, _, prefix = ref.name.partition(" ")
        place = (ref.kind, vrf) if (ref.kind, vrf) in _ROUTES.values() else (ref.kind, None)
        for path, node in self._routes.items():
            state = node.child("state")
            if state is None or _ROUTES[path] != place:
                continue
            keys = iter((vrf, prefix) if place[1] is None else (prefix,))
            lineage = node.lineage()
            steps = (Step(n, (next(keys),) if n.kind is Kind.LIST else ()) for n in lineage)
            return (*steps, Step(state))
        return None

    def is_view(self, node: Node) -> bool:
        """Whether this top-level node belongs to a view."""
        return node.member in self._tops

    def source_of(self, at: Pattern) -> Pattern | None:
        """What a place in a view shows: the object, or the list of them; None elsewhere."""
        if not at or not self.is_view(at[0].node):
            return None
        for view in self.views:
            if len(at) >= len(view.list) and at[len(view.list) - 1].node is view.list[-1].node:
                if (shown := self._nodes.get(view.of)) is None:
                    return None
                *above, _ = (Step(node) for node in shown.lineage())
                return (*above, Step(shown, at[len(view.list) - 1].keys))
        return None


def _route(kind: Object, of: str | None, at: Pattern) -> ObjectRef | None:
    """A route is named by its VRF and its prefix; outside of VRFs by this word instead."""
    keys = [step.keys[0] for step in at if step.keys]
    if None in keys:
        return None
    return ObjectRef(kind, " ".join(k for k in (of, *keys)[-2:] if k is not None))


def is_counter(node: Node) -> bool:
    """Whether a leaf counts: it changes all the time and is sampled, not sent on change."""
    return node.counts or (
        not node.config and node.parent is not None and node.parent.name == "counters"
    )


def with_node(config: Tree, state: Tree) -> Tree:
    """Configuration with the state of the node, which hangs below the same top-level nodes."""
    if not state:
        return config
    return {**config, **{top: {**config.get(top, {}), **below} for top, below in state.items()}}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment. ``config`` holds the state of the node too. ``sampled_at`` (ns) is when the
    counters were read from the kernel; ``problem`` says why there is no state, if there is none.
    """

    model: Model
    config: Tree = field(default_factory=dict)
    status: Mapping[ObjectRef, ObjectStatus] = field(default_factory=dict)
    counters: Mapping[str, SidCounters] = field(default_factory=dict)
    sampled_at: int = 0
    problem: str = ""
    # State of the proxies by prefix, in RFC 7951 form.
    proxies: Mapping[str, Any] = field(default_factory=dict)
    # State of sessions, adjacencies and interfaces, as gnmi.observed has it.
    observed: Tree = field(default_factory=dict)
    # Spent by who reads it.
    budget: Budget | None = None

    def _spend(self, steps: int) -> None:
        if self.budget is not None:
            self.budget.spend(steps)

    def find(self, pattern: Pattern) -> Iterator[tuple[Pattern, Any]]:
        """Every instance that ``pattern`` names, with its data (state not yet attached)."""
        return self._find((), self.config, pattern)

    def has(self, at: Pattern) -> bool:
        """Whether there is such an instance."""
        return any(True for _ in self.find(at))

    def _find(self, at: Pattern, data: Any, rest: Pattern) -> Iterator[tuple[Pattern, Any]]:
        if not rest:
            yield at, data
            return
        (node, keys), rest = rest[0], rest[1:]
        below = self._member(at, data, node)
        if below is None:
            return
        if node.kind is not Kind.LIST:
            yield from self._find((*at, Step(node)), below, rest)
        elif None not in keys:
            if (entry := below.get(keys)) is not None:
                yield from self._find((*at, Step(node, keys)), entry, rest)
        else:
            for key, entry in below.items():
                self._spend(1)
                if all(w is None or w == k for w, k in zip(keys, key, strict=True)):
                    yield from self._find((*at, Step(node, key)), entry, rest)

    def _member(self, at: Pattern, data: Any, node: Node) -> Any:
        if node.member in data:
            return data[node.member]
        if not at and self.model.is_view(node):
            return trees(self.model.views, self.config, self.shown).get(node.member)
        if node.config:
            return None
        if node.name == "state" and at and self.model.is_proxy(at[-1].node):
            found = self.proxies.get(at[-2].keys[0] or "")
            return None if found is None else tree(node, found)
        seen = observed_below(self.observed, (*at, Step(node)))
        state = self.state(at) if node.name == "state" else None
        return seen if state is None else state if seen is None else {**state, **seen}

    def state(self, at: Pattern) -> dict[str, Any] | None:
        """Status of the object at ``at``; None when it is no object or unknown."""
        ref = self.model.object_at(at)
        status = None if ref is None else self.status.get(ref)
        if ref is None or status is None:
            return None
        return object_state(ref, status, self.counters.get(ref.name))

    def shown(self, of: Object, name: str) -> Shown | None:
        """The views' report of a configured object; None while nothing is known of it."""
        status = self.status.get(ObjectRef(of, name))
        config = objects_of(self.config, of).get((name,))
        if status is None or config is None:
            return None
        return Shown(name, config, status, self.counters.get(name, SidCounters()))

    def _below(self, at: Pattern, data: Mapping[str, Any]) -> Iterator[tuple[Node, Any]]:
        """Children of an instance with their data, state attached."""
        node = at[-1].node if at else self.model.root
        for child in node.children.values():
            value = self._member(at, data, child)
            if value is not None:
                yield child, value

    def subtree(self, at: Pattern, data: Any, chosen: Selection, base: int | None = None) -> Any:
        """Data of an instance, state attached, reduced to chosen leaves; None when none is.

        Keys stay in every list entry that keeps something. ``base`` is the length of the path
        that was asked for, which is ``at`` unless given.
        """
        node = at[-1].node if at else self.model.root
        base = len(at) if base is None else base
        self._spend(LEAF)
        if node.is_leaf:
            return data if chosen.takes(at, base) else None
        if chosen.depth and len(at) - base >= chosen.depth:
            return None
        out: dict[str, Any] = {}
        kept = False
        for child, value in self._below(at, data):
            if child.is_key:
                out[child.member] = value
                kept |= chosen.takes((*at, Step(child)), base)
                continue
            part: Any
            if child.kind is Kind.LIST:
                part = {}
                for key, entry in value.items():
                    below = self.subtree((*at, Step(child, key)), entry, chosen, base)
                    if below is not None:
                        part[key] = below
            else:
                part = self.subtree((*at, Step(child)), value, chosen, base)
            if part is not None and (part or child.is_leaf or child.presence):
                out[child.member] = part
                kept = True
        kept |= node.presence and chosen.takes(at, base)
        return out if kept else None

    def leaves(
        self, at: Pattern, data: Any, chosen: Selection, base: int | None = None
    ) -> Iterator[tuple[Pattern, Any]]:
        """Every chosen leaf and leaf-list at and below an instance; ``base`` as for subtree."""
        node = at[-1].node if at else self.model.root
        base = len(at) if base is None else base
        self._spend(LEAF)
        if node.is_leaf:
            if chosen.takes(at, base):
                yield at, data
            return
        if chosen.depth and len(at) - base >= chosen.depth:
            return
        for child, value in self._below(at, data):
            if child.kind is Kind.LIST:
                for key, entry in value.items():
                    yield from self.leaves((*at, Step(child, key)), entry, chosen, base)
            else:
                yield from self.leaves((*at, Step(child)), value, chosen, base)
