"""Extension headers beside the segment list, as IOAM (RFC 9486) and Alternate Marking (RFC 9343)
put them there, and in the packet inside: looked through up to a bound."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    HBHOptUnknown,
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrSegmentRouting,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from srv6mgrd.model.behavior import Behavior
from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.network import FIRST, Network, declared
from tests.contract.proxy.network import LAST as SINK_SID
from tests.contract.proxy.packets import (
    DROP,
    FRAME,
    LAST,
    MAC,
    NEXT,
    NEXT_FILTER,
    OTHER_MAC,
    REDIRECT,
    SID,
    SOURCE,
    STACK,
    inner4,
    inner6,
    left_of,
    routed,
)

pytestmark = pytest.mark.contract

FRAME_INSIDE = Ether(dst="02:00:00:00:00:22", src="02:00:00:00:00:11")
NUMBERS = {"ipv6": 41, "ipv4": 4, "ethernet": 143}
INSIDE = {
    "ipv6": (inner6(hop_limit=9), inner6(hop_limit=8)),
    "ipv4": (inner4(ttl=9), inner4(ttl=8)),
    "ethernet": (FRAME_INSIDE / inner6(), FRAME_INSIDE / inner6()),
}
# As docs/proxies.md has it.
HEADERS, OCTETS = 8, 1024


def options(header: type[Packet] = IPv6ExtHdrDestOpt, octets: int = 8) -> Packet:
    """A header that long, of options that routers skip (RFC 4727: for experiments)."""
    room = range(octets - 2, 1, -257)
    made = header(
        options=[HBHOptUnknown(otype=0x1E, optdata=bytes(min(left, 257) - 2)) for left in room]
    )
    assert len(bytes(made)) == octets
    return made


# IOAM's incremental trace is that long in the kernel's own (ioam6_iptunnel).
IOAM = options(IPv6ExtHdrHopByHop, 264)
MARKING = options(IPv6ExtHdrDestOpt, 16)
BEFORE: dict[str, Sequence[Packet]] = {
    "hop-by-hop": [options(IPv6ExtHdrHopByHop)],
    "destination": [MARKING],
    "both, long": [IOAM, MARKING],
    "as many as are looked through": [options()] * HEADERS,
    "as long as is looked through": [options(octets=OCTETS)],
    "a fragment that is the whole packet": [IPv6ExtHdrFragment(offset=0, m=0, id=7)],
}


def extended(
    packet: Packet, before: Sequence[Packet] = (), behind: Sequence[Packet] = ()
) -> Packet:
    """The packet with more headers before the segment list, and behind it."""
    whole = packet.copy()
    outer, routing = whole[IPv6], whole[IPv6].payload
    number = bytes(outer)[6]
    for header in reversed(before):
        added = header.copy()
        added.nh = number
        number = {IPv6ExtHdrHopByHop: 0, IPv6ExtHdrDestOpt: 60, IPv6ExtHdrFragment: 44}[type(added)]
        added.add_payload(routing)
        routing = added
    outer.remove_payload()
    outer.nh = number
    outer.plen = None
    outer.add_payload(routing)
    if behind:
        routing = whole[IPv6ExtHdrSegmentRouting]
        inside, number = routing.payload, bytes(routing)[0]
        for header in reversed(behind):
            added = header.copy()
            added.nh = number
            number = {IPv6ExtHdrDestOpt: 60, IPv6ExtHdrFragment: 44}[type(added)]
            added.add_payload(inside)
            inside = added
        routing.remove_payload()
        routing.nh = number
        routing.add_payload(inside)
    return whole


@pytest.mark.parametrize("inner", INSIDE)
@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS])
@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_what_is_inside_goes_to_the_function(
    node: Node, behavior: Behavior, inner: str, before: Sequence[Packet]
) -> None:
    node.declare(proxy(behavior, inner))
    inside, after = INSIDE[inner]
    packet = extended(routed(inside), before)

    answer, frame = node.toward(packet)

    assert (answer, node.counts().errors) == (REDIRECT, 0)
    assert (frame if inner == "ethernet" else frame[14:]) == bytes(after)
    assert node.counts().to_octets == len(packet) - 14


@pytest.mark.parametrize("inner", INSIDE)
def test_the_chain_comes_back_on_without_them(node: Node, inner: str) -> None:
    """They are the packet's own, and others that the function sends are no part of it."""
    node.declare(proxy(inner=inner))
    inside = INSIDE[inner][1]
    node.toward(extended(routed(inside, hop_limit=50), [IOAM, MARKING], [MARKING]))

    _, frame = node.back(inside if inner == "ethernet" else Ether(dst=MAC, src=OTHER_MAC) / inside)

    packet = Ether(frame)
    assert (packet[IPv6].src, packet[IPv6].nh) == (SOURCE, 43)
    assert left_of(packet) == (NEXT, 1)
    assert packet[IPv6ExtHdrSegmentRouting].addresses == [LAST, NEXT, SID]
    assert packet[IPv6ExtHdrSegmentRouting].nh == NUMBERS[inner]
    assert packet[IPv6].plen == len(frame) - 14 - 40
    assert frame.endswith(bytes(inside))


