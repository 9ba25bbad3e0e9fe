"""Test packets, byte for byte (RFC 8762 figures 2, 3, 5 and 6)."""

from __future__ import annotations

import hmac
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.stamp import packet
from srv6mgrd.stamp.packet import SenderPacket
from srv6mgrd.stamp.tlvs import Policy

SENT, RECEIVED, NOW = (
    1_700_000_000_500_000_000,
    1_700_000_000_750_000_000,
    1_700_000_001_000_000_000,
)
TIMES = st.integers(0, 4_000_000_000 * 1_000_000_000)


KEY, OTHER_KEY = b"a key of a session", b"the key of another"
# The base of a request or an answer: all before its HMAC.
SIGNED = 96
ANYBODY = Policy()


def request(extensions: bytes = b"", key: bytes | None = None) -> bytes:
    length = packet.LENGTH if key is None else packet.AUTHENTICATED_LENGTH
    return packet.encode(SenderPacket(7, SENT, 0x1234), key)[:length] + extensions


def answer(data: bytes, hop_limit: int = 61, policy: Policy = ANYBODY) -> bytes:
    packet.accept(data, policy.key)
    return packet.reflect(data, RECEIVED, hop_limit, policy).pack(NOW)


def test_a_request() -> None:
    data = packet.encode(SenderPacket(7, SENT, 0x1234, 5))
    # Direct Measurement, not recognized so far: how many packets were sent.
    assert data[44:] == bytes.fromhex("80 05 000c 00000005 00000000 00000000")
    seconds = 1_700_000_000 + 2_208_988_800
    assert data[:16] == struct.pack("!IIIHH", 7, seconds, 1 << 31, 0x0001, 0x1234)
    assert data[16:44] == bytes(28)


def test_an_answer() -> None:
    data = answer(request())
    assert len(data) == packet.LENGTH
    # The sender's own part comes back bit for bit, between our times and its hop limit.
    assert data[24:38] == request()[:14]
    assert data[38:] == bytes([0, 0, 61, 0, 0, 0])
    found = packet.decode_reflected(data)
    assert (found.sequence, found.sender_sequence, found.session_id) == (7, 7, 0x1234)
    assert (found.timestamp, found.received, found.sender_timestamp) == (NOW, RECEIVED, SENT)
    assert found.sender_hop_limit == 61


def test_an_authenticated_request() -> None:
    data = packet.encode(SenderPacket(7, SENT, 0x1234, 5), KEY)
    seconds = 1_700_000_000 + 2_208_988_800
    head = struct.pack("!I12xIIHH68x", 7, seconds, 1 << 31, 0x0001, 0x1234)
    assert data[:SIGNED] == head
    assert data[SIGNED:112] == hmac.digest(KEY, head, "sha256")[:16]
    counters = bytes.fromhex("80 05 000c 00000005 00000000 00000000")
    assert data[112:128] == counters
    assert data[128:132] == bytes.fromhex("80 08 0010")
    assert data[132:] == hmac.digest(KEY, head[:4] + counters, "sha256")[:16]


def test_an_authenticated_answer() -> None:
    made = packet.encode(SenderPacket(7, SENT, 0x1234, 5), KEY)
    data = answer(made, policy=Policy((3, 2), key=KEY))
    assert len(data) == len(made)
    assert data[:SIGNED] == struct.pack(
        "!I12xQHH4xQ8xI12xQH6xB15x",
        7, packet.to_ntp(NOW), 1, 0x1234, packet.to_ntp(RECEIVED), 7, packet.to_ntp(SENT), 1, 61,
    )  # fmt: skip
    assert data[SIGNED:112] == hmac.digest(KEY, data[:SIGNED], "sha256")[:16]
    found = packet.decode_reflected(data, KEY)
    assert (found.sender_sequence, found.session_id, found.received) == (7, 0x1234, RECEIVED)
    assert found.answered.counters == (5, 3, 2)


def test_nobody_without_the_key_is_answered_or_heard() -> None:
    made = packet.encode(SenderPacket(7, SENT), KEY)
    for wrong in (made[:-17] + b"x" + made[-16:], request(), bytes(200)):
        if wrong[:112] == made[:112]:
            continue
        with pytest.raises(packet.PacketError):
            packet.accept(wrong, KEY)
    with pytest.raises(packet.AuthenticationError):
        packet.accept(made, OTHER_KEY)
    data = answer(made, policy=Policy(key=KEY))
    for at in (0, 30, 60, 95, 96, 111):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(packet.AuthenticationError):
            packet.decode_reflected(changed, KEY)
    with pytest.raises(packet.AuthenticationError):
        packet.decode_reflected(answer(request()), KEY)


@pytest.mark.parametrize("length", [0, 13, 43, packet.MOST + 1])
def test_what_is_no_test_packet_is_not_answered(length: int) -> None:
    for key in (None, KEY):
        with pytest.raises(packet.PacketError):
            packet.accept(bytes(length), key)


def test_an_answer_of_twamp_light_is_shorter() -> None:
    data = answer(request())
    # It has no TLVs, either.
    assert packet.decode_reflected(data[:41]) == packet.decode_reflected(data)


@pytest.mark.parametrize("length", [0, 40])
def test_what_is_no_answer_is_not_read(length: int) -> None:
    with pytest.raises(packet.PacketError):
        packet.decode_reflected(bytes(length))


@pytest.mark.parametrize("key", [None, KEY])
def test_a_request_that_comes_back_as_it_was_sent_is_no_answer(key: bytes | None) -> None:
    """To the first one of a session it would be: its number is 0."""
    with pytest.raises(packet.PacketError, match="came back as it was sent"):
        packet.decode_reflected(packet.encode(SenderPacket(0, SENT, 1, 1), key), key)


def test_counters_of_a_reflector_that_counts() -> None:
    data = packet.encode(SenderPacket(7, SENT, 0x1234, 9))
    assert packet.accept(data) == 0x1234
    reflected = answer(data, policy=Policy((8, 7)))
    assert packet.decode_reflected(reflected).answered.counters == (9, 8, 7)
    # One that knows no such TLV sends it back as it is, or not at all.
    unknown = reflected[: packet.LENGTH] + data[packet.LENGTH :]
    assert packet.decode_reflected(unknown).answered.counters is None
    assert packet.decode_reflected(reflected[: packet.LENGTH]).answered.counters is None


@given(st.binary(min_size=packet.LENGTH, max_size=packet.MOST))
def test_an_answer_is_as_long_as_its_request(data: bytes) -> None:
    reflected = answer(data)
    assert len(reflected) == len(data)
    assert packet.decode_reflected(reflected).sender_sequence == int.from_bytes(data[:4])


@given(st.binary(max_size=300))
def test_an_authenticated_answer_is_as_long_as_its_request(extensions: bytes) -> None:
    data = request(extensions, KEY)
    reflected = answer(data, policy=Policy(key=KEY))
    assert len(reflected) == len(data)
    assert packet.decode_reflected(reflected, KEY).sender_sequence == 7


@given(TIMES)
def test_times_survive_the_wire(ns: int) -> None:
    # 2 ** -32 s are less than a nanosecond; era 1 begins in 2036.
    assert packet.from_ntp(packet.to_ntp(ns)) == ns
