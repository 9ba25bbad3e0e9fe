"""End.AD with per-flow: several chains through one function, distinguished by what is inside."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from srv6mgrd.plan.actions import Create, Delete, Replace
from tests.contract.proxy.conftest import PREFIX, Node, proxy
from tests.contract.proxy.packets import (
    DROP,
    FRAME,
    LAST,
    NEXT,
    NEXT_FILTER,
    REDIRECT,
    SID,
    SOURCE,
    left_of,
    routed,
)

pytestmark = pytest.mark.contract

OTHER = "fcbb:0:9::"
SIX = {"src": "2001:db8:1::1", "dst": "2001:db8:2::2"}
FOUR = {"src": "10.1.0.10", "dst": "10.2.0.10"}
WIRE = {"src": "02:00:00:00:00:11", "dst": "02:00:00:00:00:22"}
OPTION = {"options": [b"\x94\x04\0\0"]}
# Two flows of each kind, one field apart.
PAIRS: dict[str, tuple[str, Packet, Packet]] = {
    "ipv6 addresses": (
        "ipv6",
        IPv6(**SIX) / ICMPv6EchoRequest(),
        IPv6(**SIX | {"dst": "2001:db8:2::3"}) / ICMPv6EchoRequest(),
    ),
    "ipv6 protocol": ("ipv6", IPv6(**SIX) / TCP(sport=7), IPv6(**SIX) / UDP(sport=7, dport=80)),
    "ipv6 ports": ("ipv6", IPv6(**SIX) / TCP(dport=8), IPv6(**SIX) / TCP(dport=9)),
    "ipv4 addresses": ("ipv4", IP(**FOUR) / ICMP(), IP(**FOUR | {"src": "10.1.0.9"}) / ICMP()),
    "ipv4 ports": ("ipv4", IP(**FOUR) / UDP(sport=7), IP(**FOUR) / UDP(sport=8)),
    "ipv4 options": (
        "ipv4",
        IP(**FOUR, **OPTION) / TCP(sport=7),
        IP(**FOUR, **OPTION) / TCP(sport=8),
    ),
    "frames": (
        "ethernet",
        Ether(**WIRE) / ARP(),
        Ether(**WIRE | {"dst": "02:00:00:00:00:33"}) / ARP(),
    ),
}


def back_on(node: Node, inside: Packet) -> tuple[str, int]:
    """Where the packet goes that comes back from the function."""
    answer, frame = node.back(inside if isinstance(inside, Ether) else FRAME / inside)
    assert answer != DROP, node.counts()
    assert frame.endswith(bytes(inside))
    return left_of(Ether(frame))


@pytest.mark.parametrize(("inner", "one", "two"), PAIRS.values(), ids=PAIRS)
def test_each_flow_goes_on_with_its_own_chain(
    node: Node, inner: str, one: Packet, two: Packet
) -> None:
    node.declare(proxy(inner=inner, per_flow=True))

    assert node.toward(routed(one))[0] == REDIRECT
    assert node.toward(routed(two, (SID, OTHER)))[0] == REDIRECT

    for _ in range(2):
        assert back_on(node, one) == (NEXT, 1)
        assert back_on(node, two) == (OTHER, 0)
    assert node.counts().errors == 0


@pytest.mark.parametrize(
    ("inner", "first", "second"),
    [
        ("ipv6", {"m": 1, "offset": 0}, {"m": 0, "offset": 4}),
        ("ipv4", {"flags": "MF", "frag": 0}, {"flags": 0, "frag": 4}),
    ],
)
def test_fragments_are_one_flow(
    node: Node, inner: str, first: dict[str, object], second: dict[str, object]
) -> None:
    node.declare(proxy(inner=inner, per_flow=True))
    if inner == "ipv6":
        start = IPv6(**SIX) / IPv6ExtHdrFragment(nh=17, **first) / UDP(sport=7) / Raw(bytes(24))
        rest = IPv6(**SIX) / IPv6ExtHdrFragment(nh=17, **second) / Raw(bytes(24))
    else:
        start = IP(**FOUR, **first) / UDP(sport=7) / Raw(bytes(24))
        rest = IP(**FOUR, **second, proto=17) / Raw(bytes(24))
    node.toward(routed(start))

    assert back_on(node, start) == back_on(node, rest) == (NEXT, 1)


def test_a_flow_changes_its_chain(node: Node) -> None:
    node.declare(proxy(per_flow=True))
    packet = IPv6(**SIX) / TCP(sport=7)
    node.toward(routed(packet))
    node.toward(routed(packet, (SID, OTHER)))

    assert back_on(node, packet) == (OTHER, 0)

    node.toward(routed(packet))
    assert back_on(node, packet) == (NEXT, 1)


def test_a_flow_keeps_a_chain_that_is_not_old_enough(node: Node) -> None:
    node.declare(proxy(per_flow=True, age=3600))
    old, new = IPv6(**SIX) / TCP(sport=7), IPv6(**SIX) / TCP(sport=8)
    node.toward(routed(old))
    for packet in (old, new):
        node.toward(routed(packet, (SID, OTHER)))

    assert back_on(node, old) == (NEXT, 1)
    assert back_on(node, new) == (OTHER, 0)


@pytest.mark.parametrize(
    "packet",
    [
        IPv6(**SIX) / TCP(sport=9),
        IPv6(src=SIX["dst"], dst=SIX["src"]) / TCP(sport=80, dport=7),
        IPv6(**SIX | {"src": "2001:db8:9::9"}) / TCP(sport=7, dport=80),
    ],
    ids=["another", "an answer of the function itself", "its address translated"],
)
def test_what_no_chain_is_known_for_is_dropped(node: Node, packet: Packet) -> None:
    node.declare(proxy(per_flow=True))
    node.toward(routed(IPv6(**SIX) / TCP(sport=7, dport=80)))

    assert node.back(FRAME / packet)[0] == DROP
    assert node.counts().nothing_learned == node.counts().errors == 1


def test_a_packet_without_its_flow_in_it_is_dropped(node: Node) -> None:
    node.declare(proxy(per_flow=True))
    short = IPv6(**SIX, nh=6) / Raw(b"\0\7\0")

    assert node.toward(routed(short))[0] == DROP
    assert node.counts().not_for_proxy == node.counts().errors == 1
    assert node.back(FRAME / short)[0] == DROP


def test_neighbour_discovery_and_what_passes_need_no_flow(node: Node) -> None:
    node.declare(proxy(per_flow=True, passes=("2001:db8:9::/64",)))
    packet = FRAME / IPv6(src="2001:db8:9::2", dst="2001:db8:9::1") / ICMPv6EchoRequest()

    assert node.back(packet)[0] == NEXT_FILTER


def test_its_chains_are_reported(node: Node) -> None:
    node.declare(proxy(per_flow=True))
    for port in range(20):
        segments = (SID, NEXT, LAST) if port % 2 else (SID, OTHER)
        node.toward(routed(IPv6(**SIX) / TCP(sport=port), segments))

    state = node.proxies.states()[PREFIX]

    assert (state.source, state.segments) == (None, ())
    assert len({chain.digest for chain in state.flow_chains}) == 2
    assert {(chain.source, chain.segments) for chain in state.flow_chains} == {
        (IPv6Address(SOURCE), (IPv6Address(NEXT), IPv6Address(LAST))),
        (IPv6Address(SOURCE), (IPv6Address(OTHER),)),
    }
    assert all(chain.learned for chain in state.flow_chains)


def test_a_new_manager_goes_on_with_them(node: Node) -> None:
    wanted = proxy(per_flow=True)
    node.declare(wanted)
    packet = IPv6(**SIX) / TCP(sport=7)
    node.toward(routed(packet))
    node.programs.close()

    assert node.kernel.observe([]).objects[wanted.key].object == wanted
    assert back_on(node, packet) == (NEXT, 1)


def test_more_flows_than_there_is_room_for(node: Node) -> None:
    """The oldest make room; a chain that is in use is not what goes."""
    node.declare(proxy(per_flow=True))
    kept = IPv6(**SIX) / TCP(sport=7)
    for number in range(5000):
        node.toward(routed(kept))
        last = f"fcbb:0:8::{number:x}"
        node.toward(routed(IPv6(**SIX) / UDP(sport=number), (SID, last)))

    assert back_on(node, kept) == (NEXT, 1)
    assert back_on(node, IPv6(**SIX) / UDP(sport=4999)) == ("fcbb:0:8::1387", 0)
    assert len(node.proxies.states()[PREFIX].flow_chains) <= 4096


def test_nothing_is_left_for_the_next_one(node: Node) -> None:
    wanted, plain = proxy(per_flow=True), proxy()
    packet = IPv6(**SIX) / TCP(sport=7)
    for gone in (
        [Delete(wanted), Create(wanted)],
        [Replace(wanted, plain), Replace(plain, wanted)],
    ):
        node.kernel.apply([Delete(wanted)])
        node.declare(wanted)
        node.toward(routed(packet))
        assert back_on(node, packet) == (NEXT, 1)

        assert node.kernel.apply(gone) == []

        assert node.back(FRAME / packet)[0] == DROP
        assert node.proxies.states()[PREFIX].flow_chains == ()


def test_one_chain_again_when_it_is_no_longer_per_flow(node: Node) -> None:
    wanted = proxy(per_flow=True)
    node.declare(wanted)
    node.toward(routed(IPv6(**SIX) / TCP(sport=7)))
    assert node.kernel.apply([Replace(wanted, proxy())]) == []
    node.toward(routed(IPv6(**SIX) / TCP(sport=8), (SID, OTHER)))

    assert back_on(node, IPv6(**SIX) / TCP(sport=7)) == (OTHER, 0)
