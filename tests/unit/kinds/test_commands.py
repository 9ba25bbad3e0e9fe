"""Every kind of object as the command that an operator would type."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface

import pytest

from srv6mgrd.kinds.accounting.object import (
    AccountedPort,
    AccountedSid,
    AccountedVrf,
    AccountingHook,
    AccountingPrograms,
    AccountingSources,
)
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.kinds.admin_state.object import AdminState
from srv6mgrd.kinds.boundary.object import Boundary
from srv6mgrd.kinds.chain.object import (
    ChainPrograms,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.object import Unknown
from srv6mgrd.kinds.proxy.object import ProxyEntry, ProxyHook, ProxyPrograms
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vlan.object import VlanDevice
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.chains import ClassifierRule, Way
from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.kinds import every_kind

NET = IPv6Network("fcbb:0:1:64::/64")
LOCATOR = IPv6Network("fcbb:0:1::/48")
SEGMENTS = (IPv6Address("fcbb:0:2::"), IPv6Address("fcbb:0:3::"))
SID = "ip -6 route add fcbb:0:1:64::/64 table 8986 metric 1024 protocol 86 encap seg6local action"


def sid(behavior, **more):
    return SidRoute(NET, behavior, 8986, **more)


CREATED = [
    (Sysctl("net/ipv6/conf/eth0.5/forwarding", "1"),
     "sysctl -w net.ipv6.conf.eth0/5.forwarding=1"),
    (L3mdevRule(6),
     "ip -6 rule add priority 1000 l3mdev protocol kernel"),
    (DummyDevice("srv6mgr"),
     "ip link add srv6mgr alias srv6mgr type dummy && ip link set srv6mgr up"),
    (VrfDevice("red", 10, 268435466),
     "ip link add red index 268435466 alias srv6mgr type vrf table 10 && ip link set red up"),
    (VrfPort("eth1", "red"), "ip link set eth1 vrf red"),
    (Boundary(("eth1", "red"), (LOCATOR,), ()),
     "nft 'table ip6 srv6mgr { comment \"srv6mgr\"; "
     'set customers { type ifname; elements = { "eth1", "red" }; }; '
     "set sids { type ipv6_addr; flags interval; elements = { fcbb:0:1::/48 }; }; "
     "set sources { type ipv6_addr; }; "
     'chain customer { ip6 daddr @sids counter drop comment "to a SID"; '
     'rt type 4 counter drop comment "source routing"; '
     'ip6 saddr @sources counter drop comment "as if encapsulated here"; }; '
     "chain boundary { type filter hook prerouting priority raw; policy accept; "
     "iifname @customers jump customer comment \"from a customer\"; }; }'"),
    (ProxyPrograms(),
     "bpftool prog loadall /usr/lib/srv6mgr/proxy.bpf.o /sys/fs/bpf/srv6mgr"
     " pinmaps /sys/fs/bpf/srv6mgr/maps"),
    (ProxyEntry(NET, Behavior.END_AD, "ipv6", "eth1", "eth2", SEGMENTS[0], age=5,
                passes=("multicast",)),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr/maps/proxies key fcbb:0:1:64::/64"
     " value End.AD ipv6 dev eth1 via fcbb:0:2:: back eth2 age 5 pass multicast"),
    (ProxyEntry(NET, Behavior.END_AS, "ethernet", "eth1", "eth1", None, SEGMENTS[0], SEGMENTS,
                decrement_hop_limit=False),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr/maps/proxies key fcbb:0:1:64::/64"
     " value End.AS ethernet dev eth1 back eth1 src fcbb:0:2:: segs fcbb:0:2::,fcbb:0:3::"
     " transparent"),
    (AccountingPrograms(),
     "bpftool prog loadall /usr/lib/srv6mgr/accounting.bpf.o /sys/fs/bpf/srv6mgr-accounting"
     " pinmaps /sys/fs/bpf/srv6mgr-accounting/maps"),
    (AccountingSources(SEGMENTS),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-accounting/maps/nodes key 0"
     " value source fcbb:0:2::,fcbb:0:3::"),
    (AccountedVrf("red", 268435466),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-accounting/maps/vrfs key 268435466 value red"),
    (AccountedPort("eth1", 7, "red"),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-accounting/maps/vrfs key 7 value red"),
    (AccountedSid(NET, "red", (Family.IPV4, Family.IPV6)),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-accounting/maps/sids key fcbb:0:1:64::/64"
     " value vrf red families ipv4,ipv6"),
    (AccountingHook("eth0", "sent"),
     "bpftool net attach tcx_egress pinned /sys/fs/bpf/srv6mgr-accounting/sent dev eth0"),
    (ChainPrograms(),
     "bpftool prog loadall /usr/lib/srv6mgr/chains.bpf.o /sys/fs/bpf/srv6mgr-chains"
     " pinmaps /sys/fs/bpf/srv6mgr-chains/maps"),
    (ServicePath("web", Way.FORWARD, Family.IPV4, ("fw",), SEGMENTS, SEGMENTS[0], weight=3),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-chains/maps/paths"
     " key service path web forward ipv4 fw"
     " value source fcbb:0:2:: segments fcbb:0:2::,fcbb:0:3:: weight 3"),
    (ClassifierRules("tenant", (ClassifierRule(10, "web"),)),
     "bpftool map update pinned /sys/fs/bpf/srv6mgr-chains/maps/rules # 1 rules of tenant"),
    (ClassifierHook("eth1", "tenant"),
     "bpftool net attach tcx_ingress pinned /sys/fs/bpf/srv6mgr-chains/classify dev eth1"),
    (LinkMtu("eth1", 1420), "ip link set dev eth1 mtu 1420"),
    (VlanDevice("eth1.5", "eth1", 5),
     "ip link add link eth1 name eth1.5 alias srv6mgr type vlan id 5"),
    (AdminState("eth1", False), "ip link set dev eth1 down"),
    (InterfaceAddress("eth1", ip_interface("10.0.0.1/24")),
     "ip address replace 10.0.0.1/24 dev eth1 proto 86"),
    (InterfaceAddress("eth1", ip_interface("fe80::1/64")),
     "ip address replace fe80::1/64 dev eth1 nodad proto 86"),
    (ProxyHook("eth1", "back_function"),
     "bpftool net attach tcx_ingress pinned /sys/fs/bpf/srv6mgr/back_function dev eth1"),
    (ProxyHook("srv6mgr", "toward_local"),
     "bpftool net attach tcx_egress pinned /sys/fs/bpf/srv6mgr/toward_local dev srv6mgr"),
    (Rule(2000, LOCATOR, 8986),
     "ip -6 rule add priority 2000 to fcbb:0:1::/48 table 8986 protocol 86"),
    (Rule(990, LOCATOR, 254, IPv6Address("2001:db8::1")),
     "ip -6 rule add priority 990 from 2001:db8::1 to fcbb:0:1::/48 table 254 protocol 86"),
    (UnreachableDefault(4, 10),
     "ip -4 route add unreachable default table 10 metric 4278198272 protocol 86"),
    (UnreachableSid(LOCATOR, 10),
     "ip -6 route add unreachable fcbb:0:1::/48 table 10 metric 4278198272 protocol 86"),
    (sid(Behavior.END), f"{SID} End count dev srv6mgr"),
    (sid(Behavior.END, counters=False, flavors=frozenset({Flavor.PSP})),
     f"{SID} End flavors psp dev srv6mgr"),
    (sid(Behavior.END, flavors=frozenset({Flavor.NEXT_CSID}), csid_lengths=(32, 16)),
     f"{SID} End flavors next-csid lblen 32 nflen 16 count dev srv6mgr"),
    (sid(Behavior.END_X, next_hop=SEGMENTS[0]), f"{SID} End.X nh6 fcbb:0:2:: count dev srv6mgr"),
    (sid(Behavior.END_T, lookup_table=254), f"{SID} End.T table 254 count dev srv6mgr"),
    (sid(Behavior.END_DX2, interface="eth1"), f"{SID} End.DX2 oif eth1 count dev srv6mgr"),
    (sid(Behavior.END_DX4, next_hop=IPv4Address("10.0.0.1")),
     f"{SID} End.DX4 nh4 10.0.0.1 count dev srv6mgr"),
    (sid(Behavior.END_DX6, next_hop=SEGMENTS[0]),
     f"{SID} End.DX6 nh6 fcbb:0:2:: count dev srv6mgr"),
    (sid(Behavior.END_DT46, vrf_table=10), f"{SID} End.DT46 vrftable 10 count dev srv6mgr"),
    (sid(Behavior.END_B6_ENCAPS, segments=SEGMENTS),
     f"{SID} End.B6.Encaps srh segs fcbb:0:2::,fcbb:0:3:: count dev srv6mgr"),
    (sid(Behavior.END_BPF, bpf_program="/sys/fs/bpf/a b"),
     f"{SID} End.BPF endpoint pinned '/sys/fs/bpf/a b' count dev srv6mgr"),
    (EncapRoute(IPv4Network("10.2.0.0/24"), 10, Headend.H_ENCAPS_RED, SEGMENTS),
     "ip -4 route add 10.2.0.0/24 table 10 metric 1024 protocol 86"
     " encap seg6 mode encap.red segs fcbb:0:2::,fcbb:0:3:: dev srv6mgr"),
    (EncapRoute(NET, 254, Headend.H_ENCAPS_L2, SEGMENTS[:1], source=SEGMENTS[1]),
     "ip -6 route add fcbb:0:1:64::/64 table 254 metric 1024 protocol 86"
     " encap seg6 mode l2encap segs fcbb:0:2:: tunsrc fcbb:0:3:: dev srv6mgr"),
    (EncapRoute(NET, 10, Headend.H_ENCAPS, SEGMENTS[:1], hop_limit=9, lookup_table=254),
     "ip -6 route add fcbb:0:1:64::/64 table 10 metric 1024 protocol 86"
     " encap seg6 mode encap segs fcbb:0:2:: lookup 254 ttl 9 dev srv6mgr"),
    (EncapRoute(NET, 254, Headend.H_INSERT, SEGMENTS),
     "ip -6 route add fcbb:0:1:64::/64 table 254 metric 1024 protocol 86"
     " encap seg6 mode inline segs fcbb:0:2::,fcbb:0:3:: dev srv6mgr"),
    (NextHopRoute(IPv4Address("10.0.0.1"), "eth1", IPv4Address("10.0.0.1")),
     "ip -4 route add 10.0.0.1/32 table 254 metric 1024 protocol 86"
     " via 10.0.0.1 dev eth1 onlink"),
    (EncapSource(IPv6Address("2001:db8::1")), "ip sr tunsrc set 2001:db8::1"),
    (FrrBlock("bgpd", ("router bgp 65000", "address-family ipv4 unicast"), ("rd vpn export 1:1",)),
     "vtysh -c configure -c 'router bgp 65000' -c 'address-family ipv4 unicast'"
     " -c 'rd vpn export 1:1'"),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "text"), CREATED)
def test_create(obj, text):
    assert Create(obj).command == text
    assert Create(obj).verb == "create"


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (DummyDevice("srv6mgr"), "ip link delete srv6mgr"),
        (VrfDevice("red", 10, 1), "ip link delete red"),
        (VrfPort("eth1", "red"), "ip link set eth1 nomaster"),
        (Rule(2000, LOCATOR, 8986),
         "ip -6 rule delete priority 2000 to fcbb:0:1::/48 table 8986 protocol 86"),
        (sid(Behavior.END),
         "ip -6 route delete fcbb:0:1:64::/64 table 8986 metric 1024 protocol 86"),
        (EncapSource(SEGMENTS[0]), "ip sr tunsrc set ::"),
        (FrrBlock("bgpd", ("router bgp 1",), ("a",)),
         "vtysh -c configure -c 'router bgp 1' -c 'no a'"),
    ],
)  # fmt: skip
def test_delete(obj, text):
    assert Delete(obj).command == text


def test_replace():
    before = FrrBlock("bgpd", ("router bgp 1",), ("a", "b"))
    after = FrrBlock("bgpd", ("router bgp 1",), ("a", "c"))
    assert Replace(before, after).command == "vtysh -c configure -c 'router bgp 1' -c 'no b' -c c"
    replaced = Replace(sid(Behavior.END), sid(Behavior.END, counters=False)).command
    assert replaced.startswith("ip -6 route replace")
    rules = Replace(Rule(2000, LOCATOR, 1), Rule(2000, LOCATOR, 2)).command
    assert rules.index("add") < rules.index("delete")
    assert Replace(VrfDevice("red", 1, 1, up=False), VrfDevice("red", 1, 1)).command == (
        "ip link set red up"
    )
    was, address = (InterfaceAddress("eth1", ip_interface(f"fd00::1/{n}")) for n in (64, 128))
    assert Replace(was, address).command == (
        "ip address delete fd00::1/64 dev eth1"
        " && ip address replace fd00::1/128 dev eth1 nodad proto 86"
    )


def test_every_kind_has_a_command():
    shown = {type(obj) for obj, _ in CREATED}
    assert shown == {kind for kind in every_kind() if not issubclass(kind, Unknown)}
