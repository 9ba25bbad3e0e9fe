"""End.AS: a declared chain, also for packets that come without one."""

from __future__ import annotations

import pytest
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Ether

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.packets import (
    DROP,
    FRAME,
    NEXT,
    REDIRECT,
    SID,
    SOURCE,
    inner4,
    inner6,
    left_of,
    routed,
)

pytestmark = pytest.mark.contract

INSIDE = {
    "ipv6": (inner6(hop_limit=9), inner6(hop_limit=8)),
    "ipv4": (inner4(ttl=9), inner4(ttl=8)),
    "ethernet": (Ether(src="02::11") / inner6(), Ether(src="02::11") / inner6()),
}


@pytest.mark.parametrize("inner", INSIDE)
def test_restores_what_is_declared(node: Node, inner: str) -> None:
    node.declare(proxy(Behavior.END_AS, inner))
    inside = INSIDE[inner][1]

    _, frame = node.back(inside if inner == "ethernet" else FRAME / inside)

    packet = Ether(frame)
    assert packet[IPv6].src == "2001:db8:5::5"
    assert packet[IPv6].hlim in (64, 65)
    assert left_of(packet) == ("fcbb:0:7::", 1)
    assert packet[IPv6ExtHdrSegmentRouting].addresses == ["fcbb:0:8::", "fcbb:0:7::"]
    assert packet[IPv6ExtHdrSegmentRouting].nh == {"ipv6": 41, "ipv4": 4, "ethernet": 143}[inner]
    assert packet[IPv6].plen == len(frame) - 14 - 40
    assert frame.endswith(bytes(inside))


@pytest.mark.parametrize("inner", INSIDE)
@pytest.mark.parametrize("header", ["a list", "the last segment", "no list"])
def test_takes_packets_with_and_without_a_list(node: Node, inner: str, header: str) -> None:
    node.declare(proxy(Behavior.END_AS, inner))
    inside, after = INSIDE[inner]
    number = {"ipv6": 41, "ipv4": 4, "ethernet": 143}[inner]
    packet = {
        "a list": routed(inside),
        "the last segment": routed(inside, (NEXT, SID), at=1),
        "no list": FRAME / IPv6(src=SOURCE, dst=SID, nh=number) / inside,
    }[header]

    answer, frame = node.toward(packet)

    assert answer == REDIRECT
    assert (frame if inner == "ethernet" else frame[14:]) == bytes(after)
    assert node.counts().to_packets == 1


def test_learns_nothing(node: Node) -> None:
    node.declare(proxy(Behavior.END_AS))
    before = node.chain()

    node.toward(routed(inner6()))

    assert node.chain() == before


@pytest.mark.parametrize("number", [4, 143, 17, 0, 44, 58])
def test_drops_what_it_has_no_function_for(node: Node, number: int) -> None:
    node.declare(proxy(Behavior.END_AS, "ipv6"))

    assert node.toward(FRAME / IPv6(dst=SID, nh=number) / inner6())[0] == DROP

    assert node.counts().not_for_proxy == node.counts().errors == 1
