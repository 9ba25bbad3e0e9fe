"""Neighbors as the kernel resolved them: on plain Linux there is no neighsyncd that would write
NEIGH_TABLE. Nothing is asked of the kernel but what it knows; no neighbor is resolved."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncIterator, Iterable, Iterator
from ipaddress import ip_address

from orchagent.nodes import Fields, Kind, Node
from srv6mgrd.netlink import links, wire
from srv6mgrd.netlink.socket import NetlinkSocket, answers, open_socket

# linux/rtnetlink.h, linux/neighbour.h
_RTM_NEWNEIGH, _RTM_GETNEIGH = 28, 30
_RTNLGRP_NEIGH = 3
_NDA_DST, _NDA_LLADDR = 1, 2
# family, padding, ifindex, state, flags, type (struct ndmsg)
_NDMSG = struct.Struct("=BxxxiHBB")
# NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE, NUD_PERMANENT: an address can be used.
_USABLE = 0x02 | 0x04 | 0x08 | 0x10 | 0x80
_BUFFER = 1 << 20
# Neighbors change state all the time; they are read once so often, in seconds, at most.
_SETTLE = 0.1


def request() -> bytes:
    """A dump of all neighbors, of both families."""
    length = wire.NLMSGHDR.size + _NDMSG.size
    header = wire.NLMSGHDR.pack(length, _RTM_GETNEIGH, wire.NLM_F_REQUEST | wire.NLM_F_DUMP, 0, 0)
    return header + _NDMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)


def usable(bodies: Iterable[memoryview]) -> Iterator[tuple[str, int, str]]:
    """Address, ifindex and link-layer address of the neighbors (bodies of RTM_NEWNEIGH) that
    packets can go to."""
    for body in bodies:
        family, index, state, _, _ = _NDMSG.unpack_from(body)
        found = wire.attribute_map(body, _NDMSG.size)
        address = found.get(_NDA_DST)
        if family not in (socket.AF_INET, socket.AF_INET6) or address is None:
            continue
        if state & _USABLE and (link := found.get(_NDA_LLADDR)):
            yield str(ip_address(bytes(address))), index, bytes(link).hex(":")


class KernelNeighbors:
    """Those of the network namespace that this runs in. Raises OSError where there is no netlink;
    reading raises KernelError."""

    def __init__(self) -> None:
        self._asking = NetlinkSocket()
        self._hearing = open_socket(wire.NETLINK_ROUTE, _BUFFER)
        self._hearing.setsockopt(wire.SOL_NETLINK, wire.NETLINK_ADD_MEMBERSHIP, _RTNLGRP_NEIGH)
        self._hearing.setblocking(False)

    def read(self) -> dict[Node, Fields]:
        """All that packets can go to now, as rows of NEIGH_TABLE would have them."""
        # Not socket.if_nameindex: it opens a descriptor each time, of which there may be none left.
        names = {link.index: link.name for link in links.read_all(self._asking)}
        bodies = answers(self._asking.dump(request()), _RTM_NEWNEIGH)
        return {
            Node(Kind.NEIGHBOR, f"{address}@{names[index]}"): {"neigh": mac}
            for address, index, mac in usable(bodies)
            if index in names
        }

    async def changes(self) -> AsyncIterator[None]:
        """Whenever some may have changed."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                await loop.sock_recv(self._hearing, _BUFFER)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
            await asyncio.sleep(_SETTLE)
            self._forget()
            yield

    def _forget(self) -> None:
        """What is read next answers these, too."""
        while True:
            try:
                self._hearing.recv(_BUFFER)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise

    def close(self) -> None:
        self._asking.close()
        self._hearing.close()
