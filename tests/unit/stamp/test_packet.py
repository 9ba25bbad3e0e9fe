"""Test packets, byte for byte (RFC 8762 figures 2 and 5, RFC 8972 section 4)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.stamp import packet
from srv6mgrd.stamp.packet import SenderPacket

SENT, RECEIVED, NOW = (
    1_700_000_000_500_000_000,
    1_700_000_000_750_000_000,
    1_700_000_001_000_000_000,
)
TIMES = st.integers(0, 4_000_000_000 * 1_000_000_000)


def request(tlvs: bytes = b"") -> bytes:
    return packet.encode(SenderPacket(7, SENT, 0x1234))[: packet.LENGTH] + tlvs


def test_a_request() -> None:
    data = packet.encode(SenderPacket(7, SENT, 0x1234, 5))
    assert len(data) == packet.REQUEST_LENGTH
    # Direct Measurement, not recognized so far: how many packets were sent.
    assert data[44:] == bytes.fromhex("80 05 000c 00000005 00000000 00000000")
    seconds = 1_700_000_000 + 2_208_988_800
    assert data[:16] == struct.pack("!IIIHH", 7, seconds, 1 << 31, 0x0001, 0x1234)
    assert data[16:44] == bytes(28)


def test_an_answer() -> None:
    data = packet.reflect(request(), RECEIVED, NOW, hop_limit=61)
    assert len(data) == packet.LENGTH
    # The sender's own part comes back bit for bit, between our times and its hop limit.
    assert data[24:38] == request()[:14]
    assert data[38:] == bytes([0, 0, 61, 0, 0, 0])
    found = packet.decode_reflected(data)
    assert (found.sequence, found.sender_sequence, found.session_id) == (7, 7, 0x1234)
    assert (found.timestamp, found.received, found.sender_timestamp) == (NOW, RECEIVED, SENT)
    assert found.sender_hop_limit == 61


@pytest.mark.parametrize("length", [0, 13, 43, packet.MOST + 1])
def test_what_is_no_test_packet_is_not_answered(length: int) -> None:
    with pytest.raises(packet.PacketError):
        packet.reflect(bytes(length), RECEIVED, NOW, 64)


def test_an_answer_of_twamp_light_is_shorter() -> None:
    data = packet.reflect(request(), RECEIVED, NOW, hop_limit=61)
    assert packet.decode_reflected(data[:41]) == packet.decode_reflected(data)


@pytest.mark.parametrize("length", [0, 40])
def test_what_is_no_answer_is_not_read(length: int) -> None:
    with pytest.raises(packet.PacketError):
        packet.decode_reflected(bytes(length))


@pytest.mark.parametrize(
    ("tlvs", "reflected"),
    [
        pytest.param("80 01 0002 aabb", "00 01 0002 aabb", id="padding"),
        pytest.param("80 09 0001 aa", "80 09 0001 aa", id="unknown"),
        pytest.param("00 09 0000 80 01 0000", "80 09 0000 00 01 0000", id="several"),
        pytest.param(
            "80 05 000c 00000009 00000000 00000000",
            "00 05 000c 00000009 00000008 00000007",
            id="counters",
        ),
        pytest.param("80 05 0004 00000009", "80 05 0004 00000009", id="counters cut"),
        pytest.param("80 01 0005 aabb", "c0 01 0005 aabb", id="longer than the packet"),
        pytest.param("80 01 0000 aabb", "00 01 0000 aabb", id="less than a TLV behind it"),
    ],
)
def test_tlvs_come_back_with_their_flags(tlvs: str, reflected: str) -> None:
    data = packet.reflect(request(bytes.fromhex(tlvs)), RECEIVED, NOW, 64, (8, 7))
    assert data[packet.LENGTH :] == bytes.fromhex(reflected)


def test_counters_of_a_reflector_that_counts() -> None:
    data = packet.encode(SenderPacket(7, SENT, 0x1234, 9))
    assert packet.session_id(data) == 0x1234
    reflected = packet.reflect(data, RECEIVED, NOW, 64, (8, 7))
    assert packet.decode_reflected(reflected).counters == (9, 8, 7)
    # One that knows no such TLV sends it back as it is, or not at all.
    unknown = reflected[: packet.LENGTH] + data[packet.LENGTH :]
    assert packet.decode_reflected(unknown).counters is None
    assert packet.decode_reflected(reflected[: packet.LENGTH]).counters is None


@given(st.binary(min_size=packet.LENGTH, max_size=packet.MOST))
def test_an_answer_is_as_long_as_its_request(data: bytes) -> None:
    reflected = packet.reflect(data, RECEIVED, NOW, 64)
    assert len(reflected) == len(data)
    assert packet.decode_reflected(reflected).sender_sequence == int.from_bytes(data[:4])


@given(TIMES)
def test_times_survive_the_wire(ns: int) -> None:
    # 2 ** -32 s are less than a nanosecond; era 1 begins in 2036.
    assert packet.from_ntp(packet.to_ntp(ns)) == ns
