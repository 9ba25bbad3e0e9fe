"""TCP through functions with all that interfaces offload: super-packets (GSO), checksums."""

from __future__ import annotations

import pytest

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.network import (
    FIRST,
    HOME,
    LAST,
    MASKED,
    MTU,
    Network,
    Transfer,
    declared,
    masked,
)

pytestmark = pytest.mark.contract

OCTETS = 8 << 20


def passed_whole(network: Network, transfer: Transfer) -> int:
    """Nothing was lost, spoiled or put out of order by the node; how many packets went to the
    function. TCP's retransmissions say nothing: its timers run out on a machine that stalls."""
    counts = network.counts()
    assert counts.to_packets == counts.from_packets > 0
    assert counts.errors == 0
    assert transfer.dropped == 0, transfer
    # What was sent again may overtake what was not.
    assert not transfer.out_of_order or transfer.sent_again, transfer
    return counts.to_packets


@pytest.mark.parametrize(
    ("behavior", "inner"),
    [
        (Behavior.END_AD, "ipv6"),
        (Behavior.END_AD, "ipv4"),
        (Behavior.END_AS, "ipv6"),
        (Behavior.END_AS, "ipv4"),
        (Behavior.END_AM, "ipv6"),
    ],
)
def test_data_one_way_and_acknowledgements(
    network: Network, behavior: Behavior, inner: str
) -> None:
    network.steer(inner, (FIRST, LAST[inner]))
    network.declare(declared(behavior, inner, passes=("multicast",)))

    # Super-packets went through as such.
    assert passed_whole(network, network.transfer(inner, OCTETS)) < OCTETS / MTU


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_both_ways_through_one_function(network: Network, inner: str) -> None:
    """Two chains, one for each way, which only per-flow can distinguish."""
    network.steer(inner, (FIRST, LAST[inner]))
    network.steer_back(inner, (FIRST, HOME[inner]))
    network.declare(declared(Behavior.END_AD, inner, passes=("multicast",), per_flow=True))

    assert passed_whole(network, network.transfer(inner, OCTETS)) < 2 * OCTETS / MTU


@pytest.mark.parametrize("order", [(MASKED, FIRST), (FIRST, MASKED)], ids=["AM, AD", "AD, AM"])
def test_two_proxies_of_one_node_in_one_chain(network: Network, order: tuple[str, str]) -> None:
    network.steer("ipv6", (*order, LAST["ipv6"]))
    network.declare(masked(declared(Behavior.END_AD, "ipv6", passes=("multicast",))))

    passed_whole(network, network.transfer("ipv6", OCTETS))


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_the_nodes_own_stream_into_its_own_proxy(network: Network, inner: str) -> None:
    network.run("sysctl -qw net.ipv4.conf.srv6mgr.rp_filter=2")
    network.declare(declared(Behavior.END_AD, inner, passes=("multicast",)))
    network.steer_own(inner, (FIRST, LAST[inner]))

    passed_whole(network, network.transfer(inner, OCTETS, local=True))
