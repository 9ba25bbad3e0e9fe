"""The objects that a declaration asks for."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest

from srv6mgrd.kinds.boundary.object import Boundary
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook, ProxyPrograms
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.desired import Proxy, Role, SegmentList, Sid, SteeredRoute
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.target import met, target
from srv6mgrd.plan.target_objects import (
    FORWARD_IPV4,
    FORWARD_IPV6,
    LOCAL_RULE_PRIORITY,
    SID_RULE_PRIORITY,
    Target,
    vrf_ifindex,
)
from tests.builders import (
    DECAPSULATE_TO_VRF,
    by_key,
    desired,
    locator,
    net,
    sid,
    small_vpn,
    speaker,
    vpn,
    vrf,
)

RED = ObjectRef(Kind.VRF, "red")
MAIN = ObjectRef(Kind.LOCATOR, "MAIN")
DT46 = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
END = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
INDEX_10 = (1 << 28) + 10


def test_nothing_needs_nothing():
    assert target(desired(), {}).objects == {}


def test_a_small_vpn():
    block = FrrBlock("bgpd", ("router bgp 65000",), ("bgp router-id 10.0.0.1",))

    found = target(small_vpn("eth1"), {"eth1": 2}, [block])

    assert found.objects == by_key(
        [
            DummyDevice("srv6mgr"),
            VrfDevice("red", 10, INDEX_10),
            L3mdevRule(4),
            L3mdevRule(6),
            UnreachableDefault(4, 10),
            UnreachableDefault(6, 10),
            UnreachableSid(net("fcbb:0:1:64::/64"), 10),
            Sysctl("net/ipv4/ip_forward", "1"),
            Sysctl("net/ipv6/conf/all/forwarding", "1"),
            Sysctl("net/ipv6/conf/eth1/keep_addr_on_down", "1"),
            Sysctl("net/ipv6/conf/eth1/seg6_enabled", "0"),
            Sysctl("net/ipv6/conf/red/seg6_enabled", "0"),
            Sysctl("net/ipv4/conf/red/rp_filter", "0"),
            Sysctl("net/vrf/strict_mode", "1"),
            EncapSource(IPv6Address("fcbb:0:1::1")),
            Boundary(
                ("lo", "srv6mgr"), (net("fcbb::/32"),), (IPv6Address("fcbb:0:1::1"),), closed=True
            ),
            VrfPort("eth1", "red"),
            SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986),
            SidRoute(net("fcbb:0:1:64::/64"), Behavior.END_DT46, 8986, vrf_table=10),
            Rule(2000, net("fcbb:0:1::/48"), 8986),
            Rule(989, net("fcbb:0:1::/48"), 8986, IPv6Address("fcbb:0:1::1")),
            Rule(990, net("fcbb::/32"), 254, IPv6Address("fcbb:0:1::1")),
            block,
        ]
    )
    assert found.pending == {}


def test_each_object_knows_what_it_is_for():
    found = target(small_vpn("eth1"), {"eth1": 2})

    assert {key: [*found.refs(key)] for key in found.objects} == {
        "link srv6mgr": [DT46, END],
        "link red": [RED],
        "l3mdev rule IPv4": [RED],
        "l3mdev rule IPv6": [RED],
        "route4 table 10 default": [RED],
        "route6 table 10 default": [RED],
        "route6 table 10 fcbb:0:1:64::/64 metric 4278198272": [ObjectRef(Kind.VRF_BGP, "red")],
        "sysctl net/ipv4/ip_forward": [RED],
        "sysctl net/ipv6/conf/all/forwarding": [MAIN, RED],
        "sysctl net/ipv6/conf/eth1/keep_addr_on_down": [RED],
        "sysctl net/ipv6/conf/eth1/seg6_enabled": [RED],
        "sysctl net/ipv6/conf/red/seg6_enabled": [RED],
        "boundary": [RED],
        "sysctl net/vrf/strict_mode": [DT46],
        "sysctl net/ipv4/conf/red/rp_filter": [DT46],
        "encap-source": [],
        "port eth1": [RED],
        "route6 table 8986 fcbb:0:1:1::/64": [END],
        "route6 table 8986 fcbb:0:1:64::/64": [DT46],
        "rule 2000 to fcbb:0:1::/48": [MAIN],
        "rule 989 to fcbb:0:1::/48": [MAIN],
        "rule 990 to fcbb::/32": [MAIN],
    }


def test_an_interface_that_does_not_exist_leaves_its_vrf_pending():
    found = target(desired(vrf("red", 10, "eth1", "eth2", "eth3")), {"eth2": 3})

    assert found.pending == {RED: "interface eth1, eth3 does not exist yet"}
    assert [o for o in found.objects.values() if isinstance(o, VrfPort)] == [VrfPort("eth2", "red")]
    assert "sysctl net/ipv6/conf/eth1/keep_addr_on_down" not in found.objects


def test_frr_keeps_the_source_that_it_was_reported_once():
    """zebra takes it out of the kernel with its line."""
    source = FrrBlock(
        "zebra", ("segment-routing", "srv6", "encapsulation"), ("source-address ::1",)
    )
    without = desired(locator(), source="fcbb:0:1::1")

    assert source.key not in target(without, {}, [source]).objects
    assert source.key in target(without, {}, [source], owned={source.key}).objects
    assert source.key in target(replace(without, bgp=speaker()), {}, [source]).objects


def test_an_end_needs_neither_vrf_nor_strict_mode():
    found = target(desired(locator(), sid("fcbb:0:1:1::/64")), {})

    assert {type(o) for o in found.objects.values()} == {
        Boundary,
        DummyDevice,
        Rule,
        SidRoute,
        Sysctl,
    }
    assert "sysctl net/vrf/strict_mode" not in found.objects


@pytest.mark.parametrize("behavior", DECAPSULATE_TO_VRF)
def test_a_decapsulating_sid_looks_up_the_table_of_its_vrf(behavior):
    found = target(desired(locator(), vrf("red", 77), sid("fcbb:0:1:1::/64", behavior, "red")), {})

    assert found.objects["route6 table 8986 fcbb:0:1:1::/64"] == SidRoute(
        net("fcbb:0:1:1::/64"), behavior, 8986, vrf_table=77
    )


@pytest.mark.parametrize("borrowed", [False, True])
def test_a_sid_into_the_default_vrf_has_a_vrf_without_routes(borrowed):
    """Ours also where VRFs are vrfmgrd's. No unreachable default: the main table is next."""
    into = replace(sid("fcbb:0:1:1::/64", Behavior.END_DT46), default_vrf=True)
    found = target(desired(locator(), into), {}, borrowed=borrowed)
    (route,) = (o for o in found.objects.values() if isinstance(o, SidRoute))
    assert (route.vrf_table, route.lookup_table) == (898646, None)
    ours = VrfDevice("srv6mgr-default", 898646, vrf_ifindex(898646))
    sysctls = (
        Sysctl("net/vrf/strict_mode", "1"),
        Sysctl("net/ipv4/conf/srv6mgr-default/rp_filter", "0"),
        FORWARD_IPV4,
        FORWARD_IPV6,
    )
    for needed in (ours, L3mdevRule(4), L3mdevRule(6), *sysctls):
        assert found.objects[needed.key] == needed
    assert not any(isinstance(o, UnreachableDefault) for o in found.objects.values())
    assert not found.pending
    # It goes with the last of them.
    without = target(desired(locator(), sid("fcbb:0:1:1::/64")), {})
    assert ours.key not in without.objects


