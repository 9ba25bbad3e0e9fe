"""Frames with a small packet in an IPv6 tunnel, as they come in on ``eth0`` of a bench's node."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from bench.proxies_network import IN_MAC, LAST, OUT_MAC, prefix

# The payload of the paper on proxies: a UDP datagram of 12 bytes.
_DATAGRAM = struct.pack("!HHHH", 5000, 5001, 8 + 12, 0) + bytes(12)
_NEXT_HEADERS = {"ipv4": 4, "ipv6": 41, "ethernet": 143}


def packet(inner: str, *, last: bool = False, sid: int = 1) -> bytes:
    """A frame to a SID of the node, then to the last one; ``last``: the SID itself is that."""
    own = str(prefix(sid).network_address)
    return _tunnelled([own] if last else [LAST, own], _NEXT_HEADERS[inner], _inside(inner))


def plain(to: str) -> bytes:
    """A frame with an IPv6 packet of about the same size, in no tunnel."""
    payload = _DATAGRAM + bytes(80)
    return _ethernet() + _ipv6(len(payload), 17, "2001:db8:a::1", to) + payload


def _inside(inner: str) -> bytes:
    if inner == "ipv4":
        return _ipv4()
    packet = _ipv6(len(_DATAGRAM), 17, "2001:db8:100::1", "2001:db8:200::1") + _DATAGRAM
    return _ethernet() + packet if inner == "ethernet" else packet


def _ipv4() -> bytes:
    hosts = socket.inet_aton("10.1.0.1") + socket.inet_aton("10.2.0.1")
    words = (0x4500, 20 + len(_DATAGRAM), 0, 0, 64 << 8 | 17)
    total = sum(words) + sum(struct.unpack("!4H", hosts))
    checksum = ~(total % 0xFFFF) & 0xFFFF
    return struct.pack("!6H", *words, checksum) + hosts + _DATAGRAM


def _tunnelled(segments: Sequence[str], number: int, inside: bytes) -> bytes:
    """``segments`` as in an SRH, the last one first; the packet is at its first one."""
    left = len(segments) - 1
    header = struct.pack("!BBBBBBH", number, 2 * len(segments), 4, left, left, 0, 0)
    payload = header + b"".join(map(_packed, segments)) + inside
    return _ethernet() + _ipv6(len(payload), 43, "2001:db8:a::1", segments[-1]) + payload


def _ethernet() -> bytes:
    return bytes.fromhex((IN_MAC + OUT_MAC).replace(":", "")) + b"\x86\xdd"


def _ipv6(length: int, following: int, source: str, to: str) -> bytes:
    return struct.pack("!IHBB", 6 << 28, length, following, 64) + _packed(source) + _packed(to)


def _packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6, address)
