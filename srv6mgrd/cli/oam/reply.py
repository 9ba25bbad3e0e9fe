"""Answers to probes: echo replies, probes that came back, and ICMP errors with the packet that they
are about. Pure; the bytes are a stranger's."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.cli.oam import packet
from srv6mgrd.cli.oam.packet import Address

_SRH = 4
_EXTENSIONS = frozenset({packet.HOP_BY_HOP, packet.DESTINATION, packet.ROUTING, packet.FRAGMENT})
# Headers of IP one in the other, and extension headers, that are looked through.
_MOST_HEADERS = 16
_ERROR_HEAD = 8


class Kind(StrEnum):
    """``RETURNED``: the probe itself, on its way back through a SID."""

    ECHO_REPLY = "echo-reply"
    RETURNED = "returned"
    TIME_EXCEEDED = "time-exceeded"
    UNREACHABLE = "unreachable"
    TOO_BIG = "packet-too-big"
    PARAMETER_PROBLEM = "parameter-problem"


@dataclass(frozen=True, slots=True)
class Header:
    """An IP header with its segment routing header: ``segments`` first one first, ``left`` how
    many of them follow the destination; both empty without one."""

    source: Address
    destination: Address
    hop_limit: int
    segments: tuple[IPv6Address, ...] = ()
    left: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """``ident`` and ``sequence`` are those of the probe, ``quoted`` its outer header where
    ``sender`` had it. ``detail`` is the MTU, or the offset of a parameter problem."""

    kind: Kind
    sender: Address
    ident: int
    sequence: int
    code: int = 0
    quoted: Header | None = None
    detail: int = 0

    @property
    def is_error(self) -> bool:
        return self.kind not in (Kind.ECHO_REPLY, Kind.RETURNED)


# By version of IP: type of an error.
_ERRORS: Mapping[int, Mapping[int, Kind]] = {
    4: {3: Kind.UNREACHABLE, 11: Kind.TIME_EXCEEDED, 12: Kind.PARAMETER_PROBLEM},
    6: {
        1: Kind.UNREACHABLE,
        2: Kind.TOO_BIG,
        3: Kind.TIME_EXCEEDED,
        4: Kind.PARAMETER_PROBLEM,
    },
}
_FRAGMENTATION_NEEDED = 4


def of_icmp(message: bytes, sender: Address) -> Reply | None:
    """An ICMP message of the version of ``sender``; None for what is no answer."""
    if len(message) < _ERROR_HEAD:
        return None
    version = sender.version
    kind, code, _, ident, sequence = struct.unpack_from("!BBHHH", message)
    if kind == packet.ECHO_REPLY[version]:
        return Reply(Kind.ECHO_REPLY, sender, ident, sequence)
    if kind == packet.ECHO_REQUEST[version]:
        return Reply(Kind.RETURNED, sender, ident, sequence)
    if (error := _ERRORS[version].get(kind)) is None:
        return None
    if (about := _packet(message[_ERROR_HEAD:])) is None:
        return None
    header, ident, sequence = about
    detail = int.from_bytes(message[4:8]) if version == 6 else sequence_of_mtu(message)
    if version == 4 and error is Kind.UNREACHABLE and code == _FRAGMENTATION_NEEDED:
        error = Kind.TOO_BIG
    return Reply(error, sender, ident, sequence, code, header, detail)


def sequence_of_mtu(message: bytes) -> int:
    """The MTU of an ICMP error (RFC 1191)."""
    return int.from_bytes(message[6:8])


def of_ipv4(data: bytes) -> Reply | None:
    """An ICMP message with its IPv4 header, as raw sockets have it."""
    if len(data) < 20 or data[9] != packet.ICMP:
        return None
    return of_icmp(data[4 * (data[0] & 0xF) :], IPv4Address(data[12:16]))


def of_routing(data: bytes, sender: Address) -> Reply | None:
    """A probe that came back, from its segment routing header on."""
    found = _upper(data, packet.ROUTING)
    if found is None or (echo := found.echo) is None:
        return None
    return Reply(Kind.RETURNED, sender, *echo)


@dataclass(slots=True)
class _Upper:
    segments: tuple[IPv6Address, ...] = ()
    left: int | None = None
    echo: tuple[int, int] | None = None


def _packet(data: bytes) -> tuple[Header, int, int] | None:
    """The outer header of a packet, and the echo in it; a part of it is enough."""
    found = _ip(data)
    if found is None:
        return None
    source, destination, following, hop_limit, size = found
    upper = _upper(data[size:], following)
    if upper is None or upper.echo is None:
        return None
    header = Header(source, destination, hop_limit, upper.segments, upper.left)
    return header, *upper.echo


def _ip(data: bytes) -> tuple[Address, Address, int, int, int] | None:
    """Source, destination, next header, hop limit and length of an IP header."""
    version = data[0] >> 4 if data else 0
    if version == 6 and len(data) >= 40:
        return IPv6Address(data[8:24]), IPv6Address(data[24:40]), data[6], data[7], 40
    if version == 4 and len(data) >= 20:
        size = 4 * (data[0] & 0xF)
        return IPv4Address(data[12:16]), IPv4Address(data[16:20]), data[9], data[8], size
    return None


def _upper(data: bytes, following: int) -> _Upper | None:
    """What is behind an IP header: the first segment routing header, and the echo behind all
    headers; None for anything else, or less."""
    found, at = _Upper(), 0
    for _ in range(_MOST_HEADERS):
        if following in (packet.ICMP, packet.ICMPV6):
            if len(data) < at + _ERROR_HEAD:
                return None
            version = 4 if following == packet.ICMP else 6
            kind, ident, sequence = struct.unpack_from("!BxxxHH", data, at)
            if kind not in (packet.ECHO_REQUEST[version], packet.ECHO_REPLY[version]):
                return None
            found.echo = ident, sequence
            return found
        if following in (packet.IPV4, packet.IPV6):
            inner = _ip(data[at:])
            if inner is None:
                return None
            _, _, following, _, size = inner
            at += size
        elif following in _EXTENSIONS:
            if len(data) < at + 8:
                return None
            size = 8 if following == packet.FRAGMENT else 8 * (data[at + 1] + 1)
            if following == packet.ROUTING and data[at + 2] == _SRH and found.left is None:
                found.segments = _segments(data[at : at + size])
                found.left = data[at + 3]
            following, at = data[at], at + size
        else:
            return None
    return None


def _segments(header: bytes) -> tuple[IPv6Address, ...]:
    """Of a segment routing header, as many as it holds whole; the last one is first on the wire."""
    count = min(header[4] + 1, (len(header) - 8) // 16)
    return tuple(IPv6Address(header[8 + 16 * n : 24 + 16 * n]) for n in reversed(range(count)))


_UNREACHABLE = {
    6: {
        0: "no route",
        1: "administratively prohibited",
        2: "beyond the scope of the source address",
        3: "the neighbor does not answer",
        4: "nothing listens at this port",
        5: "the source address is not permitted",
        6: "a route rejects it",
    },
    4: {
        0: "no route",
        1: "the host does not answer",
        2: "the protocol is not known",
        3: "nothing listens at this port",
        9: "administratively prohibited",
        10: "administratively prohibited",
        13: "administratively prohibited",
    },
}
_PARAMETER = {
    0: "a header field has no meaning for it",
    1: "it does not know the next header",
    2: "it does not know an option",
    4: "the SID does not take this upper-layer header",
}


def cause(reply: Reply) -> str:
    """Why a router did not pass a packet on."""
    match reply.kind:
        case Kind.UNREACHABLE:
            known = _UNREACHABLE[reply.sender.version]
            return known.get(reply.code, f"unreachable, code {reply.code}")
        case Kind.TOO_BIG:
            return f"packet too big for an MTU of {reply.detail}"
        case Kind.PARAMETER_PROBLEM:
            what = _PARAMETER.get(reply.code, f"code {reply.code}")
            return f"parameter problem at byte {reply.detail}: {what}"
        case Kind.TIME_EXCEEDED:
            return "hop limit exceeded" if reply.code == 0 else "fragments are missing"
        case _:
            return ""