def test_what_serves_many_is_not_searched_for_each(monkeypatch):
    many = desired(locator(), *(sid(f"fcbb:0:1:{n:x}::/64") for n in range(1, 201)))
    compared = []

    def equal(a, b):
        compared.append(a)
        return (a.kind, a.name) == (b.kind, b.name)

    monkeypatch.setattr(ObjectRef, "__eq__", equal)

    refs = target(many, {}).refs("link srv6mgr")
    assert set(refs) == {ObjectRef(Kind.SID, str(prefix)) for prefix in many.sids}
    assert len(refs) == 200
    assert len(compared) < 1000


def test_without_vrfs_the_underlay_needs_no_rule_of_its_own():
    rules = [o for o in target(desired(locator()), {}).objects.values() if isinstance(o, Rule)]

    assert rules == [Rule(2000, net("fcbb:0:1::/48"), 8986)]


def test_locators_of_one_block_share_its_rule():
    parts = locator("A", "fcbb:0:1::/48"), locator("B", "fcbb:0:2::/48")

    found = target(desired(vrf("red", 10), *parts), {})

    assert found.serves["rule 990 to fcbb::/32"] == [
        ObjectRef(Kind.LOCATOR, "A"),
        ObjectRef(Kind.LOCATOR, "B"),
    ]


