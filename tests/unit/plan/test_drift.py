"""How things differed, in words."""

import dataclasses
from ipaddress import IPv6Address, ip_interface

import pytest

from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import UnknownBoundary, boundary
from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook, ProxyPrograms
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.drift import differences
from tests.builders import net

SID = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986)
OTHER = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END_DT6, 8986, 10, "eth1", counters=False)
HOOK = ProxyHook("eth0", "back_function")
ADDRESS = InterfaceAddress("eth1", ip_interface("10.0.0.1/24"))
PROXY = ProxyEntry(net("fcbb:0:1:1::/64"), Behavior.END_AM, "ipv6", "fw", "fw")
RED = VrfDevice("red", 10, 1000)
HOP = NextHopRoute(IPv6Address("fc00::5"), "eth1", IPv6Address("fc00::5"))
OUTSIDE = boundary(["red"], [net("fcbb::/32")], [])
BGP = FrrBlock("bgpd", ("router bgp 65000", "address-family ipv4"), ("a", "b", "c"))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Create(SID), "SID route was deleted"),
        (Create(RED), "VRF device red was deleted"),
        (Create(DummyDevice("srv6mgr")), "device srv6mgr was deleted"),
        (Create(VrfPort("eth1", "red")), "interface eth1 had left VRF red"),
        (Create(UnreachableDefault(4, 10)), "unreachable IPv4 default of table 10 was deleted"),
        (
            Create(UnreachableSid(net("fcbb:0:1:64::/64"), 10)),
            "unreachable route to SID fcbb:0:1:64::/64 in table 10 was deleted",
        ),
        (Create(Rule(2000, net("fcbb::/48"), 8986)), "rule 2000 to fcbb::/48 was deleted"),
        (Create(BGP), "FRR bgpd 'router bgp 65000 / address-family ipv4' was deleted"),
        (
            Replace(OTHER, SID),
            "SID route: action was End.DT6, is End; vrf table was 10, is none; "
            "device was eth1, is srv6mgr; counters was off, is on",
        ),
        (
            Replace(VrfDevice("red", 20, 7, up=False), RED),
            "VRF device red: table was 20, is 10; ifindex was 7, is 1000; up was off, is on",
        ),
        (
            Create(ProxyHook("srv6mgr", "toward_local")),
            "egress hook of the proxies on srv6mgr was deleted",
        ),
        (
            Replace(ProxyHook("eth0", "back_function", current=False), HOOK),
            "ingress hook of the proxies on eth0 ran another program",
        ),
        (
            Replace(ProxyHook("eth0", "toward_function"), HOOK),
            "ingress hook of the proxies on eth0: program was toward_function, is back_function",
        ),
        (
            Replace(ProxyPrograms(intact=False), ProxyPrograms()),
            "programs of the proxies were incomplete, or of another version",
        ),
        (Replace(LinkMtu("fw", 1500), LinkMtu("fw", 1420)), "MTU of fw was 1500, is 1420"),
        (Create(ADDRESS), "address 10.0.0.1/24 of eth1 was deleted"),
        (Replace(ADDRESS, ADDRESS), "address 10.0.0.1/24 of eth1 went with its interface"),
        (
            Replace(InterfaceAddress("eth1", ip_interface("10.0.0.1/32")), ADDRESS),
            "address 10.0.0.1/24 of eth1 had prefix length 32",
        ),
        (Replace(AdminState("eth1", False), AdminState("eth1", True)), "interface eth1 was down"),
        (Create(VlanDevice("eth1.5", "eth1", 5)), "interface eth1.5 was deleted"),
        (Create(PROXY), "proxy on fw was deleted"),
        (
            Replace(dataclasses.replace(PROXY, current=False), PROXY),
            "proxy on fw did not fit its interface",
        ),
        (
            Replace(dataclasses.replace(PROXY, interface="if7", current=False), PROXY),
            "proxy on fw did not fit its interface; interface was if7, is fw",
        ),
        (
            Replace(dataclasses.replace(PROXY, age=5), PROXY),
            "proxy on fw: age was 5, is 0",
        ),
        (
            Replace(UnknownLink("red", "dummy up"), RED),
            "VRF device red was dummy up",
        ),
        (
            Replace(VrfPort("eth1", "blue"), VrfPort("eth1", "red")),
            "interface eth1 was in VRF blue, is in red",
        ),
        (Replace(SID, SID), "SID route: lacked our mark"),
        (Replace(HOP, HOP), "route to next hop fc00::5 went with its interface"),
        (
            Replace(Sysctl("net/vrf/strict_mode", "0"), Sysctl("net/vrf/strict_mode", "1")),
            "net.vrf.strict_mode was 0, is 1",
        ),
        (
            Replace(EncapSource(IPv6Address("fc00::1")), EncapSource(IPv6Address("fc00::2"))),
            "encapsulation source was fc00::1, is fc00::2",
        ),
        (
            Replace(FrrBlock(BGP.daemon, BGP.context, ("b",)), BGP),
            "FRR bgpd 'router bgp 65000 / address-family ipv4' lacked 'a' and 1 more",
        ),
        (
            Replace(UnknownBoundary("with other rules"), OUTSIDE),
            "nftables table ip6 srv6mgr was with other rules",
        ),
        (
            Replace(boundary(["eth1", "red"], [net("fcbb::/32")], []), OUTSIDE),
            "nftables table ip6 srv6mgr: interfaces was eth1,red, is red",
        ),
        (Create(OUTSIDE), "nftables table ip6 srv6mgr was deleted"),
        (Delete(SID), "SID route was there, though not declared"),
    ],
)
def test_in_words(action, words):
    assert action.difference == words


def test_what_is_made_anew_is_one_difference():
    was = VrfDevice("red", 20, 7)

    port = VrfPort("eth1", "red")
    actions = [Delete(port), Delete(was), Create(RED), Create(SID), Create(port)]

    assert differences(actions) == {
        RED.key: "VRF device red: table was 20, is 10; ifindex was 7, is 1000",
        SID.key: "SID route was deleted",
    }


def test_a_value_that_went_with_its_interface_did_not_differ() -> None:
    value = Sysctl("net/ipv6/conf/red/seg6_enabled", "0")
    state = AdminState("eth1", up=False)
    assert differences([Replace(value, value), Replace(state, state)]) == {}
