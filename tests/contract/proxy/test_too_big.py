"""Packets too big for a link: towards the function, and with the chain on again. Who sent them is
notified, and so sends smaller ones."""

from __future__ import annotations

import subprocess

import pytest

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.network import FIRST, LAST, SINK, Network, declared
from tests.contract.proxy.packets import DROP, FRAME, REDIRECT, inner6, routed

pytestmark = pytest.mark.contract

MULTICAST = ("multicast",)
LINK = 1400
# What links have of their own.
ETHERNET = 1500
# IPv6 header, SRH of two segments.
CHAIN = 40 + 8 + 2 * 16
# Header of an echo request, by what it is in.
HEADERS = {"ipv4": 20 + 8, "ipv6": 40 + 8}
REPORTED = {"ipv4": f"Frag needed and DF set (mtu = {LINK})", "ipv6": f"Packet too big: mtu={LINK}"}


def ping(network: Network, inner: str, octets: int, *, fragments: str = "do") -> str:
    """What ping says of one echo request that long, IP header included."""
    payload = octets - HEADERS[inner]
    command = f"ping -{inner[-1]} -n -c 1 -W 1 -M {fragments} -s {payload} {SINK[inner]}"
    done = subprocess.run(
        f"ip netns exec {network.name('source')} {command}",
        shell=True, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS])
@pytest.mark.parametrize("inner", ["ipv4", "ipv6"])
def test_the_inner_sender_learns_the_mtu_of_the_functions_link(
    network: Network, behavior: Behavior, inner: str
) -> None:
    network.steer(inner, (FIRST, LAST[inner]))
    network.declare(declared(behavior, inner, passes=MULTICAST, mtu=LINK))

    assert "1 received" in ping(network, inner, LINK)
    assert REPORTED[inner] in ping(network, inner, LINK + 1)

    assert network.counts().errors == 0


def test_ipv4_that_may_be_cut_arrives_in_fragments(network: Network) -> None:
    network.steer("ipv4", (FIRST, LAST["ipv4"]))
    network.declare(declared(Behavior.END_AD, "ipv4", passes=MULTICAST, mtu=LINK))

    assert "1 received" in ping(network, "ipv4", LINK + 100, fragments="dont")

    assert (network.counts().to_packets, network.counts().from_packets) == (1, 2)


@pytest.mark.parametrize("inner", ["ipv4", "ipv6"])
def test_the_outer_sender_learns_the_mtu_of_the_way_on(network: Network, inner: str) -> None:
    """Frames have room for a VLAN tag; the packets in them don't."""
    network.steer(inner, (FIRST, LAST[inner]))
    network.declare(declared(Behavior.END_AD, inner, passes=MULTICAST))
    network.run(f"ip link set to-sink mtu {LINK}")
    before = reported(network)

    assert "1 received" in ping(network, inner, LINK - CHAIN)
    assert reported(network) == before
    ping(network, inner, LINK - CHAIN + 1)

    assert reported(network) == before + 1


@pytest.mark.parametrize("behavior", [Behavior.END_AM, Behavior.END_AD, Behavior.END_AS])
def test_what_nobody_can_be_reported_of_is_counted(node: Node, behavior: Behavior) -> None:
    """With its list a masqueraded packet fills the function's link; a frame may have a VLAN tag."""
    inner = "ipv6" if behavior is Behavior.END_AM else "ethernet"
    room = ETHERNET + 4 if inner == "ethernet" else ETHERNET - CHAIN - 16
    node.declare(proxy(behavior, inner))

    def sent(length: int) -> int:
        inside = inner6() if inner == "ipv6" else FRAME / inner6()
        return node.toward(routed(inside / bytes(length - len(inside))))[0]

    header = 14 if inner == "ethernet" else 0
    assert sent(room + header) == REDIRECT
    assert (node.counts().to_packets, node.counts().errors) == (1, 0)
    assert sent(room + header + 1) == DROP

    assert (node.counts().to_packets, node.counts().too_big, node.counts().errors) == (1, 1, 1)


def reported(network: Network) -> int:
    """How often the source was notified of packets too big."""
    return int(network.on("source", "nstat -asz Icmp6InPktTooBigs").split()[-2])
