"""The objects that guard the boundary of the SRv6 domain."""

from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address

import pytest

from srv6mgrd.kinds.proxy.object import ProxyHook
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model import domain
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Proxy, Role, SegmentList, SteeredRoute
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.target import target, with_sids
from tests.builders import desired, locator, net, sid, small_vpn, vrf

CORE, CUSTOMER = Role.CORE, Role.CUSTOMER
OWN = ("lo", "srv6mgr")
EDGE = ObjectRef(Kind.INTERFACE, "eth9")


def boundary_of(state, interfaces=()):
    return target(state, dict.fromkeys(interfaces, 1)).objects.get("boundary")


def opened(state):
    """With the default role that a node has after an upgrade."""
    return replace(state, default_role=CORE)


def test_every_interface_is_a_customer_until_it_is_declared_core():
    state = replace(small_vpn("eth1"), roles={"eth9": CORE})

    found = boundary_of(state, ["eth1", "eth2", "eth9"])

    assert (found.closed, found.interfaces) == (True, ("eth9", *OWN))
    assert boundary_of(state) == boundary_of(state, ["eth1", "late0"])


def test_with_default_role_core_the_boundary_is_there_before_the_interfaces_are():
    found = boundary_of(opened(small_vpn("eth1", "eth2")))

    assert (found.closed, found.interfaces) == (False, ("eth1", "eth2", "red"))


def test_an_interface_without_vrf_is_a_customer_when_declared_so():
    state = replace(desired(locator(), sid("fcbb:0:1:1::/64")), roles={"eth9": CUSTOMER})

    found = target(opened(state), {"eth9": 9})

    assert found.objects["boundary"].interfaces == ("eth9",)
    assert found.serves["boundary"] == [EDGE]
    path = "net/ipv6/conf/eth9/seg6_enabled"
    assert found.objects[f"sysctl {path}"] == Sysctl(path, "0")


def test_a_vrf_with_an_interface_to_the_core_lets_the_domain_through():
    state = replace(small_vpn("eth1", "eth2"), roles={"eth2": CORE})

    assert boundary_of(opened(state), ["eth1", "eth2"]).interfaces == ("eth1",)
    assert boundary_of(state, ["eth1", "eth2"]).interfaces == ("eth2", "lo", "red", "srv6mgr")


@pytest.mark.parametrize("behavior", [Behavior.END_DX2, Behavior.END_DX4, Behavior.END_DX6])
def test_an_attachment_circuit_is_a_customer(behavior):
    circuit = replace(sid("fcbb:0:1:1::/64", behavior), interface="to-customer")
    state = desired(locator(), circuit)

    assert "to-customer" in boundary_of(opened(state)).interfaces
    assert "to-customer" not in boundary_of(state).interfaces
    declared = replace(state, roles={"to-customer": CORE})
    assert boundary_of(opened(declared)) is None
    assert "to-customer" in boundary_of(declared).interfaces


def test_an_interface_of_a_cross_connect_to_a_router_is_none():
    adjacency = replace(sid("fcbb:0:1:1::/64", Behavior.END_X), interface="to-p")

    assert boundary_of(opened(desired(locator(), adjacency))) is None


def test_what_is_is_speaks_on_is_core_unless_it_is_passive():
    isis = Isis(
        "49.0001",
        "0000.0000.0001",
        "MAIN",
        interfaces=(IsisInterface("to-p"), IsisInterface("to-ce", passive=True)),
    )

    found = boundary_of(replace(small_vpn("eth1"), isis=isis))

    assert found.interfaces == ("lo", "srv6mgr", "to-p")


def hooks(state, *receivers):
    objects = target(
        state, Links(dict.fromkeys(receivers, 1), frozenset(receivers))
    ).objects.values()
    return {o.interface for o in objects if isinstance(o, ProxyHook)} - {"srv6mgr"}


def test_no_hook_of_a_proxy_is_before_the_filter_on_a_customers_interface():
    proxy = Proxy("ethernet", "fw", "fw")
    circuit = replace(sid("fcbb:0:1:2::/64", Behavior.END_DX2), interface="ac")
    state = desired(
        locator(), replace(sid("fcbb:0:1:1::/64", Behavior.END_AD), proxy=proxy), circuit
    )
    roles = replace(state, roles={"edge": CUSTOMER, "to-p": CORE})

    assert hooks(roles, "fw", "ac", "edge", "to-p", "other") == {"fw", "to-p"}
    assert hooks(opened(roles), "fw", "ac", "edge", "to-p", "other") == {"fw", "to-p", "other"}


def test_what_has_no_other_object_to_show_it_is_shown_by_the_locators():
    state = desired(locator(), sid("fcbb:0:1:1::/64"))

    assert target(state, {}).serves["boundary"] == [ObjectRef(Kind.LOCATOR, "MAIN")]


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
        opened(desired(locator(), sid("fcbb:0:1:1::/64"))),
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


def said(state, *interfaces):
    return list(domain.warnings(state, interfaces))


def test_without_a_core_interface_the_operator_is_warned():
    state = small_vpn("eth1")

    (text,) = said(state, "lo", "srv6mgr", "red", "eth1", "to-p")

    assert text == (
        "boundary: no interface is core, so packets from other routers of the SRv6 domain are"
        " dropped; set interfaces/interface[name=...]/role to core for each that leads to one"
        " (candidates: to-p)"
    )
    assert said(replace(state, roles={"to-p": CORE}), "eth1", "to-p", "other") == []
    assert said(state, "lo", "eth1") == []
    assert said(desired(locator()), "to-p") == []


def test_an_open_domain_is_warned_of_until_each_interface_is_declared():
    state = opened(small_vpn("eth1"))

    (text,) = said(state, "lo", "eth1", "to-p", "eth7")

    assert text == (
        "boundary: eth7, to-p can reach SIDs, since default-role is core (RFC 8754 section 5.1);"
        " set interfaces/interface[name=...]/role to core for each that leads to a router of the"
        " SRv6 domain, then boundary/default-role to customer"
    )
    roles = {"to-p": CORE, "eth7": CUSTOMER}
    assert said(replace(state, roles=roles), "lo", "eth1", "to-p", "eth7") == []
