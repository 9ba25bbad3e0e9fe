"""The steps of sonic-swss's own SRv6 tests, restated: rows in, and the objects that they look for.

From tests/test_srv6.py and tests/mock_tests/srv6orch_ut.cpp. Rows that fpmsyncd makes of routes and
static SIDs there, srv6mgrd makes of its model here.
"""

from __future__ import annotations

from typing import Any

import pytest

from orchagent.decap import modes
from orchagent.graph import Graph
from orchagent.nodes import Kind, Node, Status, reference
from orchagent.plans import destination
from orchagent.sai import Reference
from srv6mgrd.model.parse import parse
from srv6mgrd.model.status import InstallStatus, ObjectRef, ObjectStatus
from srv6mgrd.model.status import Kind as Declared
from srv6mgrd.redis.rows import project

SID = "SAI_MY_SID_ENTRY_ATTR"
BEHAVIOR, FLAVOR = f"{SID}_ENDPOINT_BEHAVIOR", f"{SID}_ENDPOINT_BEHAVIOR_FLAVOR"
ROUTER = Reference(int(Kind.VRF), "default")
V6_HOP = Reference(int(Kind.NEXT_HOP), "2001::1@Ethernet104")
V4_HOP = Reference(int(Kind.NEXT_HOP), "192.0.2.1@Ethernet104")


class View:
    """What the view holds, by the names that tests of swss ask for."""

    def __init__(self) -> None:
        self.graph = Graph()

    def put(self, kind: Kind, name: str, **fields: str) -> None:
        self.graph.put(Node(kind, name), fields or {"NULL": "NULL"})
        self.graph.settle()

    def drop(self, kind: Kind, name: str) -> None:
        self.graph.drop(Node(kind, name))
        self.graph.settle()

    def objects(self, kind: Kind) -> dict[str, dict[str, str | Reference]]:
        return {n.name: dict(a) for n, a in self.graph.built.items() if n.kind is kind}

    def one(self, kind: Kind) -> tuple[Reference, dict[str, str | Reference]]:
        ((name, attributes),) = self.objects(kind).items()
        return reference(Node(kind, name)), attributes

    def sid(self, key: str) -> dict[str, str | Reference]:
        return self.objects(Kind.SID)[key]

    def status(self, kind: Kind, name: str) -> Status:
        state = self.graph.state(Node(kind, name))
        assert state is not None
        return state.status

    def count(self) -> int:
        return len(self.graph.built)


def behavior(name: str) -> str:
    return f"SAI_MY_SID_ENTRY_ENDPOINT_BEHAVIOR_{name}"


def ready() -> View:
    """With the interface and the neighbors of the tests."""
    view = View()
    view.put(Kind.INTERFACE, "Ethernet104")
    view.put(Kind.NEIGHBOR, "2001::1@Ethernet104", neigh="00:00:00:01:02:04", family="IPv6")
    view.put(Kind.NEIGHBOR, "192.0.2.1@Ethernet104", neigh="00:00:00:01:02:05", family="IPv4")
    return view


# test_mysid, and what it expects.
ADJACENCIES = [
    ("end.x", "X", V6_HOP),
    ("end.dx4", "DX4", V4_HOP),
    ("end.dx6", "DX6", V6_HOP),
    ("ua", "UA", V6_HOP),
    ("udx4", "UDX4", V4_HOP),
    ("udx6", "UDX6", V6_HOP),
]
MYSID: list[tuple[str, dict[str, str], dict[str, str | Reference]]] = [
    ("16:8:8:8:baba:2001:10::", {"action": "end"}, {BEHAVIOR: behavior("E")}),
    (
        "16:8:8:8:baba:2001:20::",
        {"action": "end.dt46", "vrf": "VrfDt46"},
        {BEHAVIOR: behavior("DT46"), f"{SID}_VRF": Reference(int(Kind.VRF), "VrfDt46")},
    ),
    ("16:8:8:8:fcbb:bb01:800::", {"action": "un"}, {BEHAVIOR: behavior("UN")}),
    (
        "16:8:8:8:baba:2001:40::",
        {"action": "end.dt4", "vrf": "default"},
        {BEHAVIOR: behavior("DT4"), f"{SID}_VRF": ROUTER},
    ),
]
for n, (action, word, next_hop) in enumerate(ADJACENCIES):
    adjacency = "192.0.2.1" if next_hop is V4_HOP else "2001::1"
    MYSID.append(
        (
            f"32:16:16:0:fc00:0:1:e00{n}::",
            {"action": action, "adj": adjacency},
            {BEHAVIOR: behavior(word), f"{SID}_NEXT_HOP_ID": next_hop},
        )
    )


