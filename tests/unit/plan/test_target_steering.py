"""The objects that steered routes ask for."""

from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address

import pytest

from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import SegmentList, Sid, SteeredRoute
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.target import target, with_sids
from srv6mgrd.plan.target_objects import Target
from tests.builders import desired, locator, net, sid, vpn, vrf

A, B = IPv6Address("fcbb:0:2::1"), IPv6Address("fc00:5::1")
LIST = SegmentList("path", (A, B))
HERE = SegmentList("here", (IPv6Address("fcbb:0:1:1::"), B))


def steered(
    route: SteeredRoute,
    *interfaces: str,
    source: str | None = None,
    hop_limit: int | None = None,
    lookup_tables: bool = False,
    bgp_lookup_tables: bool = False,
) -> Target:
    state = replace(
        desired(locator(), vrf("red", 10), source=source),
        segment_lists={"path": LIST, "far": SegmentList("far", (B,)), "here": HERE},
        routes={route.name: route},
        hop_limit=hop_limit,
    )
    return target(
        state,
        dict.fromkeys(interfaces, 2),
        lookup_tables=lookup_tables,
        bgp_lookup_tables=bgp_lookup_tables,
    )


def test_a_steered_route():
    route = SteeredRoute(None, IPv4Network("10.0.0.0/8"), "path", metric=7)

    found = steered(route, hop_limit=42)

    expected = EncapRoute(route.prefix, 254, Headend.H_ENCAPS, (A, B), metric=7, hop_limit=42)
    assert found.objects[expected.key] == expected
    assert found.serves[expected.key] == [ObjectRef(Kind.ROUTE, "main 10.0.0.0/8")]
    assert {"link srv6mgr", "sysctl net/ipv4/ip_forward"} <= found.objects.keys()


def test_a_steered_route_of_a_vrf():
    """Around IPv6 there is no hop limit to set."""
    route = SteeredRoute("red", net("fc00:7::/64"), "path", Headend.H_ENCAPS_RED, A, "eth1")

    found = steered(route, "eth1", hop_limit=42)

    expected = EncapRoute(route.prefix, 10, Headend.H_ENCAPS_RED, (A, B), "eth1", source=A)
    assert found.objects[expected.key] == expected


@pytest.mark.parametrize(
    ("segments", "source", "rule"),
    [
        ("path", None, None),
        ("path", B, Rule(990, net(f"{A}/128"), 254, B)),
        ("far", None, Rule(990, net(f"{B}/128"), 254, A)),
        ("here", None, None),
        ("here", B, Rule(989, net("fcbb:0:1:1::/128"), 8986, B)),
    ],
    ids=["in our block", "own source", "elsewhere", "here", "own source, here"],
)
def test_the_way_out_of_a_vrf(segments: str, source: IPv6Address | None, rule: Rule | None) -> None:
    route = SteeredRoute("red", net("fc00:7::/64"), segments, source=source)

    found = steered(route, source=str(A))

    of_locator = {
        Rule(989, net("fcbb:0:1::/48"), 8986, A),
        Rule(990, net("fcbb::/32"), 254, A),
        Rule(2000, net("fcbb:0:1::/48"), 8986),
    }
    rules = {o for o in found.objects.values() if isinstance(o, Rule)}
    assert rules == of_locator | ({rule} if rule else set())


@pytest.mark.parametrize("source", [None, B])
@pytest.mark.parametrize("segments", ["path", "far"])
def test_a_route_of_a_vrf_names_the_table_of_its_outer_header(
    segments: str, source: IPv6Address | None
) -> None:
    route = SteeredRoute("red", net("fc00:7::/64"), segments, source=source)

    found = steered(route, source=str(A), lookup_tables=True)

    (encap,) = (o for o in found.objects.values() if isinstance(o, EncapRoute))
    assert (encap.lookup_table, encap.source) == (254, source)
    rules = [o for o in found.objects.values() if isinstance(o, Rule)]
    assert rules == [Rule(2000, net("fcbb:0:1::/48"), 8986)]


def test_a_route_to_a_sid_of_this_router_leaves_its_vrf_by_rules():
    """What the SID leads on is looked up in the VRF again."""
    route = SteeredRoute("red", net("fc00:7::/64"), "here", source=B)

    with_tables = steered(route, source=str(A), lookup_tables=True)

    assert with_tables.objects == steered(route, source=str(A)).objects


