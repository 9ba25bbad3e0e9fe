"""TLVs of test packets, byte for byte (RFC 8972 section 4, RFC 9503 sections 3 and 4)."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.stamp import tlvs
from srv6mgrd.stamp.tlvs import Policy, TlvType

KEY, SEQUENCE = b"a key of a session", bytes([0, 0, 0, 7])
PE1, PE2 = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
SIDS = (IPv6Address("fcbb:0:3::"), IPv6Address("fcbb:0:1::"))
PADDING = bytes.fromhex("80 01 0002 aabb")
RETURN_PATH = tlvs.return_path(SIDS).pack()
OPEN = Policy((8, 7), lambda address: address == PE2, return_paths=True, peer=PE1)


def reflected(data: bytes, policy: Policy = OPEN) -> bytes:
    return tlvs.reflect(data, SEQUENCE, policy).pack(SEQUENCE, policy.key)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        pytest.param("80 01 0002 aabb", "00 01 0002 aabb", id="padding"),
        pytest.param("80 0b 0001 aa", "80 0b 0001 aa", id="unknown"),
        pytest.param("00 0b 0000 80 01 0000", "80 0b 0000 00 01 0000", id="several"),
        pytest.param(
            "80 05 000c 00000009 00000000 00000000",
            "00 05 000c 00000009 00000008 00000007",
            id="counters",
        ),
        pytest.param("80 05 0004 00000009", "40 05 0004 00000009", id="counters cut"),
        pytest.param("80 01 0005 aabb", "c0 01 0005 aabb", id="longer than the packet"),
        pytest.param("80 01 0000 aabb", "00 01 0000 aabb", id="less than a TLV behind it"),
        pytest.param(
            f"80 08 0010 {bytes(16).hex()}", f"80 08 0010 {bytes(16).hex()}", id="HMAC without key"
        ),
        pytest.param(
            f"80 09 0010 {PE2.packed.hex()}", f"00 09 0010 {PE2.packed.hex()}", id="our address"
        ),
        pytest.param(
            f"80 09 0010 {PE1.packed.hex()}", f"80 09 0010 {PE1.packed.hex()}", id="not ours"
        ),
        pytest.param("80 09 0004 c0000201", "80 09 0004 c0000201", id="of IPv4"),
        pytest.param("80 09 0001 aa", "40 09 0001 aa", id="no address"),
    ],
)
def test_tlvs_come_back_with_their_flags(sent: str, answer: str) -> None:
    assert reflected(bytes.fromhex(sent)) == bytes.fromhex(answer)


def test_a_return_path_has_its_first_segment_first() -> None:
    assert bytes.fromhex("80 0a 0024 80 04 0020") + b"".join(s.packed for s in SIDS) == RETURN_PATH


def path(sub: str) -> bytes:
    value = bytes.fromhex(sub)
    return bytes([0x80, 10]) + len(value).to_bytes(2) + value


@pytest.mark.parametrize(
    ("sub", "segments", "suppressed", "used"),
    [
        pytest.param(RETURN_PATH[4:].hex(), SIDS, False, True, id="segments"),
        pytest.param("80 01 0004 00000000", (), True, True, id="no reply"),
        pytest.param("80 01 0004 000000fe", (), True, True, id="no reply, reserved bits"),
        pytest.param("80 01 0004 00000001", (), False, False, id="on the same link"),
        pytest.param(f"80 02 0010 {PE1.packed.hex()}", (), False, True, id="to the sender"),
        pytest.param(f"80 02 0010 {PE2.packed.hex()}", (), False, False, id="to another address"),
        pytest.param("80 03 0004 00010100", (), False, False, id="labels"),
        pytest.param("80 04 0000", (), False, False, id="no segment"),
        pytest.param(f"80 04 0011 {bytes(17).hex()}", (), False, False, id="half a segment"),
        pytest.param(f"80 04 0110 {bytes(272).hex()}", (), False, False, id="too many segments"),
        pytest.param("80 04 00ff", (), False, False, id="longer than the TLV"),
        pytest.param("", (), False, False, id="nothing"),
    ],
)
def test_return_paths(
    sub: str, segments: tuple[IPv6Address, ...], suppressed: bool, used: bool
) -> None:
    found = tlvs.reflect(path(sub), SEQUENCE, OPEN)
    assert (found.segments, found.suppressed) == (segments, suppressed)
    assert found.tlvs[0].is_understood == used


def test_a_return_path_needs_leave_and_is_one() -> None:
    closed = Policy(peer=PE1)
    assert tlvs.reflect(RETURN_PATH, SEQUENCE, closed).segments == ()
    assert reflected(RETURN_PATH, closed) == RETURN_PATH
    twice = tlvs.reflect(path("80 04 0000") + RETURN_PATH, SEQUENCE, OPEN)
    assert twice.segments == ()
    assert not any(one.is_understood for one in twice.tlvs)


def test_only_the_first_node_address_is_looked_up() -> None:
    asked: list[IPv6Address] = []

    def is_own(address: IPv6Address) -> bool:
        asked.append(address)
        return True

    first, second = (tlvs.node_address(one).pack() for one in (PE2, PE1))
    found = tlvs.reflect(first + second * 60, SEQUENCE, Policy(is_own=is_own))
    assert (asked, found.source) == ([PE2], PE2)
    assert [one.flags for one in found.tlvs] == [0] + 60 * [tlvs.UNRECOGNIZED]


def test_a_node_address_is_of_the_family_of_the_sender() -> None:
    there = IPv4Address("192.0.2.2")
    for peer, address, used in ((PE1, there, None), (there, there, there), (there, PE2, None)):
        asked = tlvs.node_address(address).pack()
        found = tlvs.reflect(asked, SEQUENCE, Policy(is_own=lambda _: True, peer=peer))
        assert found.source == used
        assert found.tlvs[0].flags == (tlvs.UNRECOGNIZED if used is None else 0)


def test_no_segments_lead_an_ipv4_answer_back() -> None:
    policy = Policy(return_paths=True, peer=IPv4Address("192.0.2.2"))
    found = tlvs.reflect(RETURN_PATH, SEQUENCE, policy)
    assert (found.segments, found.tlvs[0].flags) == ((), tlvs.UNRECOGNIZED)


def test_many_tlvs_are_not_copied_with_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[object] = []

    def copied(one: Any, **changes: Any) -> Any:
        copies.append(changes)
        return replace(one, **changes)

    monkeypatch.setattr(tlvs, "replace", copied)
    found = tlvs.reflect(300 * PADDING, SEQUENCE, OPEN)
    assert len(found.tlvs) == 300
    assert len(copies) == 1


def test_a_return_path_that_cannot_be_used_is_marked() -> None:
    found = tlvs.reflect(PADDING + RETURN_PATH, SEQUENCE, OPEN).without_segments()
    assert found.pack(SEQUENCE, None)[6:] == RETURN_PATH
    assert found.tlvs[0].is_understood
    assert found.segments == ()


def sealed(*more: tlvs.Tlv) -> bytes:
    return tlvs.sealed((tlvs.counters(9), *more), SEQUENCE, KEY)


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


KEYED = Policy((8, 7), key=KEY, return_paths=True)


def test_the_hmac_of_an_answer_is_its_own() -> None:
    data = reflected(sealed(), KEYED)
    assert tlvs.is_authentic(data, SEQUENCE, KEY)
    assert tlvs.answered(data, SEQUENCE, KEY).counters == (9, 8, 7)
    # Padding may follow it, and needs none.
    assert tlvs.reflect(sealed() + PADDING, SEQUENCE, KEYED).tlvs[0].flags == 0
    assert reflected(PADDING, KEYED) == bytes.fromhex("00 01 0002 aabb")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(changed(sealed(), 7), id="another value"),
        pytest.param(changed(sealed(), -1), id="another HMAC"),
        pytest.param(tlvs.counters(9).pack(), id="no HMAC"),
        pytest.param(sealed() + tlvs.counters(9).pack(), id="HMAC is not last"),
        pytest.param(sealed() + sealed()[16:], id="two HMACs"),
        pytest.param(tlvs.sealed((tlvs.counters(9),), b"1234", KEY), id="another packet's"),
    ],
)
def test_without_integrity_nothing_is_used(data: bytes) -> None:
    found = tlvs.reflect(data, SEQUENCE, KEYED)
    assert {one.flags for one in found.tlvs} == {tlvs.INTEGRITY}
    assert [one.value for one in found.tlvs] == [one.value for one in tlvs.split(data)[0]]
    assert tlvs.answered(data, SEQUENCE, KEY).counters is None


def test_what_a_reflector_did_not_do() -> None:
    asked = (TlvType.RETURN_PATH, TlvType.DESTINATION_NODE_ADDRESS)
    data = tlvs.node_address(PE2).pack() + RETURN_PATH
    assert tlvs.answered(reflected(data), SEQUENCE, None, asked).unused == set()
    assert tlvs.answered(reflected(data, Policy()), SEQUENCE, None, asked).unused == set(asked)
    # One that knows no TLVs at all.
    assert tlvs.answered(b"", SEQUENCE, None, asked).unused == set(asked)
    flagged = bytes([tlvs.INTEGRITY]) + reflected(data)[1:]
    assert tlvs.answered(flagged, SEQUENCE, None, asked).unused == set(asked)


@given(st.binary(max_size=200))
def test_whatever_comes_is_answered_with_as_much(data: bytes) -> None:
    for policy in (OPEN, KEYED, Policy()):
        assert len(reflected(data, policy)) == len(data)
    tlvs.answered(data, SEQUENCE, KEY)
