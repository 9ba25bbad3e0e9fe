"""Errors about tunnelled packets, turned into those that the sender understands."""

from ipaddress import ip_address

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror
from scapy.layers.inet6 import (
    ICMPv6PacketTooBig,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrSegmentRouting,
    PadN,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from srv6mgrd.kernel.packet_too_big import EXPERIMENTAL, about_own_path, answer, read

OUTER = IPv6(src="2001:db8::1", dst="fcbb:0:3::")
SRH = IPv6ExtHdrSegmentRouting(addresses=["fcbb:0:2:64::", "fcbb:0:3::"], segleft=1)
OPTIONS = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0\0")])
V4 = IP(src="10.1.0.10", dst="10.2.0.10", flags="DF") / TCP(seq=7) / Raw(b"x" * 1400)
V6 = IPv6(src="fd00:1::10", dst="fd00:2::10") / UDP() / Raw(b"x" * 1400)


def error(packet: Packet, mtu: int = 1500, length: int = 1240) -> bytes:
    """As a raw socket gets it."""
    return bytes(ICMPv6PacketTooBig(mtu=mtu))[:8] + bytes(packet)[: length - 8]


@pytest.mark.parametrize("inner", [V4, V6], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize(
    ("headers", "segment", "overhead"),
    [
        (OUTER, "fcbb:0:3::", 40),
        (OUTER / SRH, "fcbb:0:2:64::", 80),
        (OUTER / OPTIONS / SRH, "fcbb:0:2:64::", 88),
    ],
    ids=["reduced", "SRH", "options"],
)
def test_what_fits_is_without_the_outer_headers(
    inner: Packet, headers: Packet, segment: str, overhead: int
) -> None:
    found = read(error(headers / inner))

    assert found is not None
    assert (str(found.source), str(found.segment)) == ("2001:db8::1", segment)
    assert found.mtu == 1500 - overhead
    assert (str(found.sender), str(found.receiver)) == (inner.src, inner.dst)
    assert bytes(inner).startswith(found.inner)


def test_the_answer_to_ipv4() -> None:
    found = read(error(OUTER / SRH / V4))
    assert found is not None

    reported = ICMP(answer(found))

    assert (reported.type, reported.code, reported.nexthopmtu) == (3, 4, 1420)
    again = reported.copy()
    del again.chksum
    assert ICMP(bytes(again)).chksum == reported.chksum
    # RFC 1812 section 4.3.2.3
    assert len(bytes(reported)) == 576 - 20
    assert bytes(V4).startswith(bytes(reported.payload))
    assert reported.payload.payload.seq == 7


def test_a_path_of_the_router_itself_is_about_the_experimental_protocol() -> None:
    found = read(error(OUTER / SRH / V4, 1400))
    assert found
    message = ICMP(about_own_path(found))
    quoted = message[IPerror]
    assert (message.type, message.code, message.nexthopmtu) == (3, 4, 1320)
    assert (quoted.proto, quoted.src, quoted.dst) == (EXPERIMENTAL, "10.1.0.10", "10.2.0.10")
    # As of a datagram of 8 bytes: ip_hdr() and what icmp_socket_deliver pulls.
    assert len(bytes(quoted)) == 28


def test_the_answer_to_ipv6() -> None:
    found = read(error(OUTER / V6, length=2000))
    assert found is not None

    reported = answer(found)

    assert reported[:8] == bytes(ICMPv6PacketTooBig(mtu=1460, cksum=0))
    # RFC 4443 section 2.4 (c)
    assert len(reported) == 1280 - 40
    assert bytes(V6).startswith(reported[8:])


@pytest.mark.parametrize(("inner", "least"), [(V4, 68), (V6, 1280)], ids=["IPv4", "IPv6"])
def test_never_less_than_a_link_has_to_carry(inner: Packet, least: int) -> None:
    found = read(error(OUTER / inner, mtu=100))
    assert found is not None

    assert int.from_bytes(answer(found)[4:8], "big") == least


@pytest.mark.parametrize(
    "message",
    [
        b"",
        error(OUTER / V4, length=47),
        error(OUTER / SRH / V4, length=60),
        error(OUTER / SRH / V4, length=8 + 80 + 27),
        error(OUTER / SRH / V6, length=8 + 80 + 47),
        error(OUTER / UDP() / Raw(b"x" * 1400)),
        error(OUTER / Ether() / V4),
        error(OUTER / IP(src="10.1.0.10", dst="10.2.0.10") / UDP() / Raw(b"x" * 1400)),
        b"\1" + error(OUTER / V4)[1:],
    ],
    ids=[
        "nothing",
        "half an outer header",
        "half an SRH",
        "half a transport header, IPv4",
        "half a transport header, IPv6",
        "no tunnel",
        "a frame",
        "may be fragmented",
        "another error",
    ],
)
def test_what_is_of_no_use(message: bytes) -> None:
    assert read(message) is None


def test_cut_anywhere_it_is_read_or_not() -> None:
    whole = error(OUTER / OPTIONS / SRH / V4)
    for length in range(len(whole)):
        found = read(whole[:length])
        assert found is None or found.sender == ip_address("10.1.0.10")