def test_a_route_of_the_default_vrf_names_no_table():
    route = SteeredRoute(None, IPv4Network("10.0.0.0/8"), "path")

    found = steered(route, lookup_tables=True)

    (encap,) = (o for o in found.objects.values() if isinstance(o, EncapRoute))
    assert encap.lookup_table is None


def test_two_sources_to_one_segment_need_a_table_each():
    """Rules lead by segment, with one source each."""
    routes = [
        SteeredRoute("red", net("fc00:7::/64"), "far", source=A),
        SteeredRoute("red", net("fc00:8::/64"), "far", source=B),
    ]
    state = replace(
        desired(vrf("red", 10)),
        segment_lists={"far": SegmentList("far", (B,))},
        routes={route.name: route for route in routes},
    )

    assert target(state, {}).pending
    assert not target(state, {}, lookup_tables=True).pending


def test_routes_of_bgp_leave_their_vrf_by_rules():
    """Those are zebra's, which sets no table unless it is patched."""
    state = desired(locator(), vrf("red", 10, bgp=vpn()), source=str(A))
    rules = {"rule 989 to fcbb:0:1::/48", "rule 990 to fcbb::/32"}

    stock = target(state, {}, lookup_tables=True).objects
    assert stock == target(state, {}).objects
    assert stock.keys() >= rules

    patched = target(state, {}, lookup_tables=True, bgp_lookup_tables=True).objects
    assert stock.keys() - patched.keys() == rules


def test_a_route_to_a_sid_of_this_router_needs_the_rules_beside_a_patched_frr():
    route = SteeredRoute("red", net("fc00:7::/64"), "here", source=B)

    found = steered(route, source=str(A), lookup_tables=True, bgp_lookup_tables=True)

    assert found.objects == steered(route, source=str(A)).objects


def test_a_sid_of_the_local_block_is_of_this_router():
    adjacency = Sid(
        net("fcbb:0:e001::/48"),
        "MAIN",
        Behavior.END_X,
        next_hop=B,
        flavors=frozenset({Flavor.NEXT_CSID}),
    )
    route = SteeredRoute("red", net("fc00:7::/64"), "here")
    without = replace(
        desired(locator(), vrf("red", 10)),
        segment_lists={"here": SegmentList("here", (IPv6Address("fcbb:0:e001::"),))},
        routes={route.name: route},
    )
    state = replace(without, sids={adjacency.prefix: adjacency})

    def table(found: Target) -> int | None:
        (encap,) = (o for o in found.objects.values() if isinstance(o, EncapRoute))
        return encap.lookup_table

    before = target(without, {}, lookup_tables=True)
    assert (table(before), before.vrf_rules) == (254, False)
    after = target(state, {}, lookup_tables=True)
    assert (table(after), after.vrf_rules) == (None, True)
    assert with_sids(before, without, state) is None


def test_a_sid_more_leaves_tables_and_rules_as_they_are():
    route = SteeredRoute("red", net("fc00:7::/64"), "path")
    old = replace(
        desired(locator(), vrf("red", 10), sid("fcbb:0:1:1::/64")),
        segment_lists={"path": LIST},
        routes={route.name: route},
    )
    more = sid("fcbb:0:1:2::/64")
    new = replace(old, sids=old.sids | {more.prefix: more})

    derived = with_sids(target(old, {}, lookup_tables=True), old, new)

    assert derived is not None
    assert derived.objects == target(new, {}, lookup_tables=True).objects
    assert not derived.vrf_rules


def test_a_route_on_a_missing_interface():
    route = SteeredRoute(None, net("fc00:7::/64"), "path", interface="eth1")

    found = steered(route)

    assert found.pending == {
        ObjectRef(Kind.ROUTE, "main fc00:7::/64"): "interface eth1 does not exist yet"
    }


@pytest.mark.parametrize(
    ("label", "owned", "value"),
    [("copy", False, None), ("copy", True, "0"), ("zero", False, "-1"), ("compute", True, "1")],
)
def test_flow_label(label: str, owned: bool, value: str | None) -> None:
    key = "sysctl net/ipv6/seg6_flowlabel"
    state = replace(desired(), flow_label=label)

    found = target(state, {}, (), {key} if owned else ()).objects.get(key)

    assert found == (Sysctl("net/ipv6/seg6_flowlabel", value) if value else None)