def test_the_ifindex_of_a_vrf_follows_from_its_table():
    assert vrf_ifindex(10) == INDEX_10
    assert vrf_ifindex(1 << 28 | 10) == INDEX_10
    assert 0 < vrf_ifindex((1 << 32) - 1) < 1 << 31


TWO = desired(
    locator(),
    vrf("red", 10, bgp=vpn("65000:10")),
    vrf("blue", 20, bgp=vpn("65000:20")),
    vrf("green", 30),
)
RED_BGP, BLUE_BGP = ObjectRef(Kind.VRF_BGP, "red"), ObjectRef(Kind.VRF_BGP, "blue")


@pytest.mark.parametrize(
    ("context", "refs"),
    [
        (("router bgp 65000 vrf red", "address-family ipv4 unicast"), [RED_BGP]),
        (("router bgp 65000",), [RED_BGP, BLUE_BGP]),
        (("segment-routing", "srv6", "locators", "locator MAIN"), [MAIN]),
        (("segment-routing", "srv6", "encapsulation"), [RED_BGP, BLUE_BGP]),
    ],
)
def test_an_frr_context_is_for_the_vrf_or_locator_it_names_else_for_every_export(context, refs):
    block = FrrBlock("bgpd", context, ("a line",))

    assert target(TWO, {}, [block]).serves[block.key] == refs


A, B = IPv6Address("fcbb:0:2::1"), IPv6Address("fc00:5::1")
LIST = SegmentList("path", (A, B))


def one(made: Sid, *interfaces: str, **more: object) -> Target:
    """What a state with this SID, VRF red and a segment list asks for."""
    state = desired(locator(micro_segment=True), vrf("red", 10), made)
    state = replace(state, segment_lists={"path": LIST}, **more)  # type: ignore[arg-type]
    return target(state, dict.fromkeys(interfaces, 2))


def made(behavior: Behavior, prefix: str = "fcbb:0:1:1::/64", **more: object) -> Sid:
    return replace(sid(prefix, behavior), **more)  # type: ignore[arg-type]


def sid_of(t: Target) -> SidRoute:
    (found,) = (o for o in t.objects.values() if isinstance(o, SidRoute))
    return found


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (made(Behavior.END, counters=False), {"counters": False}),
        (made(Behavior.END, flavors=frozenset({Flavor.PSP})), {"flavors": {Flavor.PSP}}),
        (made(Behavior.END_X, next_hop=B), {"next_hop": B}),
        (made(Behavior.END_T), {"lookup_table": 254, "vrf_table": None}),
        (made(Behavior.END_T, vrf="red"), {"lookup_table": 10, "vrf_table": None}),
        (made(Behavior.END_DT6), {"lookup_table": 254, "vrf_table": None}),
        (made(Behavior.END_DT6, vrf="red"), {"lookup_table": None, "vrf_table": 10}),
        (made(Behavior.END_B6_ENCAPS, segment_list="path"), {"segments": (A, B)}),
        (made(Behavior.END_BPF, bpf_program="/p"), {"bpf_program": "/p"}),
        (made(Behavior.END_DX2, interface="eth1"), {"interface": "eth1", "next_hop": None}),
    ],
)
def test_behaviors(declared: Sid, expected: dict[str, object]) -> None:
    found = one(declared, "eth1")

    route = sid_of(found)
    assert route.action is declared.behavior
    assert {name: getattr(route, name) for name in expected} == expected
    assert found.pending == {}
    strict = "sysctl net/vrf/strict_mode" in found.objects
    assert strict == (expected.get("vrf_table") is not None)


