"""Frames into chains, and chains that begin on this router."""

from __future__ import annotations

import socket
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from srv6mgrd.kinds.chain.object import ChainPrograms
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainDrops
from srv6mgrd.model.chains import ClassifierRule, Way
from tests.contract.chains.network import (
    CHAIN,
    HOST,
    OWN_SID,
    SITE,
    SITE_SIDS,
    Network,
    everything,
    path,
    rules,
)

pytestmark = pytest.mark.contract

FRAMES = path(family=Family.ETHERNET)
MAC, OTHER_MAC = "02:00:00:00:01:02", "02:00:00:00:02:02"
FRAME = Ether(src=MAC, dst=OTHER_MAC)
DATAGRAM = UDP(sport=1, dport=2) / Raw(b"payload " * 8)


def pass_through(network: Network, frames: list[Packet]) -> list[bytes]:
    """What comes out of the wire at the site, of frames that the host sends."""
    with network.within("host"):
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sender.bind(("eth0", 0))
    with sender, network.on_the_wire() as found:
        for frame in frames:
            sender.send(bytes(frame))
    return [raw for raw in found if raw[6:12] == bytes.fromhex(MAC.replace(":", ""))]


def test_frames_as_they_are(network: Network) -> None:
    """Whatever is in them, ARP and VLAN tags too."""
    network.build_sid_device()
    network.build_wire()
    network.declare(FRAMES, rules(everything(family=Family.ETHERNET)))
    sent = [
        FRAME / IPv6(src=HOST[Family.IPV6], dst=SITE[Family.IPV6]) / DATAGRAM,
        FRAME / IP(src=HOST[Family.IPV4], dst=SITE[Family.IPV4]) / DATAGRAM,
        FRAME / ARP(psrc=HOST[Family.IPV4], pdst="10.1.0.9"),
        FRAME / Dot1Q(vlan=5) / IP(src="10.1.0.2", dst="10.1.0.9") / DATAGRAM,
        FRAME / Dot1Q(vlan=5) / Dot1Q(vlan=6) / IP(src="10.1.0.2", dst="10.1.0.9") / DATAGRAM,
    ]

    assert pass_through(network, sent) == [bytes(frame) for frame in sent]

    # The host sends by itself, too.
    assert network.by_rule() >= len(sent)
    assert network.through(SITE_SIDS[Family.ETHERNET]) >= len(sent)


def test_frames_by_what_is_in_them(network: Network) -> None:
    """Of packets to this router's own MAC address."""
    network.build_sid_device()
    network.build_wire()
    wanted = rules(
        ClassifierRule(1, None, family=Family.ETHERNET, protocol=17, destination_ports=(9, 9)),
        ClassifierRule(2, CHAIN, family=Family.ETHERNET, protocol=17),
    )
    network.declare(FRAMES, wanted)

    network.send(Family.IPV4, 20000, 9)
    network.send(Family.IPV4, 20000, 10)
    network.send(Family.IPV6, 20000, 10)

    assert (network.by_rule(1), network.by_rule(2)) == (1, 2)
    assert network.on_path(FRAMES) == 2


def test_a_chain_that_takes_no_such_packets(network: Network) -> None:
    network.declare(path("firewall"), rules(everything()))

    assert network.ping(Family.IPV4) == 0

    assert network.kernel.chain_counts().drops[CHAIN, Way.FORWARD] == ChainDrops(unavailable=3)


@pytest.mark.parametrize("family", [Family.IPV6, Family.IPV4])
def test_a_first_segment_of_this_router(network: Network, family: Family) -> None:
    network.build_sid_device()
    by_itself = replace(path(family=family), segments=(OWN_SID, SITE_SIDS[family]))
    network.declare(by_itself, rules(everything()))

    assert network.ping(family) == 3
    network.transfer(family, 1 << 20)

    assert network.on_path(by_itself) > 3


def test_frames_with_a_first_segment_of_this_router(network: Network) -> None:
    network.build_sid_device()
    network.build_wire()
    by_itself = replace(FRAMES, segments=(OWN_SID, SITE_SIDS[Family.ETHERNET]))
    network.declare(by_itself, rules(everything(family=Family.ETHERNET)))
    sent = [FRAME / IP(src=HOST[Family.IPV4], dst=SITE[Family.IPV4]) / DATAGRAM]

    assert pass_through(network, sent) == [bytes(frame) for frame in sent]


def test_the_device_of_sids_is_made_again(network: Network) -> None:
    network.build_sid_device()
    network.declare(path("firewall"), rules(everything()))
    network.run("ip link delete srv6mgr")
    network.build_sid_device()

    assert ChainPrograms(intact=False) in network.observed()
    network.replace(ChainPrograms(intact=False), ChainPrograms())
    assert ChainPrograms() in network.observed()


def test_a_path_of_many_segments(network: Network) -> None:
    """The most that fit."""
    segments = tuple(IPv6Address(f"fcbb:0:3:7{n:x}::") for n in range(16))
    network.on("far", f"ip -6 route add blackhole {segments[0]}")
    long = replace(path(), segments=segments)
    network.declare(long, rules(everything()))

    with network.captured() as packets:
        network.send(Family.IPV6, 20000)

    assert network.observed() >= {long}
    (outer,) = map(IPv6, packets)
    header = outer[IPv6ExtHdrSegmentRouting]
    assert (header.segleft, header.lastentry) == (15, 15)
    assert tuple(map(IPv6Address, header.addresses)) == segments[::-1]
    assert outer[IPv6:2].dst == SITE[Family.IPV6]
