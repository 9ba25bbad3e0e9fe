"""Loss as a flow measures it."""

from __future__ import annotations

import socket
import struct

import pytest

from tests.robot.library.flow import Ledger, Tally, checksum, following, reply_number, request


def book(sent: int, *answered: int) -> Ledger:
    made = Ledger(sent=sent)
    for number in answered:
        made.reply(number)
    return made


def test_nothing_lost() -> None:
    made = book(3, 0, 1, 2)
    assert made.complete
    assert made.tally(0.02) == Tally(sent=3, lost=0, duplicates=0, blocked=0)


def test_blocked_is_the_longest_run_of_losses() -> None:
    assert book(10, 0, 2, 3, 7, 9).tally(0.1) == Tally(
        sent=10, lost=5, duplicates=0, blocked=0.3, since=0.4
    )


def test_a_flow_that_stood_still_does_not_catch_up() -> None:
    assert following(10.0, 10.001, 0.02) == 10.02
    assert following(10.0, 15.0, 0.02) == 15.0


def test_a_second_reply_is_a_duplicate() -> None:
    assert book(2, 0, 0, 1).tally(0.1) == Tally(sent=2, lost=0, duplicates=1, blocked=0)


def test_numbers_wrap() -> None:
    made = book(65540, 3, 65535)
    assert made.answered == {65539, 65535}


def test_request_has_a_valid_checksum() -> None:
    assert checksum(request(socket.AF_INET, 7, 65537)) == 0


@pytest.mark.parametrize(("kind", "ident", "number"), [(0, 7, 5), (8, 7, None), (0, 8, None)])
def test_reply_of_ipv4(kind: int, ident: int, number: int | None) -> None:
    packet = bytes([0x45]) + bytes(19) + struct.pack("!BBHHH", kind, 0, 0, ident, 5)
    assert reply_number(socket.AF_INET, 7, packet) == number


def test_reply_of_ipv6() -> None:
    packet = struct.pack("!BBHHH", 129, 0, 0, 7, 5)
    assert reply_number(socket.AF_INET6, 7, packet) == 5
    assert reply_number(socket.AF_INET6, 7, packet[:4]) is None
