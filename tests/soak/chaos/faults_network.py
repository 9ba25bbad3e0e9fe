"""Hands in the kernel and in FRR: what is removed or changed there comes back."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from lab.guest.catalogue import FRR_ROOT, STOCK_FRR
from tests.soak.chaos.target import Target

RED, BLUE = "fcbb:0:1:64::/64", "fcbb:0:1:c8::/64"


@dataclass(frozen=True, slots=True)
class Hands:
    """A shell line on the router."""

    name: str
    line: str
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        target.shell(self.line)

    def heal(self, target: Target) -> None:
        """srv6mgrd's work."""


@dataclass(frozen=True, slots=True)
class Flap:
    """A link down, and up again; its addresses stay (keep_addr_on_down)."""

    name: str
    link: str
    spares: bool
    rejects: bool = True
    # IPv6 routes of an interface go with it, and no routing protocol of the lab brings them back.
    routes: str = ""

    def strike(self, target: Target, rng: random.Random) -> None:
        target.shell(f"ip link set {self.link} down")
        time.sleep(rng.uniform(0.1, 2.0))
        target.shell(f"ip link set {self.link} up; {self.routes}")

    def heal(self, target: Target) -> None:
        target.shell(f"ip link set {self.link} up; {self.routes}")


def vtysh(*lines: str) -> str:
    words = " ".join(f"-c '{line}'" for line in ("configure terminal", *lines))
    return f"vtysh {words}"


# A function behind a service proxy, whose programs are eBPF.
PROXY = "fcbb:0:1:ad6::/64"
FUNCTION = """ip netns add fw; ip link add to-fw type veth peer name eth0 netns fw
for l in lo eth0; do ip netns exec fw ip link set $l up; done; ip link set to-fw up
ip netns exec fw ip address add 2001:db8:9::2/64 dev eth0 nodad
ip address add 2001:db8:9::1/64 dev to-fw nodad
"""
_UNDERLAY = "; ".join(
    f"ip -6 route replace {prefix} via 2001:db8:1::2"
    for prefix in ("2001:db8::2/128", "2001:db8:2::/64", "fcbb:0:2::/48")
)
FAULTS = (
    Hands("red's SID is deleted", f"ip -6 route del {RED} table 8986"),
    Hands(
        "red's SID is replaced",
        f"ip -6 route replace {RED} table 8986 metric 1024 encap seg6local action End count"
        " dev srv6mgr",
    ),
    Hands("table of SIDs is flushed", "ip -6 route flush table 8986", spares=False),
    Hands(
        "the campaign's SIDs are deleted",
        "ip -6 route show table 8986 | grep -oE '^fcbb:0:1:[123]0[^ ]*' |"
        " while read r; do ip -6 route del $r table 8986; done",
    ),
    Hands("rule of SIDs is deleted", "ip -6 rule del pref 2000", spares=False),
    Hands("l3mdev rules are deleted",
          "ip rule del pref 1000; ip -6 rule del pref 1000", spares=False),
    Hands("rules of the underlay are deleted",
          "ip -6 rule del pref 989; ip -6 rule del pref 990", spares=False),
    Hands("device of SIDs is deleted", "ip link del srv6mgr", spares=False),
    Hands("device of SIDs is down", "ip link set srv6mgr down", spares=False),
    # Stock zebra may end: process_subq_route, assertion (dest); patch 10-own-a-table.
    Hands("VRF red is deleted", "ip link del red", spares=FRR_ROOT != STOCK_FRR),
    Hands("VRF red is down", "ip link set red down"),
    Hands("port of red leaves", "ip link set to-ce-red nomaster"),
    Hands("unreachable routes of red are deleted",
          "ip route del unreachable default table 10 metric 4278198272;"
          " ip -6 route del unreachable default table 10 metric 4278198272"),
    Hands("VRFs of the campaign are deleted",
          "for v in v0 v1 v2 v3; do ip link del $v; done", spares=FRR_ROOT != STOCK_FRR),
    Hands("ports of the campaign are deleted",
          "for v in v0 v1 v2 v3; do ip link del $v-port; done"),
    Hands("ports of the campaign have no address",
          "for v in v0 v1 v2 v3; do ip address flush dev $v-port; done"),
    Hands("ports of the campaign leave",
          "for v in v0 v1 v2 v3; do ip link set $v-port nomaster; done"),
    Hands("nft table is deleted", "nft delete table ip6 srv6mgr"),
    Hands("nft table is flushed", "nft flush table ip6 srv6mgr"),
    Hands("strict mode is off", "sysctl -qw net.vrf.strict_mode=0"),
    Hands("forwarding is off",
          "sysctl -qw net.ipv6.conf.all.forwarding=0 net.ipv4.ip_forward=0;"
          + _UNDERLAY, spares=False),
    Hands("source of tunnels is changed", "ip sr tunsrc set 2001:db8:dead::1", spares=False),
    Hands("BGP of red is removed by hand", vtysh("no router bgp 65000 vrf red")),
    Hands("route targets of red are removed by hand",
          vtysh("router bgp 65000 vrf red", "address-family ipv4 unicast",
                "no rt vpn import 65000:10", "no rt vpn export 65000:10")),
    Hands("static routes of the campaign are removed by hand",
          "; ".join(vtysh(f"no ip route 10.78.{n}.0/24 blackhole vrf v{n}") for n in range(4))),
    Hands("FRR's locator is removed by hand",
          vtysh("segment-routing", "srv6", "locators", "no locator MAIN"), spares=False),
    Hands("eBPF links are deleted", "rm -f /sys/fs/bpf/srv6mgr*/links/*"),
    Hands("eBPF maps are deleted", "rm -f /sys/fs/bpf/srv6mgr*/maps/*"),
    Hands("all of eBPF is deleted", "rm -rf /sys/fs/bpf/srv6mgr*"),
    Flap("link of the function flaps", "to-fw", spares=True),
    Flap("link of red flaps", "to-ce-red", spares=True),
    Flap("link of the core flaps", "to-p", spares=False, routes=_UNDERLAY),
)  # fmt: skip
