"""Probes and their forms. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

from srv6mgrd.cli.oam import packet
from srv6mgrd.cli.oam.packet import Address
from srv6mgrd.cli.oam.reply import Kind, Reply

HOP_LIMIT = 64


class Probe(Protocol):
    """``vrf`` names the VRF that it is sent in, or is empty; ``segments`` are the SIDs that it is
    sent through, the target included."""

    @property
    def vrf(self) -> str: ...

    @property
    def form(self) -> str: ...

    @property
    def source(self) -> Address: ...

    @property
    def loops(self) -> bool:
        """It is sent to this router."""

    @property
    def segments(self) -> tuple[IPv6Address, ...]: ...

    def pack(self, ident: int, sequence: int, hop_limit: int) -> bytes: ...

    def arrived(self, reply: Reply) -> bool:
        """Whether an answer shows that the probe came to its target."""


@dataclass(frozen=True, slots=True)
class Echo:
    """An echo request to the last segment (RFC 9259 section 3.1)."""

    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    size: int = 0
    vrf: str = ""
    form: str = "echo"

    def pack(self, ident: int, sequence: int, hop_limit: int = HOP_LIMIT) -> bytes:
        following, message = packet.echo(
            self.source, self.segments[-1], ident, sequence, bytes(self.size)
        )
        return packet.routed(self.source, self.segments, following, hop_limit, message)

    @property
    def loops(self) -> bool:
        return False

    def arrived(self, reply: Reply) -> bool:
        return reply.kind is Kind.ECHO_REPLY


@dataclass(frozen=True, slots=True)
class Loop:
    """An echo request through all segments back to its source: it needs no answer of a SID, and
    Linux gives none. ``encapsulated``: it is a packet in a packet, as proxies need it."""

    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    size: int = 0
    encapsulated: bool = False
    vrf: str = ""
    form: str = "loop"

    def pack(self, ident: int, sequence: int, hop_limit: int = HOP_LIMIT) -> bytes:
        source = self.source
        following, message = packet.echo(source, source, ident, sequence, bytes(self.size))
        if self.encapsulated:
            message = packet.ip(source, source, following, HOP_LIMIT, message)
            following = packet.IPV6
        return packet.routed(source, (*self.segments, source), following, hop_limit, message)

    @property
    def loops(self) -> bool:
        return True

    def arrived(self, reply: Reply) -> bool:
        return not reply.is_error or self.is_on_its_way_back(reply)

    def is_on_its_way_back(self, reply: Reply) -> bool:
        """The router that it expired at had it behind the last SID."""
        if reply.kind is not Kind.TIME_EXCEEDED or reply.quoted is None:
            return False
        return reply.quoted.destination == self.source


@dataclass(frozen=True, slots=True)
class Host:
    """An echo request in a VRF, which the kernel encapsulates as it does for customers."""

    vrf: str
    source: Address
    destination: Address
    size: int = 0
    segments: tuple[IPv6Address, ...] = ()
    form: str = "host"

    def pack(self, ident: int, sequence: int, hop_limit: int = HOP_LIMIT) -> bytes:
        source, destination, data = self.source, self.destination, bytes(self.size)
        if isinstance(source, IPv6Address) and isinstance(destination, IPv6Address):
            following, message = packet.echo(source, destination, ident, sequence, data)
            return packet.ip(source, destination, following, hop_limit, message)
        assert isinstance(source, IPv4Address)
        assert isinstance(destination, IPv4Address)
        following, message = packet.echo(source, destination, ident, sequence, data)
        return packet.ip(source, destination, following, hop_limit, message)

    @property
    def loops(self) -> bool:
        return self.source == self.destination

    def arrived(self, reply: Reply) -> bool:
        return not reply.is_error


@dataclass(frozen=True, slots=True)
class Vpn:
    """A packet of a VRF in one to the SID of the other edge. With an ``inner_hop_limit`` of 1 that
    edge answers that it took the packet out. An inner destination that is the inner source is the
    way through the other edge and back."""

    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    inner: Host
    inner_hop_limit: int = 1
    # The encapsulation is done: it goes out as any packet of the core.
    vrf: str = ""
    form: str = "sid"

    def pack(self, ident: int, sequence: int, hop_limit: int = HOP_LIMIT) -> bytes:
        inner = self.inner.pack(ident, sequence, self.inner_hop_limit)
        following = packet.IPV6 if self.inner.source.version == 6 else packet.IPV4
        return packet.routed(self.source, self.segments, following, hop_limit, inner)

    def arrived(self, reply: Reply) -> bool:
        if reply.kind is Kind.TIME_EXCEEDED:
            # The answer is about the packet within.
            return reply.quoted is not None and reply.quoted.destination == self.inner.destination
        return not reply.is_error

    @property
    def loops(self) -> bool:
        return self.inner.loops


def destination_of(data: bytes) -> Address:
    """Where a packed probe goes first."""
    if data[0] >> 4 == 6:
        return IPv6Address(data[24:40])
    return IPv4Address(data[16:20])
