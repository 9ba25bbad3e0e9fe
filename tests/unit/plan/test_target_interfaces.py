"""Declared interfaces as objects, what they wait for, and the order of what is done to them."""

from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address, ip_interface

import pytest

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Headend
from srv6mgrd.model.desired import SegmentList, SteeredRoute
from srv6mgrd.model.interfaces import Interface, Vlan
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.diff import plan
from srv6mgrd.plan.interfaces import without_leaving
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.target import met, target
from tests.builders import by_key, desired, seen, vrf

V4, V6, LINK_LOCAL = map(ip_interface, ("10.0.0.1/24", "2001:db8::1/64", "fe80::1/64"))
ETH1 = Links({"eth1": 2})


def declared(*interfaces, parts=()):
    return replace(desired(*parts), interfaces={i.name: i for i in interfaces})


def vlan(name="v", parent="eth1", number=5, **more):
    return Interface(name, vlan=Vlan(parent, number), **more)


def objects(state, links=ETH1):
    return list(target(state, links).objects.values())


def reasons(state, links=ETH1):
    return {ref.name: why for ref, why in target(state, links).pending.items()}


def test_addresses():
    assert objects(declared(Interface("eth1", addresses=(V4, V6)))) == [
        Sysctl("net/ipv4/conf/eth1/promote_secondaries", "1"),
        Sysctl("net/ipv6/conf/eth1/disable_ipv6", "0"),
        Sysctl("net/ipv6/conf/eth1/keep_addr_on_down", "1"),
        InterfaceAddress("eth1", V4),
        InterfaceAddress("eth1", V6),
    ]


def test_a_vlan_and_a_loopback():
    state = declared(vlan(mtu=1400), Interface("lo1", loopback=True))

    assert objects(state) == [
        VlanDevice("v", "eth1", 5),
        LinkMtu("v", 1400),
        AdminState("v", up=True),
        DummyDevice("lo1"),
    ]


def test_a_vlan_has_the_mtu_of_its_parent():
    state = declared(Interface("eth1", mtu=9000), vlan(), vlan("w", "v", 6))

    found = [o for o in objects(state) if isinstance(o, LinkMtu)]

    assert found == [LinkMtu(name, 9000) for name in ("eth1", "v", "w")]


def test_what_is_created_can_be_used_at_once():
    state = declared(vlan("w", "v"), vlan(), parts=[vrf("red", 10, "w")])

    found = target(state, ETH1)

    assert found.pending == {}
    assert found.objects["port w"] == VrfPort("w", "red")
    assert found.serves["link v"] == [ObjectRef(Kind.INTERFACE, "v")]


@pytest.mark.parametrize(
    ("state", "links", "why"),
    [
        (declared(Interface("eth9")), ETH1, "interface eth9 does not exist yet"),
        (declared(vlan(parent="eth9")), ETH1, "parent-interface eth9 does not exist yet"),
        (
            declared(vlan()),
            replace(ETH1, down=frozenset({"eth1"})),
            "parent-interface eth1 is down",
        ),
        (
            declared(Interface("eth1", addresses=(V4,))),
            replace(ETH1, bridged={"eth1": "br0"}),
            "interface eth1 is a port of br0, which takes its packets",
        ),
    ],
)
def test_what_it_waits_for(state, links, why):
    (only,) = state.interfaces

    assert reasons(state, links) == {only: why}


def test_a_parent_that_is_declared_up_is_not_waited_for():
    down = replace(ETH1, down=frozenset({"eth1"}))

    assert reasons(declared(Interface("eth1", enabled=True), vlan()), down) == {}
    assert reasons(declared(Interface("eth1", enabled=False), vlan())) == {
        "v": "parent-interface eth1 is down"
    }


def test_nothing_is_sent_out_of_what_is_declared_down():
    route = SteeredRoute(None, IPv4Network("10.9.0.0/24"), "P", Headend.H_ENCAPS, interface="v")
    state = replace(
        declared(vlan(), Interface("eth1", enabled=False)),
        routes={route.name: route},
        segment_lists={"P": SegmentList("P", (IPv6Address("fcbb:0:2::"),))},
    )

    assert reasons(state)[route.name] == "interface eth1 is declared down (enabled false)"


