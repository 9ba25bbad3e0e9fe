"""Packets of ping and trace as bytes: IPv4, IPv6 with a segment routing header, ICMP echo. Pure."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import TypeVar

from srv6mgrd.netlink import srh
from srv6mgrd.netlink.checksum import checksum

# Next headers (IANA protocol numbers).
HOP_BY_HOP, ICMP, IPV4, IPV6, ROUTING, FRAGMENT, ICMPV6, DESTINATION = 0, 1, 4, 41, 43, 44, 58, 60
# ICMP and ICMPv6 types, by version of IP.
ECHO_REQUEST = {4: 8, 6: 128}
ECHO_REPLY = {4: 0, 6: 129}

_IPV4 = struct.Struct("!BBHHHBBH4s4s")
_IPV6 = struct.Struct("!IHBB16s16s")
_ECHO = struct.Struct("!BBHHH")
_PSEUDO = struct.Struct("!16s16sI3xB")

Address = IPv4Address | IPv6Address
SameVersion = TypeVar("SameVersion", IPv4Address, IPv6Address)


def ip(
    source: SameVersion, destination: SameVersion, following: int, hop_limit: int, payload: bytes
) -> bytes:
    """A packet of either version."""
    ends = source.packed, destination.packed
    if source.version == 6:
        head = _IPV6.pack(6 << 28, len(payload), following, hop_limit, *ends)
        return head + payload
    size = _IPV4.size + len(payload)
    head = _IPV4.pack(0x45, 0, size, 0, 0, hop_limit, following, 0, *ends)
    return head[:10] + checksum(head).to_bytes(2) + head[12:] + payload


def routed(
    source: IPv6Address,
    segments: Sequence[IPv6Address],
    following: int,
    hop_limit: int,
    payload: bytes,
) -> bytes:
    """A packet over segments, the first one first; a single one needs no header (RFC 8754 section
    4.1)."""
    if len(segments) > 1:
        header = srh.pack(segments)
        payload = bytes([following]) + header[1:] + payload
        following = ROUTING
    return ip(source, segments[0], following, hop_limit, payload)


def echo(
    source: SameVersion, destination: SameVersion, ident: int, sequence: int, data: bytes
) -> tuple[int, bytes]:
    """An echo request, and its next header. The destination is the last one on the way."""
    kind = ECHO_REQUEST[source.version]
    message = _ECHO.pack(kind, 0, 0, ident, sequence) + data
    if source.version == 6:
        ends = source.packed, destination.packed
        summed = checksum(_PSEUDO.pack(*ends, len(message), ICMPV6) + message)
    else:
        summed = checksum(message)
    following = ICMPV6 if source.version == 6 else ICMP
    return following, message[:2] + summed.to_bytes(2) + message[4:]
