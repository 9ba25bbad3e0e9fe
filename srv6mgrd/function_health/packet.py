"""Packets of health checks as bytes: ICMP echo requests, and frames of an EtherType that is for
local experiments (IEEE 802). Pure.

The eBPF programs drop those that come back without counting an error; they know them by ``MAGIC``
(``srv6mgrd/proxy/bpf/health_check.h``).
"""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from srv6mgrd.netlink.checksum import checksum

ETHERTYPE = 0x88B5
MAGIC = 0x53523648  # "SR6H"
_IPV4, _IPV6 = 0x0800, 0x86DD
_ICMP, _ICMPV6 = 1, 58
_ECHO, _ECHO6 = 8, 128
_HOP_LIMIT = 64
_ETHERNET_HEADER, _IPV4_HEADER, _IPV6_HEADER, _ECHO_HEADER = 14, 20, 40, 8
_MARK = struct.Struct("!IIII")
# Where MAGIC is in a frame.
OFFSETS = {
    _IPV4: _ETHERNET_HEADER + _IPV4_HEADER + _ECHO_HEADER,
    _IPV6: _ETHERNET_HEADER + _IPV6_HEADER + _ECHO_HEADER,
    ETHERTYPE: _ETHERNET_HEADER,
}
_SHORTEST_FRAME = 60


class Mark(NamedTuple):
    """What a packet says of itself: which run of srv6mgrd sent it, for which check, and its number
    among these."""

    run: int
    check: int
    number: int

    def pack(self) -> bytes:
        return _MARK.pack(MAGIC, self.run, self.check, self.number)


def frame(mark: Mark, to: bytes, source: bytes) -> bytes:
    """An Ethernet frame, given the MAC addresses."""
    content = to + source + struct.pack("!H", ETHERTYPE) + mark.pack()
    return content.ljust(_SHORTEST_FRAME, b"\0")


def echo(
    mark: Mark,
    to: bytes,
    source: bytes,
    addresses: tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address],
) -> bytes:
    """An echo request in a frame; ``addresses`` are source and destination."""
    content = mark.pack()
    if addresses[0].version == 4:
        icmp = _icmp(_ECHO, mark, content, b"")
        header = struct.pack(
            "!BBHHHBBH4s4s", 0x45, 0, _IPV4_HEADER + len(icmp), 0, 0x4000, _HOP_LIMIT, _ICMP, 0,
            addresses[0].packed, addresses[1].packed,
        )  # fmt: skip
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        return (to + source + struct.pack("!H", _IPV4) + header + icmp).ljust(
            _SHORTEST_FRAME, b"\0"
        )
    length = _ECHO_HEADER + len(content)
    pair = addresses[0].packed + addresses[1].packed
    pseudo = pair + struct.pack("!II", length, _ICMPV6)
    header = struct.pack("!IHBB", 6 << 28, length, _ICMPV6, _HOP_LIMIT) + pair
    return to + source + struct.pack("!H", _IPV6) + header + _icmp(_ECHO6, mark, content, pseudo)


def _icmp(kind: int, mark: Mark, content: bytes, pseudo: bytes) -> bytes:
    """RFC 792, RFC 4443 section 4.1."""
    rest = struct.pack("!HH", mark.check & 0xFFFF, mark.number & 0xFFFF) + content
    total = checksum(pseudo + struct.pack("!BBH", kind, 0, 0) + rest)
    return struct.pack("!BBH", kind, 0, total) + rest


def mark_of(received: bytes) -> Mark | None:
    """Of a frame; None when it is none of ours."""
    if len(received) < _ETHERNET_HEADER:
        return None
    at = OFFSETS.get(int.from_bytes(received[12:14]))
    if at is None or len(received) < at + _MARK.size:
        return None
    magic, run, check, number = _MARK.unpack_from(received, at)
    return Mark(run, check, number) if magic == MAGIC else None
