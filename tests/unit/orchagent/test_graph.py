"""The dependency graph: any order ends the same, nothing leaks, reasons are reported."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchagent.consumer import node_of
from orchagent.decap import DecapModes, modes
from orchagent.graph import Graph
from orchagent.nodes import Change, Create, Kind, Node, Operation, Remove, Status, referred
from orchagent.sai import Attributes

VRF = Node(Kind.VRF, "Vrf1")
SID = Node(Kind.SID, "32:16:16:0:fc00:0:1:1::")
ADJ = Node(Kind.SID, "32:16:16:0:fc00:0:1:2::")
NEIGHBOR = Node(Kind.NEIGHBOR, "fe80::1@eth0")
LIST = Node(Kind.SID_LIST, "path")
DT46 = {"action": "end.dt46", "vrf": "Vrf1"}
END_X = {"action": "end.x", "adj": "fe80::1@eth0"}


class Backend:
    """Rejects what a backend would: references to what is not there, removal of what is used."""

    def __init__(self) -> None:
        self.objects: dict[Node, Attributes] = {}
        self.operations = 0

    def apply(self, operations: list[Operation]) -> None:
        for operation in operations:
            self.operations += 1
            node = operation.node
            match operation:
                case Create():
                    assert node not in self.objects, f"{node} twice"
                    self.objects[node] = dict(operation.attributes)
                case Change():
                    self.objects[node] = {**self.objects[node], **operation.attributes}
                case Remove():
                    del self.objects[node]
                    assert not [n for n in self.objects if node in self._references(n)], node
            for reference in self._references(node):
                assert reference in self.objects, f"{node} refers to {reference}"

    def kinds(self) -> set[Kind]:
        return {node.kind for node in self.objects}

    def _references(self, node: Node) -> list[Node]:
        return referred(self.objects.get(node, {}))


class World:
    def __init__(self) -> None:
        self.graph, self.backend = Graph(), Backend()

    def put(self, node: Node, **fields: str) -> None:
        self.graph.put(node, fields)
        self.settle()

    def drop(self, node: Node) -> None:
        self.graph.drop(node)
        self.settle()

    def settle(self) -> None:
        self.backend.apply(self.graph.settle())
        assert self.backend.objects == self.graph.built
        assert self.graph.settle() == []

    def state(self, node: Node) -> tuple[Status, str]:
        state = self.graph.state(node)
        assert state is not None
        return state


def test_a_sid_waits_for_its_vrf() -> None:
    world = World()
    world.put(SID, **DT46)
    status, reason = world.state(SID)
    assert (status, reason) == (Status.PENDING, "VRF Vrf1 is not there yet (VRF_TABLE)")
    assert world.backend.objects == {}
    world.put(VRF, NULL="NULL")
    assert world.state(SID) == (Status.INSTALLED, "")
    # It is taken down before its VRF goes, and waits again.
    world.drop(VRF)
    assert world.state(SID)[0] is Status.PENDING
    assert world.backend.objects == {}


def test_a_sid_waits_for_its_neighbor() -> None:
    world = World()
    world.put(ADJ, **END_X)
    assert world.state(ADJ) == (
        Status.PENDING,
        "next hop fe80::1@eth0 is not resolved yet (NEIGH_TABLE, kernel)",
    )
    # A pending SID that goes leaves nothing behind for when its neighbor comes.
    world.drop(ADJ)
    world.put(NEIGHBOR, neigh="02:00:00:00:00:01", family="IPv6")
    # A neighbor is a next hop, whatever uses it.
    assert world.backend.kinds() == {Kind.ROUTER_INTERFACE, Kind.NEIGHBOR_ENTRY, Kind.NEXT_HOP}
    world.put(ADJ, **END_X)
    assert world.state(ADJ)[0] is Status.INSTALLED
    world.drop(NEIGHBOR)
    assert world.state(ADJ)[0] is Status.PENDING
    assert world.backend.objects == {}


def test_an_address_alone_is_a_neighbor_on_any_interface() -> None:
    world = World()
    world.put(ADJ, action="end.x", adj="fe80::1")
    world.put(NEIGHBOR)
    assert world.state(ADJ)[0] is Status.INSTALLED
    world.drop(NEIGHBOR)
    assert world.state(ADJ)[0] is Status.PENDING


def test_another_behavior_is_another_object() -> None:
    world = World()
    world.put(VRF)
    world.put(SID, **DT46)
    done = world.backend.operations
    world.put(SID, **DT46)
    assert world.backend.operations == done
    world.put(SID, action="end")
    assert "SAI_MY_SID_ENTRY_ATTR_VRF" not in world.backend.objects[SID]
    world.drop(VRF)
    assert world.state(SID)[0] is Status.INSTALLED


def test_another_vrf_is_changed_in_place() -> None:
    world = World()
    world.put(VRF)
    world.put(Node(Kind.VRF, "Vrf2"))
    world.put(SID, **DT46)
    world.graph.put(SID, {"action": "end.dt46", "vrf": "Vrf2"})
    (operation,) = world.graph.settle()
    assert isinstance(operation, Change)
    assert world.graph.users(VRF) == 0
    assert world.graph.users(Node(Kind.VRF, "Vrf2")) == 1


def test_repeated_sets_do_not_leak_references() -> None:
    world = World()
    world.put(VRF)
    for _ in range(10):
        world.put(SID, **DT46)
    assert world.graph.users(VRF) == 1
    world.drop(SID)
    assert world.graph.users(VRF) == 0
    world.drop(VRF)
    assert world.backend.objects == {}


@pytest.mark.parametrize("action", ["end.dx2", "end.as", "end.ad", "end.am", "end.bpf"])
def test_what_sai_lacks_is_unsupported(action: str) -> None:
    world = World()
    world.put(SID, action=action)
    status, reason = world.state(SID)
    assert status is Status.UNSUPPORTED
    assert reason.startswith(f"SAI has no {action}: no ASIC serves it")
    assert world.backend.objects == {}


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("x", {"action": "end"}, "is not <block>:<node>"),
        ("64:64:16:0:fc00::", {"action": "end"}, "more than 128 bits"),
        ("32:16:16:0:fc00::", {"action": "End"}, "action 'End' is unknown"),
        ("32:16:16:0:fc00::", {"action": "end.dt4"}, "has no vrf; add vrf"),
        ("32:16:16:0:fc00::", {"action": "ua", "adj": "a,b"}, "neither an address"),
    ],
)
def test_rows_that_can_not_be(name: str, fields: dict[str, str], words: str) -> None:
    world = World()
    world.put(Node(Kind.SID, name), **fields)
    status, reason = world.state(Node(Kind.SID, name))
    assert status is Status.FAILED
    assert words in reason


def test_a_rejection_leaves_nothing_behind() -> None:
    world = World()
    world.put(VRF)
    world.graph.put(SID, DT46)
    operations = world.graph.settle()
    # The counter was made, the entry rejected.
    world.backend.apply([o for o in operations if o.node != SID])
    world.graph.failed(SID, "table full")
    world.settle()
    assert world.state(SID) == (Status.FAILED, "table full")
    assert world.backend.objects == {VRF: {"NULL": "NULL"}}
    world.put(SID, **DT46)
    assert world.state(SID)[0] is Status.INSTALLED


def test_a_segment_list() -> None:
    world = World()
    world.put(LIST, path="baba:2001:10::,baba:2001:20::", type="encaps.red")
    assert world.backend.objects[LIST] == {
        "SAI_SRV6_SIDLIST_ATTR_TYPE": "SAI_SRV6_SIDLIST_TYPE_ENCAPS_RED",
        "SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST": "2:baba:2001:10::,baba:2001:20::",
    }
    world.put(LIST, path="nonsense")
    assert world.state(LIST)[0] is Status.FAILED


def test_what_stands_from_before_a_restart() -> None:
    before = World()
    for node, fields in ((VRF, {}), (SID, DT46), (LIST, {"path": "::1"})):
        before.put(node, **fields)
    after = World()
    after.backend = before.backend
    after.graph.adopt(dict(before.graph.built))
    after.graph.put(VRF, {})
    after.graph.put(SID, DT46)
    (operation,) = after.graph.settle()
    assert operation == Remove(LIST)


VPN = {"nexthop": "2000::1", "seg_src": "1::1", "vpn_sid": "3000::1"}
ECMP = {"nexthop": "2000::1,2000::2", "seg_src": "1::1,1::1"}
ROWS = [
    (VRF, [{}]),
    (Node(Kind.VRF, "Vrf2"), [{}]),
    (Node(Kind.INTERFACE, "eth0"), [{}, {"vrf_name": "Vrf2"}]),
    (NEIGHBOR, [{}, {"neigh": "02:00:00:00:00:01"}]),
    (Node(Kind.NEIGHBOR, "fe80::1@eth1"), [{}]),
    (LIST, [{"path": "::1"}, {"path": "::2"}, {"path": "::2", "type": "insert"}]),
    (SID, [DT46, {"action": "un"}, {"action": "udt6", "vrf": "Vrf2"}, {"action": "end.as"}]),
    (
        ADJ,
        [
            END_X,
            {"action": "end.x", "adj": "fe80::1@eth1"},
            {"action": "ua", "adj": "fe80::1"},
            {"action": "end.t", "vrf": "default"},
        ],
    ),
    (Node(Kind.NEXT_HOP_GROUP, "7"), [VPN, ECMP, {"nexthop": "2000::3", "seg_src": "1::1"}]),
    (
        Node(Kind.PIC_CONTEXT, "8"),
        [VPN, {"nexthop": "2000::1,2000::2", "vpn_sid": "3::1,3::2"}, {"nexthop": "2000::1"}],
    ),
    (
        Node(Kind.ROUTE, "5000::/64"),
        [VPN, {**ECMP, "vpn_sid": "3::1,3::2"}, {"pic_context_id": "8", "nexthop_group": "7"}],
    ),
    (
        Node(Kind.ROUTE, "Vrf1:20.0.0.1"),
        [{"segment": "path", "seg_src": "1::1"}, {"segment": "path,path", "seg_src": "1::1,1::2"}],
    ),
]
MODES = [
    DecapModes(),
    modes([("L|fc00:0:1:1::/64", {"decap_dscp_mode": "pipe"})], {}),
    modes([("L|fc00:0:1:1::/64", {"decap_dscp_mode": "uniform"})], {}),
]


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Node, dict[str, str] | None]]:
    out = []
    for _ in range(draw(st.integers(0, 25))):
        node, choices = draw(st.sampled_from(ROWS))
        out.append((node, draw(st.sampled_from([None, *choices]))))
    return out


@given(steps(), st.randoms(use_true_random=False), st.integers(1, 4))
def test_any_order_ends_the_same(
    steps: list[tuple[Node, dict[str, str] | None]], chance: random.Random, batch: int
) -> None:
    """What the rows are at the end decides, not how they came to be; every step holds."""
    world = World()
    mode = MODES[0]
    for n, (node, fields) in enumerate(steps):
        mode = chance.choice(MODES)
        world.graph.configure(mode)
        if fields is None:
            world.graph.drop(node)
        else:
            world.graph.put(node, fields)
        if n % batch == 0:
            world.settle()
    world.settle()
    final = list(dict(steps).items())
    chance.shuffle(final)
    fresh = World()
    fresh.graph.configure(mode)
    for node, fields in final:
        if fields is not None:
            fresh.graph.put(node, fields)
    fresh.settle()
    assert fresh.backend.objects == world.backend.objects
    assert {n: fresh.graph.state(n) for n, _ in final} == {
        n: world.graph.state(n) for n, _ in final
    }


def test_neighbors_that_no_row_declares() -> None:
    graph = Graph()
    sid, hop = ADJ, Node(Kind.NEXT_HOP, "fe80::1@eth1")
    seen = Node(Kind.NEIGHBOR, "fe80::1@eth1")
    graph.put(sid, {"action": "ua", "adj": "fe80::1@eth1"})
    graph.settle()
    assert graph.state(sid) == (
        Status.PENDING,
        "next hop fe80::1@eth1 is not resolved yet (NEIGH_TABLE, kernel)",
    )
    graph.see({seen: {"neigh": "02:00:00:00:00:01"}})
    graph.settle()
    assert {sid, hop} <= graph.built.keys()
    # It is no row, and a row of the same that goes does not take it along.
    assert set(graph.rows) == {sid}
    graph.put(seen, {})
    graph.drop(seen)
    assert not graph.settle() or sid in graph.built
    assert {sid, hop} <= graph.built.keys()
    graph.see({})
    graph.settle()
    assert not {sid, hop} & graph.built.keys()


def test_a_next_hop_without_interface_on_a_neighbor_that_was_seen() -> None:
    graph = Graph()
    sid = ADJ
    graph.put(sid, {"action": "ua", "adj": "fe80::1"})
    one, other = (Node(Kind.NEIGHBOR, f"fe80::1@eth{n}") for n in (1, 2))
    for seen, stands in (({one}, True), ({one, other}, False), ({other}, True), (set(), False)):
        graph.see({node: {} for node in seen})
        graph.settle()
        assert (sid in graph.built) is stands


def test_next_hops_on_different_interfaces_are_different_objects() -> None:
    world = World()
    for name in ("eth0", "eth1"):
        world.put(Node(Kind.NEIGHBOR, f"fe80::1@{name}"))
    for number, name in enumerate(("eth0", "eth0", "eth1")):
        sid = Node(Kind.SID, f"32:16:16:0:fc00:0:1:{number + 10}::")
        world.put(sid, action="ua", adj=f"fe80::1@{name}")
    hops = [a for n, a in world.backend.objects.items() if n.kind is Kind.NEXT_HOP]
    interfaces = {a["SAI_NEXT_HOP_ATTR_ROUTER_INTERFACE_ID"] for a in hops}
    assert len(hops) == len(interfaces) == 2
    world.drop(Node(Kind.NEIGHBOR, "fe80::1@eth1"))
    left = {n.name for n in world.backend.objects if n.kind is Kind.ROUTER_INTERFACE}
    assert left == {"eth0"}


def test_flavors_are_those_of_srv6orch() -> None:
    world = World()
    flavor = "SAI_MY_SID_ENTRY_ATTR_ENDPOINT_BEHAVIOR_FLAVOR"
    world.put(SID, action="un")
    assert flavor not in world.backend.objects[SID]
    world.put(SID, action="end")
    assert str(world.backend.objects[SID][flavor]).endswith("PSP_AND_USD")


def test_segments_may_be_written_with_a_length() -> None:
    world = World()
    world.put(LIST, path="baba:2001:10::/128,baba:2001:20::")
    segments = "SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST"
    assert world.backend.objects[LIST][segments] == "2:baba:2001:10::,baba:2001:20::"


@pytest.mark.parametrize(
    ("node", "fields", "words"),
    [
        (Node(Kind.NEIGHBOR, "x@Ethernet0"), {"neigh": "00:00:00:00:00:01"}, "remove the row"),
        (Node(Kind.NEIGHBOR, "@Ethernet0"), {"neigh": "00:00:00:00:00:01"}, "remove the row"),
        (Node(Kind.ROUTE, "::/0"), {"segment": "a", "seg_src": "::1%a|b"}, "than addresses"),
        (Node(Kind.ROUTE, "::/0"), {**VPN, "vpn_sid": "::1%a b"}, "than addresses"),
        (Node(Kind.ROUTE, "fe80::%a/64"), VPN, "remove the row"),
        (SID, {"action": "ua", "adj": "fe80::1%a b@Ethernet0"}, "neither an address"),
    ],
)
def test_addresses_that_are_none_are_rejected(
    node: Node, fields: dict[str, str], words: str
) -> None:
    """Rows come from any program that may write to Redis."""
    world = World()
    world.put(node, **fields)
    status, reason = world.state(node)
    assert status is Status.FAILED
    assert words in reason
    world.drop(node)
    assert world.backend.objects == {}


def test_the_default_vrf_is_the_routers_own() -> None:
    """A row of it that goes does not take down the router that all SIDs refer to."""
    assert node_of(Kind.VRF, "default") is None
    assert node_of(Kind.VRF, "Vrf1") == Node(Kind.VRF, "Vrf1")


@pytest.mark.parametrize(
    ("node", "fields"),
    [
        (SID, {"action": "x" * 1_000_000}),
        (Node(Kind.NEIGHBOR, f"{'x' * 1_000_000}@Ethernet0"), {"neigh": "00:00:00:00:00:01"}),
        (SID, {"action": "end.dt4", "vrf": "x" * 1_000_000}),
        (SID, {"action": "ua", "adj": "x" * 1_000_000}),
        (Node(Kind.SID, "x" * 1_000_000), {"action": "end"}),
        (LIST, {"path": "x" * 1_000_000}),
        (Node(Kind.ROUTE, "x" * 1_000_000), VPN),
        (Node(Kind.ROUTE, "::/0"), {**VPN, "seg_src": "x" * 1_000_000}),
        (Node(Kind.ROUTE, "::/0"), {"segment": "x" * 1_000_000, "seg_src": "::1"}),
        (Node(Kind.NEXT_HOP_GROUP, "x y" * 1_000_000), ECMP),
    ],
)
def test_a_reason_does_not_repeat_a_megabyte(node: Node, fields: dict[str, str]) -> None:
    world = World()
    world.put(node, **fields)
    status, reason = world.state(node)
    assert status is not Status.INSTALLED
    assert len(reason) < 400, reason[:400]
