"""Neighbors: each line reads back as written, a customer's session carries routes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lab.guest import nodes
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.model.desired import Desired, Neighbor
from tests.contract.frr.conftest import Pe, declaration
from tests.contract.frr.test_vpn import Pes, arrive, leave, push

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
