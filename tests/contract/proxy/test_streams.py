"""TCP through functions with all that interfaces offload: super-packets (GSO), checksums."""

from __future__ import annotations

import pytest

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.network import FIRST, HOME, LAST, MASKED, MTU, Network, declared, masked

pytestmark = pytest.mark.contract

OCTETS = 8 << 20
# Segments sent again, of all: some always are on a machine that is busy. A function that gets no
# super-packets, or sends none back, brings the transfer to a standstill.
FEW = OCTETS // MTU // 10


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

    assert network.transfer(inner, OCTETS) <= FEW

    counts = network.counts()
    assert counts.to_packets == counts.from_packets
    assert counts.errors == 0
    # Super-packets went through as such.
    assert counts.to_packets < OCTETS / MTU


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_both_ways_through_one_function(network: Network, inner: str) -> None:
    """Two chains, one for each way, which only per-flow can tell apart."""
    network.steer(inner, (FIRST, LAST[inner]))
    network.steer_back(inner, (FIRST, HOME[inner]))
    network.declare(declared(Behavior.END_AD, inner, passes=("multicast",), per_flow=True))

    assert network.transfer(inner, OCTETS) <= FEW

    counts = network.counts()
    assert counts.to_packets == counts.from_packets
    assert counts.errors == 0
    assert counts.to_packets < 2 * OCTETS / MTU


@pytest.mark.parametrize("order", [(MASKED, FIRST), (FIRST, MASKED)], ids=["AM, AD", "AD, AM"])
def test_two_proxies_of_one_node_in_one_chain(network: Network, order: tuple[str, str]) -> None:
    network.steer("ipv6", (*order, LAST["ipv6"]))
    network.declare(masked(declared(Behavior.END_AD, "ipv6", passes=("multicast",))))

    assert network.transfer("ipv6", OCTETS) <= FEW

    assert network.counts().to_packets == network.counts().from_packets > 0
    assert network.counts().errors == 0


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_the_nodes_own_stream_into_its_own_proxy(network: Network, inner: str) -> None:
    network.run("sysctl -qw net.ipv4.conf.srv6mgr.rp_filter=2")
    network.declare(declared(Behavior.END_AD, inner, passes=("multicast",)))
    network.steer_own(inner, (FIRST, LAST[inner]))

    assert network.transfer(inner, OCTETS, local=True) <= FEW

    assert network.counts().to_packets == network.counts().from_packets > 0
    assert network.counts().errors == 0