def test_mysid() -> None:
    view = ready()
    view.put(Kind.VRF, "VrfDt46")
    before = view.count()
    hops = view.objects(Kind.NEXT_HOP)
    assert len(hops) == 2
    assert all(len(attributes) == 3 for attributes in hops.values())
    for key, fields, expected in MYSID:
        view.put(Kind.SID, key, **fields)
        assert view.sid(key).items() >= expected.items()
    for action in ("end.x", "ua"):
        key = next(k for k, fields, _ in MYSID if fields["action"] == action)
        assert str(view.sid(key)[FLAVOR]).endswith("_FLAVOR_PSP_AND_USD")
    for key, _, _ in MYSID:
        view.drop(Kind.SID, key)
    assert view.count() == before
    view.drop(Kind.VRF, "VrfDt46")
    view.drop(Kind.NEIGHBOR, "2001::1@Ethernet104")
    view.drop(Kind.NEIGHBOR, "192.0.2.1@Ethernet104")
    view.drop(Kind.INTERFACE, "Ethernet104")
    assert view.count() == 0


def test_mysid_l3adj() -> None:
    view, key = View(), "32:16:16:0:fc00:0:1:e000::"
    view.put(Kind.INTERFACE, "Ethernet104")
    view.put(Kind.SID, key, action="end.x", adj="2001::1")
    assert not view.objects(Kind.SID)
    view.put(Kind.NEIGHBOR, "2001::1@Ethernet104", neigh="00:00:00:01:02:04", family="IPv6")
    assert view.sid(key)[f"{SID}_NEXT_HOP_ID"] == V6_HOP
    view.drop(Kind.NEIGHBOR, "2001::1@Ethernet104")
    view.drop(Kind.SID, key)
    assert not view.objects(Kind.NEXT_HOP)
    assert not view.objects(Kind.SID)


