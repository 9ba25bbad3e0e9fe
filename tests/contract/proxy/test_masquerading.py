"""End.AM: the function sees the last segment as the destination, the list stays on the packet."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from srv6mgrd.kinds.proxy.object import ProxyEntry
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.plan.actions import Delete, Replace
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.packets import (
    DROP,
    FRAME,
    LAST,
    NEXT,
    NEXT_FILTER,
    REDIRECT,
    SID,
    STACK,
    inner6,
    left_of,
    routed,
)

pytestmark = pytest.mark.contract


def test_there_and_back(node: Node) -> None:
    node.declare(proxy(Behavior.END_AM))

    answer, masked = node.toward(routed(inner6(), hop_limit=64))
    assert answer == REDIRECT
    assert left_of(Ether(masked)) == (LAST, 1)
    assert Ether(masked)[IPv6].hlim == 63
    answer, frame = node.back(masked)

    assert answer == STACK
    assert left_of(Ether(frame)) == (NEXT, 1)
    counts = node.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (1, 1, 0)


def test_before_the_last_segment_nothing_is_masked(node: Node) -> None:
    node.declare(proxy(Behavior.END_AM))

    _, masked = node.toward(routed(inner6(), (SID, LAST)))
    _, frame = node.back(masked)

    assert left_of(Ether(masked)) == left_of(Ether(frame)) == (LAST, 0)


def test_several_share_an_interface(node: Node) -> None:
    second = IPv6Network("fcbb:0:1:ae::/64")
    node.declare(proxy(Behavior.END_AM), proxy(Behavior.END_AM, prefix=second))

    _, masked = node.toward(routed(inner6(), (str(second[1]), NEXT, LAST)))
    _, frame = node.back(masked)

    assert left_of(Ether(frame)) == (NEXT, 1)
    assert (node.counts(second).from_packets, node.counts().from_packets) == (1, 0)


@pytest.mark.parametrize(
    "packet",
    [
        FRAME / inner6(),
        routed(inner6(), (NEXT, LAST)),
        routed(inner6(), (NEXT, SID), at=1),
        routed(inner6(), (SID, NEXT)),
    ],
    ids=["no list", "not by this proxy", "list at its end", "not yet by this proxy"],
)
def test_the_functions_own_traffic_goes_on_untouched(node: Node, packet: Ether) -> None:
    node.declare(proxy(Behavior.END_AM))

    assert node.back(packet) == (NEXT_FILTER, bytes(packet))


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (FRAME / IPv6(dst=SID) / inner6(), "no_srh"),
        (routed(inner6(), (NEXT, SID), at=1), "no_segments_left"),
        (routed(inner6(), hop_limit=1), "hop_limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_drops_by_reason(node: Node, packet: Ether, reason: str) -> None:
    node.declare(proxy(Behavior.END_AM))

    assert node.toward(packet)[0] == DROP
    assert getattr(node.counts(), reason) == node.counts().errors == 1


def test_a_packet_that_ran_out_of_hops_behind_it_is_dropped(node: Node) -> None:
    node.declare(proxy(Behavior.END_AM))
    _, masked = node.toward(routed(inner6(), hop_limit=2))

    assert node.back(masked)[0] == DROP
    assert node.counts().hop_limit == 1


def test_others_of_each_kind_come_and_go(node: Node) -> None:
    # The programs look a packet up only for what some proxy of the node does.
    masked = proxy(Behavior.END_AM)
    plain = proxy(Behavior.END_AS, prefix=IPv6Network("fcbb:0:1:a5::/64"))
    again = proxy(Behavior.END_AM, prefix=plain.prefix)
    _, returning = _masked(node, masked)
    frame = FRAME / inner6()

    node.declare(plain)
    assert node.back(frame)[0] == STACK
    assert node.back(returning)[0] == STACK
    assert node.kernel.apply([Delete(masked)]) == []
    assert node.back(frame)[0] == STACK
    assert node.kernel.apply([Replace(plain, again)]) == []
    assert node.back(frame)[0] == NEXT_FILTER
    node.declare(masked)
    assert node.kernel.apply([Delete(again)]) == []
    assert node.back(returning)[0] == STACK


def _masked(node: Node, entry: ProxyEntry) -> tuple[int, bytes]:
    node.declare(entry)
    return node.toward(routed(inner6()))
