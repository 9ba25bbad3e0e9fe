"""Sockets for notifications, and filters on those of routes (SO_ATTACH_FILTER): what these drop
costs neither a wake-up nor room in the receive buffer."""

from __future__ import annotations

import errno
import socket
import struct
import time
from collections.abc import Iterable, Iterator

from srv6mgrd.model.reserved import ROUTE_PROTOCOL, SID_TABLE
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.classic_filter import (
    ALL,
    JUMP_EQUAL,
    LOAD_BYTE,
    LOAD_HALF,
    LOAD_WORD,
    RETURN,
    assembled,
    attach,
)
from srv6mgrd.netlink.socket import open_socket

_DATAGRAM = 1 << 16
# Seconds of the CPU in which a job of an event loop takes notifications, before others have a turn.
_TURN = 0.01


def program(ignore_port: int) -> bytes:
    """Classic BPF over one notification: accept all but routes; of those the ones of our protocol,
    in the SID table, and unreachable defaults, unless the change came from ``ignore_port``."""
    rtm = wire.NLMSGHDR.size
    attribute = rtm + wire.RTMSG.size
    accept, drop = "accept", "drop"
    # Code, operand, target if equal, target if not ("" falls through).
    lines: list[tuple[int, int, str, str]] = [
        (LOAD_HALF, 4, "", ""),
        (JUMP_EQUAL, _network(wire.RTM_NEWROUTE, 2), "route", ""),
        (JUMP_EQUAL, _network(wire.RTM_DELROUTE, 2), "route", accept),
        # Port 0 is the kernel itself, which is never ignored.
        (LOAD_WORD, 12, "", ""),
        (JUMP_EQUAL, _network(ignore_port, 4), drop if ignore_port else "", ""),
        (LOAD_BYTE, rtm + 5, "", ""),
        (JUMP_EQUAL, ROUTE_PROTOCOL, accept, ""),
        (LOAD_BYTE, rtm + 1, "", ""),
        (JUMP_EQUAL, 0, "", "table"),
        (LOAD_BYTE, rtm + 7, "", ""),
        (JUMP_EQUAL, wire.RTN_UNREACHABLE, accept, ""),
        (LOAD_BYTE, rtm, "", ""),
        (JUMP_EQUAL, socket.AF_INET6, "", drop),
        # Both families write RTA_TABLE first (rt6_fill_node, fib_dump_info). Where it is not,
        # decode() decides.
        (LOAD_HALF, attribute + 2, "", ""),
        (JUMP_EQUAL, _network(wire.RTA_TABLE, 2), "", accept),
        (LOAD_WORD, attribute + 4, "", ""),
        (JUMP_EQUAL, _network(SID_TABLE, 4), accept, drop),
        (RETURN, ALL, "", ""),
        (RETURN, 0, "", ""),
    ]
    last = len(lines)
    at = {"route": 3, "table": 11, accept: last - 2, drop: last - 1}

    def jump(target: str, line: int) -> int:
        return at[target] - line - 1 if target else 0

    return assembled(
        (code, jump(yes, i), jump(no, i), operand)
        for i, (code, operand, yes, no) in enumerate(lines)
    )


def _network(value: int, size: int) -> int:
    """A number in host order as classic BPF loads it: in network order."""
    return int.from_bytes(struct.pack({2: "=H", 4: "=I"}[size], value), "big")


def listening(
    groups: Iterable[int], buffer: int, *, family: int = wire.NETLINK_ROUTE, code: bytes = b""
) -> socket.socket:
    """A socket that does not block, joined to these groups. Notifications that the filter ``code``
    does not accept are dropped. Raises OSError where the kernel has no such family."""
    made = open_socket(family, buffer)
    try:
        if code:
            # Before joining: what comes in between would pass unfiltered.
            attach(made, code)
        made.bind((0, 0))
        for group in groups:
            made.setsockopt(wire.SOL_NETLINK, wire.NETLINK_ADD_MEMBERSHIP, group)
    except OSError:
        made.close()
        raise
    made.setblocking(False)
    return made


def discard(netlink: socket.socket) -> None:
    """Take what has come in, where it only matters that something did: no more than a part of it,
    since others may send faster than this reads. Lost notifications (ENOBUFS) matter no more."""
    for _ in turn():
        try:
            netlink.recv(_DATAGRAM)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise


def turn() -> Iterator[None]:
    """Once for each datagram that an event loop may take now; the rest waits in the socket, which
    stays readable. By time and not by number: with a thousand VRFs each takes ten times as long."""
    until = time.thread_time() + _TURN
    yield
    while time.thread_time() < until:
        yield