def test_srv6() -> None:
    """Three segment lists, of the types encaps.red (by default and for an unknown one) and
    insert.red, and a route into each."""
    view = View()
    types = {"seg1": {}, "seg2": {"type": "insert.red"}, "seg3": {"type": "reduced"}}
    for n, (name, more) in enumerate(types.items(), 1):
        view.put(Kind.SID_LIST, name, path=f"baba:200{n}:10::,baba:200{n}:20::", **more)
        made = view.objects(Kind.SID_LIST)[name]
        listed = f"2:baba:200{n}:10::,baba:200{n}:20::"
        assert made["SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST"] == listed
        kind = "INSERT_RED" if name == "seg2" else "ENCAPS_RED"
        assert made["SAI_SRV6_SIDLIST_ATTR_TYPE"] == f"SAI_SRV6_SIDLIST_TYPE_{kind}"
    lists = view.count()
    view.put(Kind.ROUTE, "20.20.20.20/32", segment="seg1", seg_src="1001:2000::1")
    hop, attributes = view.one(Kind.SRV6_NEXT_HOP)
    tunnel, of_tunnel = view.one(Kind.TUNNEL)
    _, route = view.one(Kind.ROUTE)
    assert route["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == hop
    assert attributes["SAI_NEXT_HOP_ATTR_TYPE"] == "SAI_NEXT_HOP_TYPE_SRV6_SIDLIST"
    listed_as = Reference(int(Kind.SID_LIST), "seg1")
    assert attributes["SAI_NEXT_HOP_ATTR_SRV6_SIDLIST_ID"] == listed_as
    assert attributes["SAI_NEXT_HOP_ATTR_TUNNEL_ID"] == tunnel
    assert of_tunnel["SAI_TUNNEL_ATTR_TYPE"] == "SAI_TUNNEL_TYPE_SRV6"
    assert of_tunnel["SAI_TUNNEL_ATTR_ENCAP_SRC_IP"] == "1001:2000::1"
    for n in (2, 3):
        view.put(Kind.ROUTE, f"20.20.20.2{n - 1}/32", segment=f"seg{n}", seg_src="1001:2000::1")
    assert len(view.objects(Kind.ROUTE)) == 3
    for n in range(3):
        view.drop(Kind.ROUTE, f"20.20.20.2{n}/32")
    assert view.count() == lists
    for name in types:
        view.drop(Kind.SID_LIST, name)
    assert view.count() == 0


# TestSrv6MySidFpmsyncd: the SID, its row in APPL_DB, and the behavior in ASIC_DB.
NEXT_HOP = {"next-hop": "2001::1"}
ADJACENT = {**NEXT_HOP, "interface": "Ethernet104"}
TO_VRF = {"vrf": "Vrf10"}
FPMSYNCD: list[tuple[str, str, dict[str, Any], bool, dict[str, str], str]] = [
    ("fc00:0:1:64::/128", "End", {}, False, {"action": "end"}, "E"),
    ("fc00:0:1:65::/128", "End.X", NEXT_HOP, False, {"action": "end.x", "adj": "2001::1"}, "X"),
    ("fc00:0:1:6b::/128", "End.DT4", TO_VRF, False, {"action": "end.dt4", "vrf": "Vrf10"}, "DT4"),
    ("fc00:0:1:6b::/128", "End.DT6", TO_VRF, False, {"action": "end.dt6", "vrf": "Vrf10"}, "DT6"),
    (
        "fc00:0:1:6b::/128",
        "End.DT46",
        TO_VRF,
        False,
        {"action": "end.dt46", "vrf": "Vrf10"},
        "DT46",
    ),
    ("fc00:0:2::/48", "End", {"flavor": ["next-csid"]}, True, {"action": "un"}, "UN"),
    (
        "fc00:0:2:ff00::/64",
        "End.X",
        {**ADJACENT, "flavor": ["next-csid"]},
        True,
        {"action": "ua", "adj": "2001::1@Ethernet104"},
        "UA",
    ),
    ("fc00:0:2:ff05::/64", "End.DT4", TO_VRF, True, {"action": "udt4", "vrf": "Vrf10"}, "UDT4"),
    ("fc00:0:2:ff05::/64", "End.DT6", TO_VRF, True, {"action": "udt6", "vrf": "Vrf10"}, "UDT6"),
    ("fc00:0:2:ff05::/64", "End.DT46", TO_VRF, True, {"action": "udt46", "vrf": "Vrf10"}, "UDT46"),
]


def appl_rows(document: dict[str, Any], **installed: str) -> dict[str, dict[str, str]]:
    """Rows of APPL_DB, with all that is declared installed."""
    desired = parse({"srv6mgr-srv6:srv6": document})
    status = ObjectStatus(InstallStatus.INSTALLED)
    refs = [ObjectRef(Declared.SID, str(p)) for p in desired.sids]
    refs += [ObjectRef(Declared.VRF, name) for name in desired.vrfs]
    refs += [ObjectRef(Declared.SEGMENT_LIST, name) for name in desired.segment_lists]
    refs += [ObjectRef(Declared.ROUTE, name) for name in desired.routes]
    rows = project(desired, dict.fromkeys(refs, status)).rows
    return {key.key: dict(fields) for key, fields in rows.items() if key.db == "APPL_DB"}


@pytest.mark.parametrize("case", FPMSYNCD, ids=[f[4]["action"] for f in FPMSYNCD])
def test_sids_of_fpmsyncd(case: tuple[str, str, dict[str, Any], bool, dict[str, str], str]) -> None:
    sid, name, leaves, micro, row, word = case
    locator = {"name": "loc1", "prefix": "fc00:0:2::/48" if micro else "fc00:0:1::/48"}
    rows = appl_rows(
        {
            "locators": {"locator": [{**locator, "micro-segment": micro}]},
            "vrfs": {"vrf": [{"name": "Vrf10", "table-id": 1001}]},
            "local-sids": {"sid": [{"prefix": sid, "locator": "loc1", "behavior": name, **leaves}]},
        }
    )
    key = f"32:16:{'0' if word == 'UN' else '16'}:0:{sid.partition('/')[0]}"
    assert rows[f"SRV6_MY_SID_TABLE:{key}"] == row
    view = ready()
    view.put(Kind.VRF, "Vrf10")
    view.put(Kind.SID, key, **row)
    made = view.sid(key)
    assert made[BEHAVIOR] == behavior(word)
    if "vrf" in row:
        assert made[f"{SID}_VRF"] == Reference(int(Kind.VRF), "Vrf10")
    if "adj" in row:
        assert made[f"{SID}_NEXT_HOP_ID"] == V6_HOP
    view.drop(Kind.SID, key)
    assert not view.objects(Kind.SID)


def test_dscp_modes_of_un() -> None:
    """Three SIDs with a mode; the third one, of the same mode as the second, shares its tunnel."""
    view = View()
    sids = {"fc00:0:1::": "uniform", "fd00:0:1::": "pipe", "fe00:0:1:aabb::": "pipe"}
    length = {"fe00:0:1:aabb::": 16}
    view.graph.configure(
        modes(
            [
                (f"loc{n}|{sid}/{48 + length.get(sid, 0)}", {"decap_dscp_mode": mode})
                for n, (sid, mode) in enumerate(sids.items(), 1)
            ],
            {f"loc{n}": {"func_len": str(length.get(s, 0))} for n, s in enumerate(sids, 1)},
        )
    )
    for number, (sid, mode) in enumerate(sids.items(), 1):
        key = f"32:16:{length.get(sid, 0)}:0:{sid}"
        view.put(Kind.SID, key, action="un")
        assert len(view.objects(Kind.SID)) == number
        assert len(view.objects(Kind.TUNNEL)) == min(number, 2)
        assert len(view.objects(Kind.TUNNEL_TERM)) == number
        tunnel = Reference(int(Kind.TUNNEL), f"decap {mode}")
        assert view.sid(key)[f"{SID}_TUNNEL_ID"] == tunnel
        assert str(view.sid(key)[FLAVOR]).endswith("_FLAVOR_USD")
        made = view.objects(Kind.TUNNEL)[f"decap {mode}"]
        dscp = f"SAI_TUNNEL_DSCP_MODE_{mode.upper()}_MODEL"
        assert made["SAI_TUNNEL_ATTR_DECAP_DSCP_MODE"] == dscp
        assert made["SAI_TUNNEL_ATTR_DECAP_TTL_MODE"] == "SAI_TUNNEL_TTL_MODE_PIPE_MODEL"
        term = view.objects(Kind.TUNNEL_TERM)[f"{mode} {sid}"]
        assert term["SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_ACTION_TUNNEL_ID"] == tunnel
        assert term["SAI_TUNNEL_TERM_TABLE_ENTRY_ATTR_DST_IP"] == sid
    for sid in sids:
        view.drop(Kind.SID, f"32:16:{length.get(sid, 0)}:0:{sid}")
    assert view.count() == 0


def test_dscp_modes_of_one_prefix_in_two_locators() -> None:
    view = View()
    view.graph.configure(
        modes(
            [
                ("loc1|aaaa:bbbb:1:2::/64", {"decap_dscp_mode": "uniform"}),
                ("loc2|aaaa:bbbb:1:2::/64", {"decap_dscp_mode": "pipe"}),
            ],
            {"loc1": {}, "loc2": {"node_len": "32", "func_len": "0"}},
        )
    )
    for key, mode in (("32:16:16:0", "uniform"), ("32:32:0:0", "pipe")):
        view.put(Kind.SID, f"{key}:aaaa:bbbb:1:2::", action="un")
        made = view.sid(f"{key}:aaaa:bbbb:1:2::")
        assert made[f"{SID}_TUNNEL_ID"] == Reference(int(Kind.TUNNEL), f"decap {mode}")
    assert len(view.objects(Kind.TUNNEL)) == 2


@pytest.mark.parametrize("mode", ["uniform", None])
def test_tunnels_are_made_for_a_mode_alone(mode: str | None) -> None:
    """srv6orch_ut.cpp: MySidEntryCreation_WithDecapDscpMode, _WithoutDecapDscpMode."""
    view = View()
    fields = {"decap_dscp_mode": mode} if mode else {}
    view.graph.configure(modes([("loc1|fc00:0:1:1::/64", fields)], {"loc1": {}}))
    view.put(Kind.SID, "32:16:16:0:fc00:0:1:1::", action="un", vrf="default")
    assert len(view.objects(Kind.TUNNEL)) == (1 if mode else 0)
    assert (FLAVOR in view.sid("32:16:16:0:fc00:0:1:1::")) is bool(mode)


@pytest.mark.parametrize("prefix", ["192.0.2.0/24", "2001:db8:1:1::/64"])
def test_steered_routes(prefix: str) -> None:
    """TestSrv6VpnFpmsyncd; its list is named by its SID, ours by its name."""
    rows = appl_rows(
        {
            "encapsulation": {"source-address": "fc00:0:2::1"},
            "vrfs": {
                "vrf": [
                    {
                        "name": "Vrf13",
                        "table-id": 1001,
                        "srv6mgr-steering:steering": {
                            "route": [
                                {
                                    "prefix": prefix,
                                    "segment-list": "path",
                                    "behavior": "H.Encaps.Red",
                                }
                            ]
                        },
                    }
                ]
            },
            "segment-lists": {
                "segment-list": [
                    {"name": "path", "segment": [{"index": 0, "sid": "fc00:0:1:e000::"}]}
                ]
            },
        }
    )
    assert rows[f"ROUTE_TABLE:Vrf13:{prefix}"] == {"segment": "path", "seg_src": "fc00:0:2::1"}
    assert rows["SRV6_SID_LIST_TABLE:path"] == {"path": "fc00:0:1:e000::", "type": "encaps.red"}
    view = View()
    view.put(Kind.VRF, "Vrf13")
    before = view.count()
    view.put(Kind.SID_LIST, "path", **rows["SRV6_SID_LIST_TABLE:path"])
    view.put(Kind.ROUTE, f"Vrf13:{prefix}", **rows[f"ROUTE_TABLE:Vrf13:{prefix}"])
    hop, of_hop = view.one(Kind.SRV6_NEXT_HOP)
    tunnel, of_tunnel = view.one(Kind.TUNNEL)
    listed, of_list = view.one(Kind.SID_LIST)
    route, of_route = view.one(Kind.ROUTE)
    assert destination(route.name) == ("Vrf13", prefix)
    assert of_route["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == hop
    assert of_hop["SAI_NEXT_HOP_ATTR_TYPE"] == "SAI_NEXT_HOP_TYPE_SRV6_SIDLIST"
    assert of_hop["SAI_NEXT_HOP_ATTR_SRV6_SIDLIST_ID"] == listed
    assert of_hop["SAI_NEXT_HOP_ATTR_TUNNEL_ID"] == tunnel
    assert of_list["SAI_SRV6_SIDLIST_ATTR_SEGMENT_LIST"] == "1:fc00:0:1:e000::"
    assert of_list["SAI_SRV6_SIDLIST_ATTR_TYPE"] == "SAI_SRV6_SIDLIST_TYPE_ENCAPS_RED"
    assert of_tunnel["SAI_TUNNEL_ATTR_TYPE"] == "SAI_TUNNEL_TYPE_SRV6"
    assert of_tunnel["SAI_TUNNEL_ATTR_ENCAP_SRC_IP"] == "fc00:0:2::1"
    view.drop(Kind.ROUTE, f"Vrf13:{prefix}")
    view.drop(Kind.SID_LIST, "path")
    assert view.count() == before


TO_VPN_SID = "SAI_TUNNEL_MAP_TYPE_PREFIX_AGG_ID_TO_SRV6_VPN_SID"
MAP_ENTRY = "SAI_TUNNEL_MAP_ENTRY_ATTR"
HOPS = {
    "nexthop": "2000::1,2000::2",
    "seg_src": "1001:2000::1,1001:2000::1",
    "ifname": "unknown,unknown",
}
SIDS = {"nexthop": "2000::1,2000::2", "vpn_sid": "3000::1,3000::2"}
BY_GROUP = {"nexthop_group": "100", "pic_context_id": "200"}


def test_a_vpn_with_a_single_next_hop() -> None:
    view = View()
    fields = {
        "seg_src": "1001:2000::1",
        "nexthop": "2001::1",
        "vpn_sid": "3000::1",
        "ifname": "unknown",
    }
    view.put(Kind.ROUTE, "5000::/64", **fields)
    number, _ = view.one(Kind.PREFIX_AGG)
    _, route = view.one(Kind.ROUTE)
    assert route["SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID"] == number
    _, of_map = view.one(Kind.TUNNEL_MAP)
    assert of_map["SAI_TUNNEL_MAP_ATTR_TYPE"] == TO_VPN_SID
    _, of_tunnel = view.one(Kind.TUNNEL)
    assert of_tunnel["SAI_TUNNEL_ATTR_PEER_MODE"] == "SAI_TUNNEL_PEER_MODE_P2P"
    _, of_entry = view.one(Kind.TUNNEL_MAP_ENTRY)
    assert of_entry[f"{MAP_ENTRY}_SRV6_VPN_SID_VALUE"] == "3000::1"
    assert of_entry[f"{MAP_ENTRY}_PREFIX_AGG_ID_KEY"] == number
    _, of_hop = view.one(Kind.SRV6_NEXT_HOP)
    assert of_hop["SAI_NEXT_HOP_ATTR_TYPE"] == "SAI_NEXT_HOP_TYPE_SRV6_SIDLIST"
    view.drop(Kind.ROUTE, "5000::/64")
    assert view.count() == 0


def test_pic() -> None:
    view = View()
    view.put(Kind.NEXT_HOP_GROUP, "100", **HOPS)
    assert len(view.objects(Kind.TUNNEL)) == len(view.objects(Kind.SRV6_NEXT_HOP)) == 2
    assert len(view.objects(Kind.TUNNEL_MAP)) == 2
    group, _ = view.one(Kind.GROUP)
    members = view.objects(Kind.GROUP_MEMBER).values()
    member = "SAI_NEXT_HOP_GROUP_MEMBER_ATTR"
    assert [m[f"{member}_NEXT_HOP_GROUP_ID"] for m in members] == [group, group]
    hops = {reference(Node(Kind.SRV6_NEXT_HOP, n)) for n in view.objects(Kind.SRV6_NEXT_HOP)}
    assert {m[f"{member}_NEXT_HOP_ID"] for m in members} == hops
    for made in view.objects(Kind.TUNNEL_MAP).values():
        assert made["SAI_TUNNEL_MAP_ATTR_TYPE"] == TO_VPN_SID
    for made in view.objects(Kind.TUNNEL).values():
        assert made["SAI_TUNNEL_ATTR_PEER_MODE"] == "SAI_TUNNEL_PEER_MODE_P2P"
    view.put(Kind.PIC_CONTEXT, "200", **SIDS)
    number, _ = view.one(Kind.PREFIX_AGG)
    entries = view.objects(Kind.TUNNEL_MAP_ENTRY).values()
    assert [e[f"{MAP_ENTRY}_PREFIX_AGG_ID_KEY"] for e in entries] == [number, number]
    view.drop(Kind.NEXT_HOP_GROUP, "100")
    view.drop(Kind.PIC_CONTEXT, "200")
    assert view.count() == 0


def test_a_vpn_with_a_next_hop_group() -> None:
    view = View()
    view.put(Kind.NEXT_HOP_GROUP, "100", **HOPS)
    view.put(Kind.PIC_CONTEXT, "200", **SIDS)
    group, _ = view.one(Kind.GROUP)
    number, _ = view.one(Kind.PREFIX_AGG)
    for prefix in ("5000::/64", "5001::/64"):
        view.put(Kind.ROUTE, prefix, **BY_GROUP)
        route = view.objects(Kind.ROUTE)[prefix]
        assert route["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == group
        assert route["SAI_ROUTE_ENTRY_ATTR_PREFIX_AGG_ID"] == number
    view.drop(Kind.ROUTE, "5001::/64")
    assert set(view.objects(Kind.ROUTE)) == {"5000::/64"}
    view.drop(Kind.ROUTE, "5000::/64")
    assert not view.objects(Kind.ROUTE)
    # Its group and context may go first: the route waits.
    view.put(Kind.ROUTE, "5000::/64", **BY_GROUP)
    view.drop(Kind.NEXT_HOP_GROUP, "100")
    assert view.status(Kind.ROUTE, "5000::/64") is Status.PENDING
    view.drop(Kind.PIC_CONTEXT, "200")
    assert view.count() == 0


def test_a_vpn_whose_next_hop_is_updated() -> None:
    view = View()
    view.put(Kind.ROUTE, "5000::/64", nexthop="2000::1", seg_src="1001:2000::1", vpn_sid="3000::1")
    before = view.objects(Kind.ROUTE)["5000::/64"]
    view.put(Kind.NEXT_HOP_GROUP, "100", **HOPS)
    view.put(Kind.PIC_CONTEXT, "200", **SIDS)
    view.put(Kind.ROUTE, "5000::/64", **BY_GROUP)
    after = view.objects(Kind.ROUTE)["5000::/64"]
    group, _ = view.one(Kind.GROUP)
    assert after["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == group
    for name in ("NEXT_HOP_ID", "PREFIX_AGG_ID"):
        attribute = f"SAI_ROUTE_ENTRY_ATTR_{name}"
        assert after[attribute] != before[attribute]
    assert len(view.objects(Kind.SRV6_NEXT_HOP)) == 2
    assert len(view.objects(Kind.TUNNEL_MAP_ENTRY)) == 2
    view.drop(Kind.ROUTE, "5000::/64")
    view.drop(Kind.NEXT_HOP_GROUP, "100")
    view.drop(Kind.PIC_CONTEXT, "200")
    assert view.count() == 0


def test_a_group_of_one_next_hop_is_that_next_hop() -> None:
    view = View()
    view.put(Kind.NEXT_HOP_GROUP, "100", nexthop="2000::1", seg_src="1001:2000::1")
    view.put(Kind.PIC_CONTEXT, "200", nexthop="2000::1", vpn_sid="3000::1")
    view.put(Kind.ROUTE, "5000::/64", **BY_GROUP)
    hop, _ = view.one(Kind.SRV6_NEXT_HOP)
    assert view.objects(Kind.ROUTE)["5000::/64"]["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == hop
    # With a second one the route is changed in place.
    view.put(Kind.NEXT_HOP_GROUP, "100", **HOPS)
    group, _ = view.one(Kind.GROUP)
    assert view.objects(Kind.ROUTE)["5000::/64"]["SAI_ROUTE_ENTRY_ATTR_NEXT_HOP_ID"] == group