@pytest.mark.parametrize(
    ("prefix", "lengths"),
    [
        ("fcbb:0:1::/48", (32, 16)),
        ("fcbb:0:1:1::/64", (32, 32)),
        ("fcbb:0:e001::/48", (32, 16)),
    ],
)
def test_micro_segments_shift_what_the_prefix_has_behind_the_block(
    prefix: str, lengths: tuple[int, int]
) -> None:
    found = one(made(Behavior.END, prefix, flavors=frozenset({Flavor.NEXT_CSID})))

    assert sid_of(found).csid_lengths == lengths


def test_micro_segments_of_the_local_block_have_a_rule_for_it():
    adjacency = made(
        Behavior.END_X, "fcbb:0:e001::/48", next_hop=B, flavors=frozenset({Flavor.NEXT_CSID})
    )

    rules = [o for o in one(adjacency).objects.values() if isinstance(o, Rule)]

    assert Rule(SID_RULE_PRIORITY, net("fcbb::/32"), SID_TABLE) in rules
    assert Rule(LOCAL_RULE_PRIORITY, net("fcbb::/32"), SID_TABLE) in rules


def test_a_next_hop_on_an_interface_has_a_route():
    found = one(made(Behavior.END_X, next_hop=B, interface="eth1"), "eth1")

    route = NextHopRoute(B, "eth1", B)
    assert found.objects[route.key] == route
    assert found.serves[route.key] == [END]
    assert (sid_of(found).next_hop, sid_of(found).interface) == (B, None)


def test_an_ipv4_next_hop():
    one_hop = IPv4Address("192.0.2.9")

    found = one(made(Behavior.END_DX4, next_hop=one_hop, interface="eth1"), "eth1")

    route = NextHopRoute(one_hop, "eth1", one_hop)
    assert found.objects[route.key] == route
    assert found.objects["sysctl net/ipv4/ip_forward"] == Sysctl("net/ipv4/ip_forward", "1")


def test_a_link_local_next_hop_has_an_address_that_stands_for_it():
    near = IPv6Address("fe80::5")
    found = [
        one(made(Behavior.END_DX6, next_hop=near, interface=i), "eth1", "eth2")
        for i in ("eth1", "eth2", "eth1")
    ]

    first, second, again = (sid_of(t).next_hop for t in found)
    assert isinstance(first, IPv6Address)
    assert first in net("100::/64")
    assert first == again != second
    assert found[0].objects[f"route6 table 254 {first}/128 metric 1024"] == NextHopRoute(
        first, "eth1", near
    )


def test_one_next_hop_on_two_interfaces():
    both = [
        made(Behavior.END_X, next_hop=B, interface="eth1"),
        made(Behavior.END_X, "fcbb:0:1:2::/64", next_hop=B, interface="eth2"),
    ]

    found = target(desired(locator(), *both), {"eth1": 2, "eth2": 3})

    (reason,) = found.pending.values()
    assert "on eth1" in reason
    assert sid_of(found).prefix == both[0].prefix


@pytest.mark.parametrize("behavior", [Behavior.END_DX2, Behavior.END_X])
def test_an_interface_that_is_missing(behavior: Behavior) -> None:
    next_hop = None if behavior is Behavior.END_DX2 else B
    found = one(made(behavior, next_hop=next_hop, interface="eth1"))

    assert found.pending == {END: "interface eth1 does not exist yet"}
    assert not any(isinstance(o, SidRoute | NextHopRoute) for o in found.objects.values())


