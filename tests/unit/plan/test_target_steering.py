"""The objects that steered routes ask for."""

from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address

import pytest

from srv6mgrd.model.behavior import Headend
from srv6mgrd.model.desired import SegmentList, SteeredRoute
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.objects import EncapRoute, Rule, Sysctl
from srv6mgrd.plan.target import target
from srv6mgrd.plan.target_objects import Target
from tests.builders import desired, locator, net, vrf

A, B = IPv6Address("fcbb:0:2::1"), IPv6Address("fc00:5::1")
LIST = SegmentList("path", (A, B))
HERE = SegmentList("here", (IPv6Address("fcbb:0:1:1::"), B))


def steered(
    route: SteeredRoute, *interfaces: str, source: str | None = None, hop_limit: int | None = None
) -> Target:
    state = replace(
        desired(locator(), vrf("red", 10), source=source),
        segment_lists={"path": LIST, "far": SegmentList("far", (B,)), "here": HERE},
        routes={route.name: route},
        hop_limit=hop_limit,
    )
    return target(state, dict.fromkeys(interfaces, 2))


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
