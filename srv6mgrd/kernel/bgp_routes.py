"""Which host routes of BGP go from the kernel's IPv6 tables: zebra's SIDs are among them."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncIterator
from ipaddress import IPv6Address

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.listening import listening

# linux/rtnetlink.h
_RTPROT_BGP = 186
_BUFFER = 1 << 20
_DATAGRAM = 1 << 16
# linux/filter.h, linux/bpf_common.h
_LOAD_HALF, _LOAD_BYTE, _JUMP_EQUAL, _RETURN = 0x28, 0x30, 0x15, 0x06


class BgpHostRoutes:
    """Async iterator over the destinations of routes to /128 that BGP's daemon removed. A filter
    in the kernel drops all other notifications: a full BGP feed costs nothing."""

    def __init__(self) -> None:
        self._socket = listening([wire.RTNLGRP_IPV6_ROUTE], _BUFFER, code=_program())

    def close(self) -> None:
        self._socket.close()

    def __aiter__(self) -> AsyncIterator[list[IPv6Address]]:
        return self

    async def __anext__(self) -> list[IPv6Address]:
        """Waits until routes were removed."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                datagram = await loop.sock_recv(self._socket, _DATAGRAM)
            except OSError as error:
                # Lost notifications are no loss: the next ones report the same.
                if error.errno != errno.ENOBUFS:
                    raise
                continue
            return [_destination(body) for _, _, _, body in wire.messages(datagram)]


def _destination(body: memoryview) -> IPv6Address:
    return IPv6Address(bytes(wire.attribute_map(body, wire.RTMSG.size)[wire.RTA_DST]))


def _program() -> bytes:
    """Classic BPF: accept RTM_DELROUTE of IPv6, of a /128, of protocol bgp."""
    rtm = wire.NLMSGHDR.size
    tests = (
        (_LOAD_HALF, 4, socket.htons(wire.RTM_DELROUTE)),
        (_LOAD_BYTE, rtm, socket.AF_INET6),
        (_LOAD_BYTE, rtm + 1, 128),
        (_LOAD_BYTE, rtm + 5, _RTPROT_BGP),
    )
    lines: list[tuple[int, int, int, int]] = []
    for number, (load, offset, value) in enumerate(tests):
        lines.append((load, 0, 0, offset))
        to_drop = 2 * (len(tests) - number - 1) + 1
        lines.append((_JUMP_EQUAL, 0, to_drop, value))
    lines += [(_RETURN, 0, 0, 0xFFFFFFFF), (_RETURN, 0, 0, 0)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