def test_they_make_no_other_chain(node: Node) -> None:
    node.declare(proxy(per_flow=True))
    for data in range(20):
        trace = IPv6ExtHdrHopByHop(options=[HBHOptUnknown(otype=0x1E, optdata=bytes([data] * 4))])
        node.toward(extended(routed(inner6()), [trace]))

    (state,) = node.proxies.states().values()
    assert len(state.flow_chains) == 1


@pytest.mark.parametrize("inner", INSIDE)
def test_end_as_takes_them_without_a_list(node: Node, inner: str) -> None:
    node.declare(proxy(Behavior.END_AS, inner))
    inside, after = INSIDE[inner]
    bare = FRAME / IPv6(src=SOURCE, dst=SID, nh=NUMBERS[inner]) / inside

    answer, frame = node.toward(extended(bare, [IOAM, MARKING]))

    assert answer == REDIRECT
    assert (frame if inner == "ethernet" else frame[14:]) == bytes(after)


@pytest.mark.parametrize("before", [*BEFORE.values(), []], ids=[*BEFORE, "none"])
@pytest.mark.parametrize(
    "behind",
    [[], [MARKING], [IPv6ExtHdrFragment(offset=0, m=1)], [IPv6ExtHdrFragment(offset=9, m=0)]],
    ids=["", "options behind", "first fragment", "last fragment"],
)
def test_end_am_keeps_them(node: Node, before: Sequence[Packet], behind: Sequence[Packet]) -> None:
    node.declare(proxy(Behavior.END_AM))
    packet = extended(routed(inner6(), hop_limit=64), before, behind)

    answer, masked = node.toward(packet)

    assert answer == REDIRECT
    assert left_of(Ether(masked)) == (LAST, 1)
    assert len(masked) == len(packet)
    answer, frame = node.back(masked)
    assert answer == STACK
    assert left_of(Ether(frame)) == (NEXT, 1)
    # All behind the addresses but segments left is as it came.
    at = frame.index(bytes(packet[IPv6ExtHdrSegmentRouting])[4:])
    assert frame[54 : at - 1] == bytes(packet)[54 : at - 1]
    counts = node.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (1, 1, 0)


FRAGMENTS = {
    "first": IPv6ExtHdrFragment(offset=0, m=1, id=7),
    "last": IPv6ExtHdrFragment(offset=9, m=0, id=7),
}


@pytest.mark.parametrize("piece", FRAGMENTS.values(), ids=FRAGMENTS)
@pytest.mark.parametrize("inner", INSIDE)
@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS])
def test_fragments_of_outer_packets_are_counted_as_such(
    node: Node, behavior: Behavior, inner: str, piece: Packet
) -> None:
    node.declare(proxy(behavior, inner))
    whole = routed(INSIDE[inner][0])

    for packet in (
        extended(whole, behind=[piece]),
        extended(whole, [MARKING], [MARKING, piece]),
        extended(whole, [piece]),
    ):
        assert node.toward(packet)[0] == DROP

    assert node.counts().fragment == node.counts().errors == 3


@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS, Behavior.END_AM])
def test_more_than_is_looked_through_is_counted_as_such(node: Node, behavior: Behavior) -> None:
    node.declare(proxy(behavior))

    assert node.toward(extended(routed(inner6()), [options()] * (HEADERS + 1)))[0] == DROP
    assert node.toward(extended(routed(inner6()), [options(octets=OCTETS + 8)]))[0] == DROP
    long = extended(routed(inner6()), [options()] * 7, [options()] * (HEADERS + 1))
    answer = node.toward(long)[0]

    # End.AM does not look behind the list.
    assert answer == (REDIRECT if behavior is Behavior.END_AM else DROP)
    counted = 2 if behavior is Behavior.END_AM else 3
    assert node.counts().extension_header_chain_too_long == node.counts().errors == counted


