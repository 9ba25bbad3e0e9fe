"""Neighbors: each line reads back as written, a customer's session carries routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lab.guest import nodes
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.status import vrf_status
from srv6mgrd.model.bgp import AddPaths, GracefulRestart, Neighbor, PeerKind, VpnFamily
from srv6mgrd.model.desired import Desired
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import Pes, advertised, arrive, leave, push

pytestmark = pytest.mark.contract

CUSTOMER = ("10.1.0.10", 65100)
OPTIONS: list[dict[str, Any]] = [
    {"description": 'the other edge, rack #3|4 "left" \\ ä'},
    {"description": "same as before?"},
    {"password": "s3cr!t#$%&'()*+,-./:;<=>?@[]^_`{|}~\"\\"},
    {"password": "!other"},
    {"keepalive": 3, "hold_time": 9},
    {"keepalive": 60, "hold_time": 180},
    {"bfd": True},
    {"route_reflector_client": True},
    {"remote_as": 65009, "ebgp_multihop": 2},
    {"remote_as": 65009, "ebgp_multihop": 254},
    {},
]


# Of customers alone: how they are found, and what their sessions carry.
KINDS: list[dict[str, Any]] = [
    {"families": (4, 6)},
    {"families": (6,)},
    {"address": "fd00:1::10", "families": (4, 6)},
    {"address": "fd00:1::10", "families": (4,)},
    {"address": "to-ce-red", "kind": PeerKind.UNNUMBERED},
    {"address": "to-ce-red", "kind": PeerKind.UNNUMBERED, "families": (4,), "bfd": True},
    {"address": "g", "kind": PeerKind.DYNAMIC, "prefixes": ("10.1.0.0/24",)},
    {"address": "g", "kind": PeerKind.DYNAMIC, "prefixes": ("10.1.0.0/24", "fd00:1::/64")},
    {"address": "g", "kind": PeerKind.DYNAMIC, "prefixes": ("10.1.0.0/25",), "password": "x"},
    {"add_paths": AddPaths.ALL},
    {"add_paths": AddPaths.BEST_PER_AS},
    {},
]


def with_peer(state: Desired, **options: Any) -> Desired:
    assert state.bgp is not None
    peer = replace(state.bgp.neighbors[0], **options)
    return replace(state, bgp=replace(state.bgp, neighbors=(peer,)))


def with_customer(state: Desired, *customers: Neighbor) -> Desired:
    red = state.vrfs["red"]
    assert red.bgp is not None
    return replace(
        state, vrfs={**state.vrfs, "red": replace(red, bgp=replace(red.bgp, neighbors=customers))}
    )


def test_each_option_reads_back_as_written(pes: Pes) -> None:
    one, _ = pes
    state = with_customer(declaration(1, "red"), Neighbor(*CUSTOMER))
    for options in OPTIONS:
        wanted = with_peer(state, **options)
        assert one.push(wanted) == [], options
        assert one.plan(wanted) == [], options
    for options in OPTIONS:
        reflected = {k: v for k, v in options.items() if k != "route_reflector_client"}
        neighbor = replace(Neighbor(*CUSTOMER), **reflected)
        wanted = with_customer(declaration(1, "red"), neighbor)
        assert one.push(wanted) == [], options
        assert one.plan(wanted) == [], options
    assert one.push(declaration(1, "red")) == []
    assert one.plan(declaration(1, "red")) == []
    assert "neighbor 10.1.0.10" not in one.frr.show(BGPD, "show running-config")


def test_each_kind_of_customer_reads_back_as_written(pes: Pes) -> None:
    one, _ = pes
    for options in KINDS:
        wanted = with_customer(
            declaration(1, "red"), replace(Neighbor(*CUSTOMER), **options), Neighbor("10.9.0.1", 7)
        )
        assert one.push(wanted) == [], options
        assert one.plan(wanted) == [], options
    assert one.push(declaration(1, "red")) == []
    assert one.plan(declaration(1, "red")) == []
    assert "neighbor 10.1.0.10" not in one.frr.show(BGPD, "show running-config")


def with_vpn(state: Desired, **options: Any) -> Desired:
    red = state.vrfs["red"]
    assert red.bgp is not None
    changed = replace(red, bgp=replace(red.bgp, **options))
    return replace(state, vrfs={**state.vrfs, "red": changed})


def test_what_a_vrf_and_the_speaker_say_reads_back_as_written(pes: Pes) -> None:
    one, _ = pes
    state = declaration(1, "red")
    assert state.bgp is not None
    wanted = [
        *(
            with_vpn(state, **options)
            for options in (
                {"ipv6": VpnFamily("65000:6", ("65000:61", "65000:62"), ("65000:61",))},
                {"ipv4": VpnFamily("65000:4"), "ipv6": VpnFamily(None, ("1:1",))},
                {"maximum_paths_ebgp": 1, "maximum_paths_ibgp": 2},
                {"maximum_paths_ebgp": 64},
                {"maximum_paths_ibgp": 64},
            )
        ),
        *(
            replace(state, bgp=replace(state.bgp, graceful_restart=restart))
            for restart in (
                GracefulRestart(),
                GracefulRestart(1, 4095, 16777215),
                GracefulRestart(4095, 1, 1),
            )
        ),
        state,
    ]
    for one_of in wanted:
        assert one.push(one_of) == [], one_of
        assert one.plan(one_of) == [], one_of


@pytest.fixture
def customer() -> Iterator[Pe]:
    """A customer's router with FRR, on the node of VRF red's customer at PE 1."""
    node = nodes.Node("ce-red1")
    edge = Pe(1, node, FrrSockets(node.path("/run/frr")))
    edge.start("mgmtd", "zebra", "bgpd")
    nodes.wait_until(lambda: edge.frr.observe() is not None, "FRR of the customer")
    yield edge
    edge.stop("mgmtd", "zebra", "bgpd")


def test_routes_of_a_customer_reach_the_other_edge(pes: Pes, customer: Pe) -> None:
    push(pes, "red")
    one, two = pes
    wanted = with_customer(declaration(1, "red"), Neighbor(*CUSTOMER, password="Ab/c:1"))
    assert one.push(wanted) == []
    customer.operator(
        BGPD, "configure terminal", "router bgp 65100", "bgp router-id 192.0.2.1",
        "no bgp ebgp-requires-policy", "no bgp network import-check",
        "neighbor 10.1.0.1 remote-as 65000", "neighbor 10.1.0.1 password Ab/c:1",
        "address-family ipv4 unicast", "network 192.0.2.0/24",
    )  # fmt: skip
    arrive(two, "-4", 10, "192.0.2.0/24", "fcbb:0:1:64::")
    # The customer's neighbor goes, and with it what came from there.
    assert one.push(declaration(1, "red")) == []
    leave(two, "-4", 10, "192.0.2.0/24")


@pytest.mark.parametrize("profile", ["traditional", "datacenter"])
def test_ipv6_routes_of_a_customer_reach_the_other_edge(pes: Pes, customer: Pe) -> None:
    """bgpd resolves what it exports of them by our own SID, looked up in the VRF, where a default
    route does under one profile and not under the other. What it holds invalid is reported."""
    push(pes, "red")
    one, two = pes
    wanted = with_customer(declaration(1, "red"), Neighbor("fd00:1::10", 65100))
    assert one.push(wanted) == []
    customer.operator(
        BGPD, "configure terminal", "router bgp 65100", "bgp router-id 192.0.2.1",
        "no bgp ebgp-requires-policy", "no bgp network import-check",
        "neighbor fd00:1::1 remote-as 65000",
        "address-family ipv6 unicast", "neighbor fd00:1::1 activate", "network 2001:db8:c::/48",
    )  # fmt: skip
    arrive(two, "-6", 10, "2001:db8:c::/48", "fcbb:0:1:64::")
    advertised(one, wanted)
    if one.profile == "traditional":
        return
    one.ip("-6", "route", "del", "unreachable", "fcbb:0:1:64::/64", "table", "10")
    nodes.wait_until(
        lambda: "1 VPN route of VRF red" in vrf_status(wanted, one.frr)["red"][1], "words"
    )
    leave(two, "-6", 10, "2001:db8:c::/48")
    one.hide_sids(wanted)
    advertised(one, wanted)
    arrive(two, "-6", 10, "2001:db8:c::/48", "fcbb:0:1:64::")


# How PE 1 finds the customer, what that says, and what of it the other edge gets.
SESSIONS: dict[str, tuple[Neighbor, Sequence[str]]] = {
    "IPv4 over IPv6": (
        Neighbor("fd00:1::10", 65100, families=(4,)),
        (
            "neighbor fd00:1::1 remote-as 65000", "neighbor fd00:1::1 capability extended-nexthop",
            "address-family ipv4 unicast", "neighbor fd00:1::1 activate",
        ),
    ),
    "unnumbered": (
        Neighbor("to-ce-red", 65100, kind=PeerKind.UNNUMBERED),
        (
            "neighbor eth0 interface remote-as 65000",
            "address-family ipv6 unicast", "neighbor eth0 activate", "network 2001:db8:c::/48",
            "exit-address-family", "address-family ipv4 unicast",
        ),
    ),
    "dynamic": (
        Neighbor("g", 65100, kind=PeerKind.DYNAMIC, prefixes=("10.1.0.0/24",), password="x"),
        ("neighbor 10.1.0.1 remote-as 65000", "neighbor 10.1.0.1 password x",
         "address-family ipv4 unicast"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SESSIONS)
def test_each_kind_of_session_carries_routes(pes: Pes, customer: Pe, kind: str) -> None:
    push(pes, "red")
    one, two = pes
    neighbor, said = SESSIONS[kind]
    assert one.push(with_customer(declaration(1, "red"), neighbor)) == []
    customer.operator(
        BGPD, "configure terminal", "router bgp 65100", "bgp router-id 192.0.2.1",
        "no bgp ebgp-requires-policy", "no bgp network import-check", *said,
        "network 192.0.2.0/24",
    )  # fmt: skip
    arrive(two, "-4", 10, "192.0.2.0/24", "fcbb:0:1:64::")
    if kind == "unnumbered":
        arrive(two, "-6", 10, "2001:db8:c::/48", "fcbb:0:1:64::")
    # Without it the session ends, and what came over it goes.
    assert one.push(declaration(1, "red")) == []
    leave(two, "-4", 10, "192.0.2.0/24")
