"""The objects that guard the boundary of the SRv6 domain."""

from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address

import pytest

from srv6mgrd.counters.status import Kind, ObjectRef
from srv6mgrd.model.desired import Role, SegmentList, SteeredRoute
from srv6mgrd.plan.objects import Sysctl
from srv6mgrd.plan.target import target, with_sids
from tests.builders import desired, locator, net, sid, small_vpn, vrf

CORE, CUSTOMER = Role.CORE, Role.CUSTOMER
EDGE = ObjectRef(Kind.INTERFACE, "eth9")


def boundary_of(state, interfaces=()):
    return target(state, dict.fromkeys(interfaces, 1)).objects.get("boundary")


def test_the_boundary_is_there_before_the_interfaces_are():
    found = boundary_of(small_vpn("eth1", "eth2"))

    assert found.interfaces == ("eth1", "eth2", "red")


def test_an_interface_without_vrf_is_a_customer_when_declared_so():
    state = replace(desired(locator(), sid("fcbb:0:1:1::/64")), roles={"eth9": CUSTOMER})

    found = target(state, {"eth9": 9})

    assert found.objects["boundary"].interfaces == ("eth9",)
    assert found.serves["boundary"] == [EDGE]
    path = "net/ipv6/conf/eth9/seg6_enabled"
    assert found.objects[f"sysctl {path}"] == Sysctl(path, "0")


def test_a_vrf_with_an_interface_to_the_core_lets_the_domain_through():
    state = replace(small_vpn("eth1", "eth2"), roles={"eth2": CORE})

    assert boundary_of(state, ["eth1", "eth2"]).interfaces == ("eth1",)


def test_a_core_interface_processes_source_routing():
    state = replace(desired(locator()), roles={"eth9": CORE})

    found = target(state, {"eth9": 9})

    assert "boundary" not in found.objects
    for name in ("all", "eth9"):
        path = f"net/ipv6/conf/{name}/seg6_enabled"
        assert found.objects[f"sysctl {path}"] == Sysctl(path, "1")
    assert target(state, {}).pending == {EDGE: "interface eth9 does not exist yet"}


def test_out_of_reach_are_blocks_and_segments_elsewhere():
    path = SegmentList("PATH", (IPv6Address("fcbb:0:9::"), IPv6Address("2001:db8:9::1")))
    route = SteeredRoute(None, IPv4Network("10.0.0.0/8"), "PATH", source=IPv6Address("2001:db8::7"))
    other = locator("OTHER", "fcbc:1::/32", block_length=16, node_length=16)
    state = replace(
        desired(locator(), other, vrf("red", 10), source="2001:db8::1"),
        segment_lists={"PATH": path},
        routes={route.name: route},
    )

    found = boundary_of(state)

    assert found.sids == (net("2001:db8:9::1/128"), net("fcbb::/32"), net("fcbc::/16"))
    assert found.sources == (IPv6Address("2001:db8::1"), IPv6Address("2001:db8::7"))


@pytest.mark.parametrize(
    "state",
    [
        desired(vrf("red", 10, "eth1")),
        desired(locator(), sid("fcbb:0:1:1::/64")),
        replace(desired(locator()), roles={"eth9": CUSTOMER}),
    ],
    ids=["no SIDs", "no customers", "nothing in use"],
)
def test_no_boundary_where_there_is_nothing_to_guard(state):
    found = target(state, {"eth1": 2}).objects

    assert "boundary" not in found
    assert "sysctl net/ipv6/conf/eth1/seg6_enabled" not in found


def test_with_the_first_sid_the_boundary_is_guarded():
    without = replace(desired(locator()), roles={"eth1": Role.CUSTOMER})
    one = replace(without, sids=desired(locator(), sid("fcbb:0:1:1::/64")).sids)

    assert "boundary" not in target(without, {"eth1": 2}).objects
    assert "boundary" in target(one, {"eth1": 2}).objects
    assert with_sids(target(without, {"eth1": 2}), without, one) is None
    assert with_sids(target(one, {"eth1": 2}), one, without) is None
