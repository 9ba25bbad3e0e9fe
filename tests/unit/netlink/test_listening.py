"""Notifications of which only matters that there were any."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest

from srv6mgrd.netlink.listening import discard, turn


def test_all_that_waits_is_taken() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.setblocking(False)
        for _ in range(3):
            theirs.send(b"changed")
        discard(ours)
        with pytest.raises(BlockingIOError):
            ours.recv(1)


class Endless:
    """More comes in than can be read; some are lost meanwhile."""

    def __init__(self, number: int = errno.ENOBUFS) -> None:
        self.taken, self._number = 0, number

    def recv(self, _: int) -> bytes:
        self.taken += 1
        if self.taken == 2:
            raise OSError(self._number, "")
        return b"changed"


def test_it_ends_though_more_comes_in_than_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A datagram takes a millisecond here."""
    endless: Any = Endless()
    monkeypatch.setattr(
        "srv6mgrd.netlink.listening.time.thread_time", lambda: 0.001 * endless.taken
    )
    discard(endless)
    assert endless.taken == 10


def test_a_turn_takes_one_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 60.0])
    monkeypatch.setattr("srv6mgrd.netlink.listening.time.thread_time", lambda: next(times))
    assert len(list(turn())) == 1


def test_other_errors_are_raised() -> None:
    broken: Any = Endless(errno.EBADF)
    with pytest.raises(OSError, match="9"):
        discard(broken)