def test_super_packets_are_left_to_the_kernel(node: Node) -> None:
    node.declare(proxy())

    answer, frame = node.toward(extended(routed(inner6()), [IOAM], [MARKING]), gso=20)

    assert answer == STACK
    assert left_of(Ether(frame)) == (SID, 0)


@pytest.mark.parametrize(
    "headers",
    [
        [MARKING],
        [options(IPv6ExtHdrHopByHop), MARKING],
        [IPv6ExtHdrFragment(offset=0, m=0)],
        [options()] * HEADERS,
    ],
    ids=["destination", "both", "whole fragment", "many"],
)
def test_flows_are_reported_apart_by_the_ports_behind_them(
    node: Node, headers: Sequence[Packet]
) -> None:
    node.declare(proxy(per_flow=True))
    one, two = (_inside(headers, TCP(sport=port)) for port in (7, 8))
    node.toward(routed(one))
    node.toward(routed(two, (SID, "fcbb:0:9::")))

    assert left_of(Ether(node.back(FRAME / one)[1])) == (NEXT, 1)
    assert left_of(Ether(node.back(FRAME / two)[1])) == ("fcbb:0:9::", 0)


def test_fragments_and_long_headers_go_by_their_addresses(node: Node) -> None:
    node.declare(proxy(per_flow=True))
    for headers in ([MARKING, IPv6ExtHdrFragment(offset=0, m=1)], [options()] * (HEADERS + 1)):
        one, two = (_inside(headers, UDP(sport=port)) for port in (7, 8))
        node.toward(routed(one))

        assert left_of(Ether(node.back(FRAME / one)[1])) == (NEXT, 1)
        assert left_of(Ether(node.back(FRAME / two)[1])) == (NEXT, 1)
    assert node.counts().errors == 0


def test_neighbor_discovery_behind_them_is_the_links_own(node: Node) -> None:
    node.declare(proxy(Behavior.END_AS))
    link = {"src": "fe80::2", "dst": "2001:db8:9::1"}
    solicitation = _inside([MARKING], ICMPv6ND_NS(tgt="2001:db8:9::1"), hlim=255, **link)
    echo = _inside([MARKING], ICMPv6EchoRequest(), hlim=255, **link)

    assert node.back(FRAME / solicitation)[0] == NEXT_FILTER
    assert node.back(FRAME / echo)[0] == STACK


@pytest.mark.parametrize(
    ("behavior", "inner"),
    [
        (Behavior.END_AD, "ipv6"),
        (Behavior.END_AD, "ipv4"),
        (Behavior.END_AS, "ipv6"),
        (Behavior.END_AM, "ipv6"),
    ],
)
def test_packets_of_a_network_that_measures_pass_a_function(
    network: Network, behavior: Behavior, inner: str
) -> None:
    network.steer(inner, (FIRST, SINK_SID[inner]))
    # The function's own (MLD) is not counted; End.AM leaves it alone.
    passes = {} if behavior is Behavior.END_AM else {"passes": ("multicast",)}
    network.declare(declared(behavior, inner, **passes))
    assert network.ping(inner) == 3  # neighbors are known
    before = network.counts()
    inside = inner6() if inner == "ipv6" else inner4()
    header = FRAME.copy()
    header.dst = network.mac("to-source")
    outer = routed(inside / Raw(bytes(700)), (FIRST, SINK_SID[inner]))[IPv6]
    packet = extended(header / outer, [IOAM, MARKING])

    came = network.carry([bytes(packet)] * 5, 5, at_least=700)

    assert all(frame.endswith(bytes(inside / Raw(bytes(700)))[40:]) for frame in came)
    counts = network.counts()
    assert counts.to_packets - before.to_packets == 5
    assert counts.from_packets - before.from_packets == 5
    assert counts.errors == before.errors


def _inside(headers: Sequence[Packet], payload: Packet, **more: object) -> Packet:
    addresses: dict[str, object] = {"src": "2001:db8:1::1", "dst": "2001:db8:2::2"}
    packet = IPv6(**addresses | more)
    for header in headers:
        packet = packet / header.copy()
    return packet / payload / Raw(bytes(32))
