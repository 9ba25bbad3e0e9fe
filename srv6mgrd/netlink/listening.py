"""Sockets for notifications, and filters on those of routes (SO_ATTACH_FILTER): what these drop
costs neither a wake-up nor room in the receive buffer."""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import Iterable

from srv6mgrd.model.reserved import ROUTE_PROTOCOL, SID_TABLE
from srv6mgrd.netlink import wire
from srv6mgrd.netlink.socket import open_socket

# linux/filter.h, linux/bpf_common.h
_SO_ATTACH_FILTER = 26
_LOAD_WORD = 0x20
_LOAD_HALF = 0x28
_LOAD_BYTE = 0x30
_JUMP_EQUAL = 0x15
_RETURN = 0x06
_ALL = 0xFFFFFFFF


def program(ignore_port: int) -> bytes:
    """Classic BPF over one notification: accept all but routes; of those the ones of our protocol,
    in the SID table, and unreachable defaults, unless the change came from ``ignore_port``."""
    rtm = wire.NLMSGHDR.size
    attribute = rtm + wire.RTMSG.size
    accept, drop = "accept", "drop"
    # Code, operand, target if equal, target if not ("" falls through).
    lines: list[tuple[int, int, str, str]] = [
        (_LOAD_HALF, 4, "", ""),
        (_JUMP_EQUAL, _network(wire.RTM_NEWROUTE, 2), "route", ""),
        (_JUMP_EQUAL, _network(wire.RTM_DELROUTE, 2), "route", accept),
        # Port 0 is the kernel itself, which is never ignored.
        (_LOAD_WORD, 12, "", ""),
        (_JUMP_EQUAL, _network(ignore_port, 4), drop if ignore_port else "", ""),
        (_LOAD_BYTE, rtm + 5, "", ""),
        (_JUMP_EQUAL, ROUTE_PROTOCOL, accept, ""),
        (_LOAD_BYTE, rtm + 1, "", ""),
        (_JUMP_EQUAL, 0, "", "table"),
        (_LOAD_BYTE, rtm + 7, "", ""),
        (_JUMP_EQUAL, wire.RTN_UNREACHABLE, accept, ""),
        (_LOAD_BYTE, rtm, "", ""),
        (_JUMP_EQUAL, socket.AF_INET6, "", drop),
        # Both families write RTA_TABLE first (rt6_fill_node, fib_dump_info). Where it is not,
        # decode() decides.
        (_LOAD_HALF, attribute + 2, "", ""),
        (_JUMP_EQUAL, _network(wire.RTA_TABLE, 2), "", accept),
        (_LOAD_WORD, attribute + 4, "", ""),
        (_JUMP_EQUAL, _network(SID_TABLE, 4), accept, drop),
        (_RETURN, _ALL, "", ""),
        (_RETURN, 0, "", ""),
    ]
    last = len(lines)
    at = {"route": 3, "table": 11, accept: last - 2, drop: last - 1}

    def jump(target: str, line: int) -> int:
        return at[target] - line - 1 if target else 0

    return b"".join(
        struct.pack("=HBBI", code, jump(yes, i), jump(no, i), operand)
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
            _attach(made, code)
        made.bind((0, 0))
        for group in groups:
            made.setsockopt(wire.SOL_NETLINK, wire.NETLINK_ADD_MEMBERSHIP, group)
    except OSError:
        made.close()
        raise
    made.setblocking(False)
    return made


def _attach(target: socket.socket, code: bytes) -> None:
    """Have the kernel drop what this filter does not accept."""
    # struct sock_fprog: the kernel copies the instructions during the call.
    held = ctypes.create_string_buffer(code, len(code))
    pointer = ctypes.addressof(held)
    target.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(code) // 8, pointer)
    )