def test_other_links_make_no_other_target():
    state = declared(vlan())
    links = Links({"eth1": 2, "eth7": 7}, down=frozenset({"eth7"}), bridged={"eth7": "br0"})

    assert met(state, links) == ETH1


def test_what_leaves_is_not_built_upon():
    state = declared(vlan("w", "v"))
    links = Links({"eth1": 2, "v": 3}, ours=frozenset({"v"}))

    assert "w" in reasons(state, without_leaving(state, links, {"link v"}))
    assert reasons(state, without_leaving(state, links, ())) == {}


# What is done.


def moved(before, after, links=ETH1):
    old, new = target(before, links).objects, target(after, links).objects
    observed = {**seen(*old.values()), **seen(AdminState("eth1", up=True), ours=False)}
    return plan(new, observed, old).actions


def test_another_id_makes_the_device_anew_with_all_that_is_on_it():
    before = declared(vlan(addresses=(V4,)), parts=[vrf("red", 10, "v")])
    after = declared(vlan(number=6, addresses=(V4,)), parts=[vrf("red", 10, "v")])

    found = moved(before, after)

    assert found[:2] == [Delete(VlanDevice("v", "eth1", 5)), Create(VlanDevice("v", "eth1", 6))]
    again = [a.object for a in found[2:] if isinstance(a, Replace) and a.before == a.object]
    assert AdminState("v", up=True) in again
    assert again[-1] == InterfaceAddress("v", V4)
    assert again.index(VrfPort("v", "red")) < again.index(InterfaceAddress("v", V4))


def test_an_id_is_given_on():
    found = moved(declared(vlan("a")), declared(vlan("b")))

    assert found[0] == Delete(VlanDevice("a", "eth1", 5))
    assert Create(VlanDevice("b", "eth1", 5)) in found


def test_link_local_addresses_come_back_after_an_interface_enters_a_vrf():
    one = Interface("eth1", addresses=(V6, LINK_LOCAL))

    found = moved(declared(one), declared(one, parts=[vrf("red", 10, "eth1")]))

    address = InterfaceAddress("eth1", LINK_LOCAL)
    assert found.index(Create(VrfPort("eth1", "red"))) < found.index(Replace(address, address))
    assert Replace(InterfaceAddress("eth1", V6), InterfaceAddress("eth1", V6)) not in found


def test_a_vlan_that_is_down_stays_so_when_its_parent_goes_up():
    state = declared(Interface("eth1", enabled=True), vlan(enabled=False))
    wanted = target(state, ETH1).objects
    observed = by_observation(wanted) | seen(AdminState("eth1", up=False), ours=False)

    found = plan(wanted, observed, wanted).actions

    down = AdminState("v", up=False)
    assert found == [
        Replace(AdminState("eth1", up=False), AdminState("eth1", up=True)),
        Replace(down, down),
    ]


def by_observation(wanted):
    return seen(*wanted.values())


def test_an_address_of_somebody_else_is_used_and_left():
    wanted = by_key([InterfaceAddress("eth1", V4)])
    theirs = seen(*wanted.values(), ours=False)

    assert plan(wanted, theirs, ()).actions == []
    assert plan({}, theirs, ()).actions == []
    # Somebody put it there again after it was ours.
    assert plan({}, theirs, wanted).actions == []


def test_the_address_of_somebody_else_with_another_prefix_length():
    wanted = by_key([InterfaceAddress("eth1", V4)])
    theirs = InterfaceAddress("eth1", ip_interface("10.0.0.1/32"))

    (conflict,) = plan(wanted, seen(theirs, ours=False), ()).conflicts

    assert conflict.found == theirs


def test_state_and_mtu_are_set_whoever_set_them_and_never_set_back():
    wanted = by_key([LinkMtu("eth1", 1400), AdminState("eth1", up=False)])
    standing = seen(LinkMtu("eth1", 1500), AdminState("eth1", up=True), ours=False)

    assert len(plan(wanted, standing, ()).actions) == 2
    assert plan({}, standing, wanted).actions == []
