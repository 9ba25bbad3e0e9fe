"""Which interfaces get an IPv6 address, as it happens."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from ipaddress import IPv6Address
from pathlib import Path

from srv6mgrd.netlink import wire
from srv6mgrd.netlink.listening import listening, turn

_BUFFER = 1 << 20
_DATAGRAM = 1 << 16
_ADDRESSES = Path("/proc/self/net/if_inet6")


class NewAddresses:
    """Async iterator over the names of interfaces with a new address that is not link-local."""

    def __init__(self) -> None:
        self._socket = listening([wire.RTNLGRP_IPV6_IFADDR], _BUFFER)

    def close(self) -> None:
        self._socket.close()

    def __aiter__(self) -> AsyncIterator[set[str]]:
        return self

    async def __anext__(self) -> set[str]:
        """Waits for one; those that have come in since the last time are handed over together."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                found = set(_names(await loop.sock_recv(self._socket, _DATAGRAM)))
                with suppress(BlockingIOError):
                    for _ in turn():
                        found.update(_names(self._socket.recv(_DATAGRAM)))
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                # Some were lost: it may have been any.
                return {name for _, name in socket.if_nameindex()}
            if found:
                return found


def _names(datagram: bytes) -> list[str]:
    found = []
    for kind, _, _, body in wire.messages(datagram):
        _, _, _, scope, index = wire.IFADDRMSG.unpack_from(body)
        if kind == wire.RTM_NEWADDR and scope != wire.RT_SCOPE_LINK:
            with suppress(OSError):  # It has gone meanwhile.
                found.append(socket.if_indextoname(index))
    return found


def ipv6_addresses(file: Path = _ADDRESSES) -> set[IPv6Address]:
    """All that this network namespace has at present, in any VRF (if6_seq_show)."""
    with suppress(OSError):
        lines = file.read_text().splitlines()
        return {IPv6Address(bytes.fromhex(line.partition(" ")[0])) for line in lines}
    return set()
