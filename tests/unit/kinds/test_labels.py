"""Names of objects in the kernel and in FRR."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest

from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Headend
from tests.builders import net

SID = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END_DT46, 8986, 10)
RED = VrfDevice("red", 10, 7)
STRICT = Sysctl("net/vrf/strict_mode", "1")
BGP = FrrBlock("bgpd", ("router bgp 65000 vrf red", "address-family ipv4 unicast"), ("rd x",))
HOP = IPv4Address("192.0.2.9")
STEERED = EncapRoute(IPv4Network("10.2.0.0/24"), 10, Headend.H_ENCAPS, (IPv6Address("fcbb:0:2::"),))
SEE = "see the kernel's words, correct the configuration and try again"


@pytest.mark.parametrize(
    ("obj", "name"),
    [
        (SID, "SID fcbb:0:1:1::/64"),
        (RED, "VRF red"),
        (VrfPort("eth1", "red"), "interface eth1 of VRF red"),
        (UnreachableDefault(4, 10), "unreachable IPv4 default of table 10"),
        (
            UnreachableSid(net("fcbb:0:1:64::/64"), 10),
            "unreachable route to SID fcbb:0:1:64::/64 in table 10",
        ),
        (DummyDevice("srv6mgr"), "device srv6mgr"),
        (STRICT, "sysctl net/vrf/strict_mode"),
        (EncapSource(IPv6Address("fcbb::1")), "encapsulation source fcbb::1"),
        (BGP, "FRR bgpd 'router bgp 65000 vrf red / address-family ipv4 unicast'"),
        (
            Rule(2000, net("fcbb:0:1::/48"), 8986),
            "rule 2000 that looks up fcbb:0:1::/48 in table 8986",
        ),
        (STEERED, "route 10.2.0.0/24 in table 10"),
        (replace(STEERED, table=254), "route 10.2.0.0/24"),
        (NextHopRoute(HOP, "eth1", HOP), "route to next hop 192.0.2.9 on eth1"),
        (
            NextHopRoute(IPv6Address("100::1"), "eth1", IPv6Address("fe80::9")),
            "route to next hop fe80::9 on eth1",
        ),
        (UnknownLink("red", "bridge up"), "device red, bridge up"),
        (
            UnknownRule("rule 990 to fcbb::/32", 990, net("fcbb::/32"), "table 77"),
            "rule 990 to fcbb::/32, table 77",
        ),
        (
            UnknownRoute(SID.key, 6, 8986, SID.prefix, 1024, "type 6, dev lo"),
            "route fcbb:0:1:1::/64 in table 8986, type 6, dev lo",
        ),
    ],
)
def test_objects_have_the_operators_names(obj, name):
    assert obj.label == name
