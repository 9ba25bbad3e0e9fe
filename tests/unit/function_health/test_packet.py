"""Packets of health checks as they are on the wire."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from srv6mgrd.function_health.packet import Mark, echo, frame, mark_of
from srv6mgrd.netlink.checksum import checksum

MARK = Mark(0xAABBCCDD, 7, 70000)
TO, SOURCE = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


def test_a_frame_has_the_mark_behind_its_header() -> None:
    made = frame(MARK, TO, SOURCE)
    assert made[:14].hex() == "02000000000102000000000288b5"
    assert len(made) == 60
    assert mark_of(made) == MARK


@pytest.mark.parametrize(
    ("source", "destination"), [("10.9.0.1", "10.9.1.1"), ("fd09::1", "fd09:1::1")]
)
def test_an_echo_request_has_right_checksums(source: str, destination: str) -> None:
    addresses = ip_address(source), ip_address(destination)
    made = echo(MARK, TO, SOURCE, addresses)
    assert mark_of(made) == MARK
    if addresses[0].version == 4:
        length = int.from_bytes(made[16:18])
        header, icmp = made[14:34], made[34 : 14 + length]
        assert checksum(header) == 0
        assert header[12:20] == addresses[0].packed + addresses[1].packed
        assert (icmp[0], checksum(icmp)) == (8, 0)
        return
    header, icmp = made[14:54], made[54:]
    assert header[8:40] == addresses[0].packed + addresses[1].packed
    assert int.from_bytes(header[4:6]) == len(icmp)
    pseudo = header[8:40] + len(icmp).to_bytes(4) + (58).to_bytes(4)
    assert (icmp[0], checksum(pseudo + icmp)) == (128, 0)


@pytest.mark.parametrize("received", [b"", bytes(60), frame(MARK, TO, SOURCE)[:20]])
def test_others_are_none_of_ours(received: bytes) -> None:
    assert mark_of(received) is None
