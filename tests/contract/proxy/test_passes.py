"""What the function says to the node itself goes to the node, not into the chain."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RS, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.packets import FRAME, NEXT_FILTER, STACK

pytestmark = pytest.mark.contract

OTHER = IPv6Network("fcbb:0:1:ae::/64")


def echo6(to: str) -> Packet:
    return FRAME / IPv6(src="2001:db8:9::2", dst=to) / ICMPv6EchoRequest()


def echo4(to: str) -> Packet:
    return FRAME / IP(src="10.9.0.2", dst=to) / ICMP()


@pytest.mark.parametrize(
    "packet",
    [
        FRAME / ARP(pdst="10.9.0.1"),
        FRAME / IPv6(dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt="2001:db8:9::1"),
        FRAME / IPv6(dst="2001:db8:9::1", hlim=255) / ICMPv6ND_NA(tgt="2001:db8:9::2"),
        FRAME / IPv6(dst="ff02::2", hlim=255) / ICMPv6ND_RS(),
    ],
    ids=["arp", "solicitation", "advertisement", "router solicitation"],
)
def test_neighbour_discovery_passes(node: Node, packet: Packet) -> None:
    node.declare(proxy(Behavior.END_AS, "ipv6"), proxy(Behavior.END_AS, "ipv4", prefix=OTHER))

    assert node.back(packet) == (NEXT_FILTER, bytes(packet))


def test_forged_neighbour_discovery_does_not_pass(node: Node) -> None:
    node.declare(proxy(Behavior.END_AS))

    forged = FRAME / IPv6(dst="2001:db8:9::1", hlim=254) / ICMPv6ND_NS(tgt="2001:db8:9::1")

    assert node.back(forged)[0] == STACK


@pytest.mark.parametrize(
    ("passes", "inner", "packet"),
    [
        (("link-local",), "ipv6", echo6("fe80::1")),
        (("multicast",), "ipv6", echo6("ff02::5")),
        (("2001:db8:9::/64",), "ipv6", echo6("2001:db8:9::1")),
        (("2001:db8:9::1/128", "2001:db8::/32"), "ipv6", echo6("2001:db8:7::1")),
        (("link-local",), "ipv4", echo4("169.254.0.1")),
        (("multicast",), "ipv4", echo4("224.0.0.5")),
        (("multicast",), "ipv4", echo4("255.255.255.255")),
        (("10.9.0.1/32",), "ipv4", echo4("10.9.0.1")),
        (("10.9.0.0/24",), "ipv4", echo4("10.9.0.200")),
    ],
)
def test_passes_what_is_declared(
    node: Node, passes: tuple[str, ...], inner: str, packet: Ether
) -> None:
    node.declare(proxy(Behavior.END_AS, inner, passes=passes))

    assert node.back(packet) == (NEXT_FILTER, bytes(packet))


@pytest.mark.parametrize(
    ("passes", "inner", "packet"),
    [
        ((), "ipv6", echo6("fe80::1")),
        ((), "ipv6", echo6("ff02::5")),
        (("link-local", "multicast"), "ipv6", echo6("2001:db8:9::1")),
        (("2001:db8:9::/64",), "ipv6", echo6("2001:db8:a::1")),
        ((), "ipv4", echo4("224.0.0.5")),
        (("10.9.0.0/24",), "ipv4", echo4("10.9.1.1")),
    ],
)
def test_all_else_goes_into_the_chain(
    node: Node, passes: tuple[str, ...], inner: str, packet: Ether
) -> None:
    node.declare(proxy(Behavior.END_AS, inner, passes=passes))

    answer, frame = node.back(packet)

    assert answer == STACK
    assert frame.endswith(bytes(packet)[14:])
    assert len(frame) == len(packet) + 40 + 8 + 32
