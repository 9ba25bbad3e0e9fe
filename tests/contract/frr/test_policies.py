"""Routing policies: each line reads back as written; the peer has what they let through."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from lab.waiting import wait_until
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.model.bgp import Neighbor, PrefixLimit
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.routing_policy import (
    Actions,
    ApplyPolicy,
    CommunityOption,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_neighbors import CUSTOMER, customer, with_customer, with_peer
from tests.contract.frr.test_vpn import Pes, arrive, leave, push

__all__ = ["customer"]
pytestmark = pytest.mark.contract

DEADLINE = 40.0
V4, V6 = ip_network("10.0.0.0/8"), ip_network("2001:db8::/32")
COMMUNITIES = (
    "no-export", "no-advertise", "no-peer", "blackhole", "graceful-shutdown",
    *(f"65535:{n}" for n in range(1, 9)), "65535:65283", "1:2", "65000:0",
)  # fmt: skip
SETS = RoutingPolicy(
    prefix_sets={
        "both": (
            PrefixRange(V4), PrefixRange(ip_network("192.168.0.0/16"), 16, 24),
            PrefixRange(ip_network("172.16.0.0/12"), 16), PrefixRange(V6, None, 48),
            PrefixRange(ip_network("0.0.0.0/0"), 0, 32), PrefixRange(ip_network("::/0"), 1, 127),
        ),
        "one": (PrefixRange(V4, 8, 24),),
    },
    community_sets={"c": COMMUNITIES},
    as_path_sets={"a": ("^65001(_65001)*$", "_[0-9]+.?$", r"^$")},
)  # fmt: skip
STATEMENTS = [
    Statement(1),
    Statement(2, actions=Actions(PolicyResult.REJECT)),
    Statement(3, Conditions(prefix_set="both"), Actions(PolicyResult.NEXT, local_pref=0)),
    Statement(4, Conditions(prefix_set="both"), Actions(PolicyResult.REJECT)),
    Statement(5, Conditions(community_set="c", as_path_set="a"), Actions(med=4294967295)),
    Statement(6, Conditions(community_set="c", all_communities=True, tag=1), Actions(tag=2)),
    Statement(7, actions=Actions(communities=COMMUNITIES)),
    Statement(
        8, actions=Actions(communities=COMMUNITIES, community_option=CommunityOption.REPLACE)
    ),
    Statement(9, actions=Actions(communities=COMMUNITIES, community_option=CommunityOption.REMOVE)),
    Statement(10, actions=Actions(community_option=CommunityOption.REPLACE, prepend=16)),
    Statement(16000, actions=Actions(prepend=1, prepend_as=4294967295)),
]
ALL = ApplyPolicy("p", "p")
# What customers and other edges may have, and customers alone.
OPTIONS: list[dict[str, Any]] = [
    {"apply_policy": ALL},
    {"apply_policy": ApplyPolicy("q")},
    {"prefix_limit": PrefixLimit(100)},
    {"prefix_limit": PrefixLimit(100, 75)},
    {"prefix_limit": PrefixLimit(4294967295, 100, 65535)},
    {"prefix_limit": PrefixLimit(5, warning_only=True)},
    {"prefix_limit": PrefixLimit(5, 1, warning_only=True)},
    {"allow_own_as": 1},
    {"allow_own_as": 3},
    {"allow_own_as": 10},
    {"next_hop_self": True, "soft_reconfiguration": True},
    {"enabled": False},
    {"enabled": False, "shutdown_message": "maintenance until 6 o'clock, ä"},
    {"enabled": False, "shutdown_message": "longer"},
    {},
]
OF_CUSTOMERS: list[dict[str, Any]] = [
    *OPTIONS,
    {"ttl_security": 1},
    {"ttl_security": 254},
    {"as_override": True, "default_originate": True},
    {"site_of_origin": "65000:1"},
    {"site_of_origin": "192.0.2.1:7"},
    {},
]


def with_policies(state: Desired, *policies: Policy, sets: RoutingPolicy = SETS) -> Desired:
    return replace(state, routing_policy=replace(sets, policies={p.name: p for p in policies}))


def read_back(pe: Pe, wanted: Desired, why: object) -> None:
    assert pe.push(wanted) == [], why
    assert pe.plan(wanted) == [], why


def test_each_statement_reads_back_as_written(pes: Pes) -> None:
    one, _ = pes
    state = declaration(1, "red")
    read_back(one, with_policies(state, Policy("p", tuple(STATEMENTS))), "all")
    for statement in STATEMENTS:
        # The same entry with other lines, then with none.
        for changed in (statement, replace(statement, sequence=1), Statement(1)):
            read_back(one, with_policies(state, Policy("p", (changed,))), changed)
    read_back(one, state, "none")
    assert "srv6mgr-" not in one.frr.show(BGPD, "show running-config")


def test_each_option_of_a_neighbor_reads_back_as_written(pes: Pes) -> None:
    one, _ = pes
    policies = Policy("p", (Statement(1),)), Policy("q", (Statement(1),))
    state = with_policies(declaration(1, "red"), *policies)
    for options in OPTIONS:
        read_back(one, with_peer(state, **options), options)
    for options in OF_CUSTOMERS:
        read_back(one, with_customer(state, Neighbor(*CUSTOMER, **options)), options)
    read_back(one, declaration(1, "red"), "none")


def routes(pe: Pe, prefix: str) -> dict[str, Any]:
    """The best VPN path to a prefix in VRF red of a PE."""
    shown = json.loads(pe.frr.show(BGPD, f"show bgp vrf red ipv4 unicast {prefix} json") or "{}")
    return next((p for p in shown.get("paths", ()) if p.get("bestpath", {}).get("overall")), {})


def seen(pe: Pe, prefix: str, what: str, value: object) -> None:
    """Wait for an attribute of the best path."""

    def has() -> bool:
        found = routes(pe, prefix).get(what)
        return (found.get("string") if isinstance(found, dict) else found) == value

    wait_until(has, f"{what} {value} of {prefix}", DEADLINE, seen=lambda: routes(pe, prefix))


def test_the_other_edge_has_what_policies_let_through(pes: Pes, customer: Pe) -> None:
    push(pes, "red")
    one, two = pes
    accepted = PrefixRange(ip_network("192.0.2.0/24"))
    sets = RoutingPolicy(prefix_sets={"s": (accepted,), "t": (accepted,)})
    first = Statement(
        1, Conditions(prefix_set="s"), Actions(local_pref=300, med=7, communities=("65000:5",))
    )
    state = with_customer(
        declaration(1, "red"), Neighbor(*CUSTOMER, apply_policy=ApplyPolicy("from-red"))
    )
    assert one.push(with_policies(state, Policy("from-red", (first,)), sets=sets)) == []
    customer.operator(
        BGPD, "configure terminal", "router bgp 65100", "bgp router-id 192.0.2.1",
        "no bgp ebgp-requires-policy", "no bgp network import-check",
        "neighbor 10.1.0.1 remote-as 65000", "address-family ipv4 unicast",
        "network 192.0.2.0/24", "network 198.51.100.0/24",
    )  # fmt: skip
    arrive(two, "-4", 10, "192.0.2.0/24", "fcbb:0:1:64::")
    assert routes(two, "192.0.2.0/24")["locPrf"] == 300
    assert routes(two, "192.0.2.0/24")["metric"] == 7
    assert routes(two, "192.0.2.0/24")["community"]["string"] == "65000:5"
    leave(two, "-4", 10, "198.51.100.0/24")

    # Another set, another policy and another statement come without the route going.
    with two.node.popen(
        ["ip", "monitor", "route"], stdout=subprocess.PIPE, text=True
    ) as monitor:  # fmt: skip
        other = replace(first, conditions=Conditions(prefix_set="t"), actions=Actions(med=8))
        assert one.push(with_policies(state, Policy("from-red", (other,)), sets=sets)) == []
        seen(two, "192.0.2.0/24", "metric", 8)
        moved = with_customer(
            state, Neighbor(*CUSTOMER, apply_policy=ApplyPolicy("from-red-2"))
        )  # fmt: skip
        last = replace(other, sequence=5, actions=Actions(med=9))
        assert one.push(with_policies(moved, Policy("from-red-2", (last,)), sets=sets)) == []
        seen(two, "192.0.2.0/24", "metric", 9)
        monitor.terminate()
        assert monitor.stdout is not None
        assert not [line for line in monitor.stdout if line.startswith("Deleted 192.0.2.0/24")]

    # The VRF's own policies are for what it exports, and what it imports.
    rejects = Policy("none", (Statement(1, actions=Actions(PolicyResult.REJECT)),))
    red = two_imports(declaration(2, "red"), "none")
    assert two.push(with_policies(red, rejects)) == []
    leave(two, "-4", 10, "192.0.2.0/24")
    assert two.push(declaration(2, "red")) == []
    arrive(two, "-4", 10, "192.0.2.0/24", "fcbb:0:1:64::")


def two_imports(state: Desired, policy: str) -> Desired:
    red = state.vrfs["red"]
    assert red.bgp is not None
    applied = replace(red.bgp, apply_policy=ApplyPolicy(policy))
    return replace(state, vrfs={**state.vrfs, "red": replace(red, bgp=applied)})
