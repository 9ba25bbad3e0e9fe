"""Neighbors whose link-layer address is resolved. Nothing is asked of the kernel but what it knows;
no neighbor is resolved."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from ipaddress import ip_address
from threading import Lock
from typing import NamedTuple

from srv6mgrd.netlink import links, neighbors, wire
from srv6mgrd.netlink.listening import discard, listening
from srv6mgrd.netlink.socket import NetlinkSocket, answers

# linux/rtnetlink.h
_RTNLGRP_LINK, _RTNLGRP_NEIGH = 1, 3
# NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE, NUD_PERMANENT: an address can be used.
_USABLE = 0x02 | 0x04 | 0x08 | 0x10 | 0x80
_BUFFER = 1 << 20
# Neighbors change state all the time; they are read once so often, in seconds, at most.
_SETTLE = 0.1


class Neighbor(NamedTuple):
    """A neighbor that packets can go to."""

    address: str
    interface: str
    mac: str


def usable(bodies: Iterable[memoryview]) -> Iterator[tuple[str, int, str]]:
    """Address, ifindex and link-layer address of the neighbors (bodies of RTM_NEWNEIGH) that
    packets can go to."""
    for body in bodies:
        family, _, index, state, _, _ = wire.NDMSG.unpack_from(body)
        found = wire.attribute_map(body, wire.NDMSG.size)
        address = found.get(wire.NDA_DST)
        if family not in (socket.AF_INET, socket.AF_INET6) or address is None:
            continue
        if state & _USABLE and (link := found.get(wire.NDA_LLADDR)):
            yield str(ip_address(bytes(address))), index, bytes(link).hex(":")


class KernelNeighbors:
    """Those of the network namespace that this runs in, with its VRFs. Raises OSError where there
    is no netlink; reading raises KernelError."""

    def __init__(self) -> None:
        self._asking = NetlinkSocket()
        self._hearing = listening((_RTNLGRP_NEIGH, _RTNLGRP_LINK), _BUFFER)
        # A thread that nobody awaits any more may still be asking.
        self._turn = Lock()

    def read(self) -> list[Neighbor]:
        """All that packets can go to now. Thousands take a while: not for an event loop."""
        with self._turn:
            # Not socket.if_nameindex: it opens a descriptor each time, of which there may be none
            # left.
            names = {link.index: link.name for link in links.read_all(self._asking)}
            bodies = answers(self._asking.dump(neighbors.get_all()), wire.RTM_NEWNEIGH)
        return [
            Neighbor(address, names[index], mac)
            for address, index, mac in usable(bodies)
            if index in names
        ]

    def vrf_tables(self) -> dict[str, int]:
        """Tables of the VRFs that exist, by name. Not for an event loop either."""
        with self._turn:
            return {link.name: link.table for link in links.read_all(self._asking) if link.table}

    async def changes(self) -> AsyncIterator[None]:
        """Whenever neighbors or links may have changed."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                await loop.sock_recv(self._hearing, _BUFFER)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
            await asyncio.sleep(_SETTLE)
            # The next read answers these, too.
            discard(self._hearing)
            yield

    def close(self) -> None:
        self._asking.close()
        self._hearing.close()
