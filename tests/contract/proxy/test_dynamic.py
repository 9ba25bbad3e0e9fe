"""End.AD: learn the chain, hand over what is inside, put the chain on again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import ARP, Ether

from tests.contract.proxy.conftest import PREFIX, Node, proxy
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
INSIDE = {
    "ipv6": inner6(),
    "ipv4": inner4(),
    "ethernet": FRAME_INSIDE / inner6(),
}


def test_hands_over_ipv6_with_its_hop_counted(node: Node) -> None:
    node.declare(proxy())

    answer, frame = node.toward(routed(inner6(hop_limit=64)))

    assert answer == REDIRECT
    assert frame[14:] == bytes(inner6(hop_limit=63))
    assert (node.counts().to_packets, node.counts().errors) == (1, 0)
    assert node.counts().to_octets == len(routed(inner6())) - 14


def test_hands_over_ipv4_with_a_right_checksum(node: Node) -> None:
    node.declare(proxy(inner="ipv4"))

    answer, frame = node.toward(routed(inner4(ttl=64)))

    assert answer == REDIRECT
    assert frame[12:14] == b"\x08\x00"
    # scapy reckons the checksum by itself.
    assert frame[14:] == bytes(inner4(ttl=63))


@pytest.mark.parametrize("ttl", [2, 0x80, 0xFF])
def test_ipv4_checksums_carry(node: Node, ttl: int) -> None:
    node.declare(proxy(inner="ipv4"))

    for identification in (0, 0x1234, 0xFFFF):
        inside = inner4(ttl=ttl)
        inside[IP].id = identification
        _, frame = node.toward(routed(inside))
        inside[IP].ttl = ttl - 1
        del inside[IP].chksum
        assert frame[14:] == bytes(inside)


@pytest.mark.parametrize("inside", [inner6(), ARP(psrc="10.0.0.1", pdst="10.0.0.2")])
def test_hands_over_a_frame_as_it_is(node: Node, inside: object) -> None:
    node.declare(proxy(inner="ethernet"))
    frame = FRAME_INSIDE / inside

    answer, out = node.toward(routed(frame))

    assert answer == REDIRECT
    assert out == bytes(frame)


@pytest.mark.parametrize("inner", ["ipv6", "ipv4"])
def test_puts_the_chain_on_again(node: Node, inner: str) -> None:
    node.declare(proxy(inner=inner))
    node.toward(routed(INSIDE[inner], hop_limit=50))

    answer, frame = node.back(Ether(dst=MAC, src=OTHER_MAC) / INSIDE[inner])

    # No route leads on in this namespace: the stack gets it, which counts the hop.
    assert answer == STACK
    packet = Ether(frame)
    assert packet[IPv6].src == SOURCE
    assert packet[IPv6].hlim == 50
    assert left_of(packet) == (NEXT, 1)
    assert packet[IPv6ExtHdrSegmentRouting].addresses == [LAST, NEXT, SID]
    assert packet[IPv6].plen == len(frame) - 14 - 40
    assert frame.endswith(bytes(INSIDE[inner]))
    assert node.counts().from_packets == 1


def test_puts_the_chain_around_a_frame(node: Node) -> None:
    node.declare(proxy(inner="ethernet"))
    node.toward(routed(INSIDE["ethernet"]))
    arp = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:11") / ARP(pdst="10.0.0.2")

    for inside in (INSIDE["ethernet"], arp):
        answer, frame = node.back(inside)
        packet = Ether(frame)
        assert answer == REDIRECT
        assert left_of(packet) == (NEXT, 1)
        assert packet[IPv6ExtHdrSegmentRouting].nh == 143
        assert packet[IPv6].plen == len(frame) - 14 - 40
        assert frame.endswith(bytes(inside))


def test_learns_a_new_chain(node: Node) -> None:
    node.declare(proxy())
    node.toward(routed(inner6()))
    node.toward(routed(inner6(), (SID, "fcbb:0:9::")))

    _, frame = node.back(FRAME / inner6())

    assert left_of(Ether(frame)) == ("fcbb:0:9::", 0)


def test_keeps_a_chain_that_is_not_old_enough(node: Node) -> None:
    node.declare(proxy(age=3600))
    node.toward(routed(inner6()))
    node.toward(routed(inner6(), (SID, "fcbb:0:9::")))

    _, frame = node.back(FRAME / inner6())

    assert left_of(Ether(frame)) == (NEXT, 1)


def test_what_belongs_to_the_packet_is_no_other_chain(node: Node) -> None:
    node.declare(proxy())
    node.toward(routed(inner6(), hop_limit=64))
    learned = node.chain()

    node.toward(routed(inner6() / b"longer", hop_limit=9))

    assert node.chain() == learned


@pytest.mark.parametrize("count", [2, 5, 16])
def test_carries_up_to_16_segments(node: Node, count: int) -> None:
    node.declare(proxy())
    segments = [SID, *(f"fcbb:0:2::{number:x}" for number in range(count - 1, 0, -1))]

    assert node.toward(routed(inner6(), segments))[0] == REDIRECT
    _, frame = node.back(FRAME / inner6())

    assert Ether(frame)[IPv6ExtHdrSegmentRouting].addresses == list(reversed(segments))


def test_carries_tlvs(node: Node) -> None:
    node.declare(proxy())
    with_tlv = routed(inner6())
    header = bytes(with_tlv[IPv6ExtHdrSegmentRouting])[: 8 + 48]
    tlv = bytes([9, 6]) + b"tlvtlv"
    srh = bytearray(header + tlv)
    srh[1] += 1
    body = bytes(srh) + bytes(inner6())
    outer = IPv6(src=SOURCE, dst=SID, nh=43, plen=len(body))

    assert node.toward(bytes(FRAME / outer) + body)[0] == REDIRECT
    _, frame = node.back(FRAME / inner6())

    assert frame.endswith(tlv + bytes(inner6()))


def test_a_transparent_function_can_count_no_hop(node: Node) -> None:
    node.declare(proxy(decrement_hop_limit=False))

    _, frame = node.toward(routed(inner6(hop_limit=1)))

    assert frame[14:] == bytes(inner6(hop_limit=1))


def test_leaves_a_super_packet_to_the_kernel(node: Node) -> None:
    node.declare(proxy())

    answer, frame = node.toward(routed(inner6()), gso=1000)

    assert answer == STACK
    # The SID's seg6local route takes it, which wants the last segment.
    assert left_of(Ether(frame)) == (SID, 0)
    assert frame.endswith(bytes(inner6()))
    _, back = node.back(FRAME / inner6())
    assert left_of(Ether(back)) == (NEXT, 1)


def test_two_inner_types_share_a_function(node: Node) -> None:
    other = replace(proxy(inner="ipv4"), prefix=PREFIX.supernet(4).subnets(4).__next__())
    node.declare(proxy(), other)
    fourth = str(other.prefix.network_address + 1)
    node.toward(routed(inner6()))
    node.toward(routed(inner4(), (fourth, "fcbb:0:9::")))

    assert left_of(Ether(node.back(FRAME / inner6())[1])) == (NEXT, 1)
    assert left_of(Ether(node.back(FRAME / inner4())[1])) == ("fcbb:0:9::", 0)


@pytest.mark.parametrize(
    "packet",
    [
        FRAME / inner6(),
        FRAME / inner4(),
        FRAME / ARP(),
        routed(inner6(), (NEXT, LAST)),
        Ether(dst="02:00:00:00:00:99") / bytes(routed(inner6()))[14:],
    ],
    ids=["ipv6", "ipv4", "arp", "transit", "frame of another"],
)
def test_what_is_not_its_own_goes_on_untouched(node: Node, packet: Ether) -> None:
    node.declare(proxy())

    assert node.toward(packet) == (NEXT_FILTER, bytes(packet))
    assert node.counts().to_packets == node.counts().errors == 0


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (FRAME / IPv6(dst=SID) / inner6(), "no_srh"),
        (FRAME / IPv6(dst=SID, nh=58) / b"ping", "no_srh"),
        (routed(inner6(), (NEXT, SID), at=1), "no_segments_left"),
        (routed(inner6(), hop_limit=1), "hop_limit"),
        (routed(inner6(hop_limit=1)), "hop_limit"),
        (routed(inner4()), "not_for_proxy"),
        (routed(FRAME_INSIDE / inner6()), "not_for_proxy"),
        (routed(inner6(), [SID, *[NEXT] * 16]), "header_too_long"),
        (routed(inner6(), [SID, *[NEXT] * 30]), "header_too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_drops_by_reason(node: Node, packet: Ether, reason: str) -> None:
    node.declare(proxy())

    assert node.toward(packet)[0] == DROP

    counts = node.counts()
    assert getattr(counts, reason) == counts.errors == 1
    assert counts.to_packets == 0


def test_drops_what_comes_back_before_anything_was_learned(node: Node) -> None:
    node.declare(proxy())

    assert node.back(FRAME / inner6())[0] == DROP
    assert node.counts().nothing_learned == node.counts().errors == 1
