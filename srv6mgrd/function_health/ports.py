"""Interfaces of functions as the kernel has them, and sockets that send on them."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from srv6mgrd.function_health.checks import Port
from srv6mgrd.kinds.address import kernel as addresses
from srv6mgrd.kinds.address.object import InterfaceAddress
from srv6mgrd.netlink import links, neighbors, wire
from srv6mgrd.netlink.adjacencies import usable
from srv6mgrd.netlink.socket import NetlinkSocket, answers

_FAMILIES = (socket.AF_INET, socket.AF_INET6)
# RFC 863: who gets it has to resolve the neighbor, and no more.
_DISCARD = 9
_SO_BINDTODEVICE = 25


class Ports:
    """Reads what is there; for one thread. Raises KernelError."""

    def __init__(self) -> None:
        self._netlink = NetlinkSocket()

    def close(self) -> None:
        self._netlink.close()

    def read(self) -> dict[str, Port]:
        """All interfaces by name."""
        found = links.read_all(self._netlink)
        dumps = [self._netlink.dump(addresses.get_all(f)) for f in _FAMILIES]
        own: dict[str, list[IPv4Interface | IPv6Interface]] = {}
        for item in addresses.observed(dumps, {one.index: one.name for one in found}):
            if isinstance(item.object, InterfaceAddress):
                own.setdefault(item.object.interface, []).append(item.object.address)
        return {
            one.name: Port(
                one.index, one.up and one.carrier, one.address, tuple(own.get(one.name, ()))
            )
            for one in found
        }

    def macs(self) -> dict[tuple[int, str], bytes]:
        """Of neighbors, by interface and address."""
        bodies = answers(self._netlink.dump(neighbors.get_all()), wire.RTM_NEWNEIGH)
        return {
            (index, address): bytes.fromhex(mac.replace(":", ""))
            for address, index, mac in usable(bodies)
        }


class Senders:
    """A packet socket for each interface. They receive nothing."""

    def __init__(self) -> None:
        self._sockets: dict[tuple[str, int], socket.socket] = {}

    def keep(self, ports: Mapping[str, Port], names: Iterable[str]) -> None:
        """Close those of interfaces that are gone, or another by now."""
        wanted = {(name, ports[name].index) for name in names if name in ports}
        for key in [key for key in self._sockets if key not in wanted]:
            self._sockets.pop(key).close()

    def close(self) -> None:
        self.keep({}, ())

    def send(self, name: str, index: int, frames: Sequence[bytes]) -> tuple[str, bool]:
        """The problem, where they can't be sent, and whether that is certain: a queue that is full
        says as little as one packet that does not come back."""
        try:
            if (opened := self._sockets.get((name, index))) is None:
                opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
                self._sockets[name, index] = opened
                opened.bind((name, 0))
            for frame in frames:
                opened.send(frame)
        except OSError as error:
            with suppress(KeyError):
                self._sockets.pop((name, index)).close()
            if error.errno in (errno.ENETDOWN, errno.ENXIO, errno.ENODEV):
                gone = "is down" if error.errno == errno.ENETDOWN else "does not exist"
                return f"interface {name} {gone}", True
            return f"interface {name}: {error.strerror}", False
        return "", False


def resolve(name: str, address: IPv4Address | IPv6Address) -> None:
    """Have the kernel ask for the MAC address of a neighbor."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, name.encode() + b"\0")
        asking.setblocking(False)
        asking.sendto(b"", (str(address), _DISCARD))
