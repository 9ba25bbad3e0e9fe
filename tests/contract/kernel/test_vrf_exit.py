"""What a VRF encapsulates leaves it: by the table that a route names, or by rules."""

from __future__ import annotations

import socket
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.kernel.probe import probe
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.model.capabilities import ROUTE_LOOKUP_TABLE
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Replace
from tests.contract.kernel.conftest import Run
from tests.contract.kernel.test_forwarding import (
    ETH_IPV6,
    INNER4,
    PACKET6,
    PACKETS,
    PREFIXES,
    SEGMENTS,
    SID,
    SOURCE,
    Router,
    destination,
    onward,
    router,
    sid,
)

__all__ = ["onward", "router"]

pytestmark = pytest.mark.contract


@pytest.fixture
def in_vrf(vrf: None, router: Router, onward: None, run: Run) -> None:
    """What comes in on in0 is of a VRF on table 100, which leads nowhere."""
    run(
        "ip link add red type vrf table 100; ip link set red up; ip link set in0 master red;"
        "echo 0 > /proc/sys/net/ipv4/conf/red/rp_filter"
    )
    router.put(UnreachableDefault(4, 100), UnreachableDefault(6, 100))


def put_or_skip(router: Router, route: EncapRoute) -> None:
    router.put(route)
    if router.kernel.observe([]).objects[route.key].object != route:
        pytest.skip("the kernel ignores SEG6_IPTUNNEL_TABLE")


# H.Insert is for the main table alone (model/checks).
IN_VRFS = [each for each in Headend if each is not Headend.H_INSERT]


def leaves(router: Router, packet: bytes, kind: int) -> bool:
    """Whether all of five packets come out."""
    try:
        found = [router.forward(packet, kind)[1] for _ in range(5)]
    except AssertionError:
        return False
    return {destination(out) for out in found} == {SEGMENTS[0]}


@pytest.mark.usefixtures("in_vrf")
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("behavior", IN_VRFS)
def test_by_table(router: Router, version: int, behavior: Headend) -> None:
    packet, kind, _ = PACKETS[version]
    route = EncapRoute(PREFIXES[version], 100, behavior, SEGMENTS)
    put_or_skip(router, replace(route, lookup_table=254))
    assert leaves(router, packet, kind)
    # Without it they meet the VRF's own table.
    other = replace(route, lookup_table=None)
    assert router.kernel.apply([Replace(replace(route, lookup_table=254), other)]) == []
    assert router.kernel.observe([]).objects[route.key].object == other
    assert not leaves(router, packet, kind)


@pytest.mark.usefixtures("in_vrf")
def test_the_probe_finds_tables(router: Router) -> None:
    put_or_skip(router, EncapRoute(PREFIXES[6], 100, Headend.H_ENCAPS, SEGMENTS, lookup_table=254))
    assert ROUTE_LOOKUP_TABLE in probe().facilities


@pytest.mark.usefixtures("in_vrf")
@pytest.mark.parametrize("version", [4, 6])
def test_by_rule(router: Router, version: int) -> None:
    """As kernels do that have no such table."""
    packet, kind, _ = PACKETS[version]
    router.put(EncapRoute(PREFIXES[version], 100, Headend.H_ENCAPS, SEGMENTS))
    assert not leaves(router, packet, kind)
    router.put(Rule(990, IPv6Network(SEGMENTS[0]), 254, IPv6Address(SOURCE)))
    assert leaves(router, packet, kind)


@pytest.mark.usefixtures("in_vrf")
def test_to_a_sid_of_this_router(router: Router) -> None:
    """The SID looks up the next segment in the VRF again: that takes rules, not a table."""
    route = EncapRoute(PREFIXES[6], 100, Headend.H_ENCAPS, (SID, SEGMENTS[0]))
    put_or_skip(router, by_table := replace(route, lookup_table=SID_TABLE))
    router.put(sid(Behavior.END))
    assert not leaves(router, PACKET6, ETH_IPV6)
    assert router.counted()[0] == 1

    router.put(
        Rule(989, IPv6Network(SID), SID_TABLE, IPv6Address(SOURCE)),
        Rule(990, IPv6Network(SEGMENTS[0]), 254, IPv6Address(SOURCE)),
    )
    assert router.kernel.apply([Replace(by_table, route)]) == []
    assert leaves(router, PACKET6, ETH_IPV6)
    assert router.counted()[0] == 1 + 5


@pytest.mark.usefixtures("in_vrf")
def test_a_socket_sends_by_table(router: Router) -> None:
    route = EncapRoute(PREFIXES[4], 100, Headend.H_ENCAPS, SEGMENTS, lookup_table=254)
    put_or_skip(router, route)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"red")
        sender.bind(("192.0.2.1", 0))
        sender.sendto(b"of the router", (INNER4[1], 9))
    out = router.seen(lambda frame: b"of the router" in frame)
    assert destination(out[14:]) == SEGMENTS[0]
