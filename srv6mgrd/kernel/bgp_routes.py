"""Which host routes of BGP go from the kernel's IPv6 tables: zebra's SIDs are among them."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from ipaddress import IPv6Address

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.classic_filter import LOAD_BYTE, LOAD_HALF, all_of
from srv6mgrd.netlink.listening import listening

# linux/rtnetlink.h
_RTPROT_BGP = 186
_BUFFER = 1 << 20
_DATAGRAM = 1 << 16


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
            # Where there is one already, ``sock_recv`` gives nobody a turn.
            await asyncio.sleep(0)
            return [_destination(body) for _, _, _, body in wire.messages(datagram)]


def _destination(body: memoryview) -> IPv6Address:
    return IPv6Address(bytes(wire.attribute_map(body, wire.RTMSG.size)[wire.RTA_DST]))


def _program() -> bytes:
    """Classic BPF: accept RTM_DELROUTE of IPv6, of a /128, of protocol bgp."""
    rtm = wire.NLMSGHDR.size
    return all_of(
        (LOAD_HALF, 4, socket.htons(wire.RTM_DELROUTE)),
        (LOAD_BYTE, rtm, socket.AF_INET6),
        (LOAD_BYTE, rtm + 1, 128),
        (LOAD_BYTE, rtm + 5, _RTPROT_BGP),
    )
