"""Raw sockets for probes and their answers. Need CAP_NET_RAW."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.cli.oam import packet, reply
from srv6mgrd.cli.oam.probe import destination_of
from srv6mgrd.cli.oam.reply import Reply

# linux/icmpv6.h: one bit for each type, set where it is not passed.
_ICMP6_FILTER = 1
_ICMPV6_TYPES = (1, 2, 3, 4, 128, 129)
# linux/in6.h
_IPV6_MTU_DISCOVER, _PMTUDISC_PROBE = 23, 3
_ROOM = 65536
# Discard port: connect() only chooses a source.
_ANY_PORT = 9


class RawSockets:
    """Probes of the default VRF, and of others. Raises OSError when it is made."""

    def __init__(self, *vrfs: str) -> None:
        self._sockets: list[socket.socket] = []
        try:
            self._open(vrfs)
        except OSError:
            self.close()
            raise

    def _open(self, vrfs: Sequence[str]) -> None:
        raw = socket.IPPROTO_RAW
        core = self._made(socket.AF_INET6, raw)
        # A path MTU that the kernel learned would keep from finding the router that it is of.
        core.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _PMTUDISC_PROBE)
        self._senders = {(6, ""): core}
        self._listeners = [self._icmpv6(), self._made(socket.AF_INET6, packet.ROUTING)]
        for vrf in vrfs:
            self._senders |= {
                (6, vrf): self._made(socket.AF_INET6, raw, vrf),
                (4, vrf): self._made(socket.AF_INET, raw, vrf),
            }
            # Those without a VRF get its packets only with net.ipv4.raw_l3mdev_accept.
            self._listeners += [
                self._icmpv6(vrf),
                self._made(socket.AF_INET, packet.ICMP, vrf),
            ]

    def _icmpv6(self, vrf: str = "") -> socket.socket:
        made = self._made(socket.AF_INET6, packet.ICMPV6, vrf)
        blocked = [0xFFFFFFFF] * 8
        for kind in _ICMPV6_TYPES:
            blocked[kind >> 5] &= ~(1 << (kind & 31))
        made.setsockopt(socket.IPPROTO_ICMPV6, _ICMP6_FILTER, struct.pack("=8I", *blocked))
        return made

    def _made(self, family: int, protocol: int, vrf: str = "") -> socket.socket:
        made = socket.socket(family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, protocol)
        self._sockets.append(made)
        if vrf:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, vrf.encode())
        return made

    def close(self) -> None:
        for one in self._sockets:
            one.close()

    def send(self, data: bytes, vrf: str) -> None:
        to = destination_of(data)
        self._senders[to.version, vrf].sendto(data, (str(to), 0))

    def receive(self, timeout: float) -> Reply | None:
        until = time.monotonic() + timeout
        while True:
            left = max(0.0, until - time.monotonic())
            ready, _, _ = select.select(self._listeners, [], [], left)
            for one in ready:
                if (found := _read(one)) is not None:
                    return found
            if not ready:
                return None


def _read(one: socket.socket) -> Reply | None:
    try:
        data, peer = one.recvfrom(_ROOM)
    except OSError:
        return None
    if one.family == socket.AF_INET:
        return reply.of_ipv4(data)
    sender = IPv6Address(peer[0].partition("%")[0])
    if one.proto == packet.ROUTING:
        return reply.of_routing(data, sender)
    return reply.of_icmp(data, sender)


def source_towards(destination: IPv6Address) -> IPv6Address:
    """The address that the kernel would send from. Raises OSError without a route."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one:
        one.connect((str(destination), _ANY_PORT))
        return IPv6Address(one.getsockname()[0].partition("%")[0])


def first_of(
    version: int, addresses: Iterable[IPv4Address | IPv6Address]
) -> IPv4Address | IPv6Address | None:
    """The first global address of a version."""
    fitting = (a for a in addresses if a.version == version)
    return next((a for a in fitting if not (a.is_link_local or a.is_loopback)), None)