def proxied(*interfaces: str, receivers: tuple[str, ...] = (), **more: object) -> Target:
    proxy = Proxy("ipv6", "fw", "fw", next_hop=B, **more)  # type: ignore[arg-type]
    state = desired(locator(), replace(made(Behavior.END_AD), proxy=proxy))
    state = replace(state, roles={"eth0": Role.CORE})
    return target(state, Links(dict.fromkeys(interfaces, 1), frozenset(receivers)))


def test_a_proxy():
    found = proxied("fw", "eth0", receivers=("fw", "eth0"))

    prefix = made(Behavior.END_AD).prefix
    assert found.pending == {}
    assert found.objects == by_key(
        [
            DummyDevice("srv6mgr"),
            Sysctl("net/ipv6/conf/all/forwarding", "1"),
            Rule(2000, net("fcbb:0:1::/48"), 8986),
            Boundary(("eth0", "fw", "lo", "srv6mgr"), (net("fcbb::/32"),), (), closed=True),
            Sysctl("net/ipv6/conf/all/seg6_enabled", "1"),
            Sysctl("net/ipv6/conf/eth0/seg6_enabled", "1"),
            ProxyPrograms(),
            ProxyEntry(prefix, Behavior.END_AD, "ipv6", "fw", "fw", B),
            NextHopRoute(B, "fw", B),
            SidRoute(prefix, Behavior.END_DX6, 8986, counters=False, next_hop=B),
            ProxyHook("fw", "back_function"),
            ProxyHook("eth0", "toward_function"),
            ProxyHook("srv6mgr", "toward_again"),
            ProxyHook("srv6mgr", "toward_local"),
        ]
    )


def test_a_declared_mtu_is_that_of_all_links_to_the_function():
    proxy = Proxy("ethernet", "fw", "back", mtu=1420)
    state = desired(locator(), replace(made(Behavior.END_AD), proxy=proxy))

    found = target(state, {"fw": 1, "back": 2})

    mtus = [o for o in found.objects.values() if isinstance(o, LinkMtu)]
    assert mtus == [LinkMtu("fw", 1420), LinkMtu("back", 1420)]


def test_a_proxy_waits_for_its_function():
    found = proxied("eth0", receivers=("eth0",))

    assert found.pending == {END: "interface fw does not exist yet"}
    assert not any(isinstance(o, ProxyEntry | ProxyHook) for o in found.objects.values())


@pytest.mark.parametrize("borrowed", [False, True])
def test_other_links_are_of_no_matter(borrowed: bool) -> None:
    proxy = replace(made(Behavior.END_AD), proxy=Proxy("ipv6", "fw", "back", next_hop=B))
    out = replace(made(Behavior.END_X, next_hop=B, interface="eth1"), prefix=net("fcbb:0:1:9::/64"))
    route = SteeredRoute("red", IPv4Network("10.9.0.0/16"), "path", interface="eth5")
    state = replace(
        desired(locator(), vrf("red", 10, "eth2"), proxy, out),
        roles={"eth3": Role.CORE},
        segment_lists={"path": LIST},
        routes={route.name: route},
    )
    links = Links(
        {"eth1": 1, "eth2": 2, "eth3": 3, "eth5": 5, "fw": 6, "back": 7, "red": 8, "eth9": 9},
        frozenset({"eth1", "eth9"}),
    )

    def of(links: Links) -> Target:
        return target(state, links, borrowed=borrowed)

    known = met(state, links, borrowed=borrowed)
    assert of(known) == of(links)
    assert met(state, replace(links, indexes={**links.indexes, "eth10": 10})) == met(state, links)
    assert "eth9" not in known.indexes
    for name in known.indexes:
        left = {n: i for n, i in links.indexes.items() if n != name}
        assert of(replace(links, indexes=left)) != of(links)


def test_who_receives_is_of_no_matter_without_a_proxy() -> None:
    state = small_vpn("eth1")

    assert met(state, Links({"eth1": 1}, frozenset({"eth1"}))) == Links({"eth1": 1})
