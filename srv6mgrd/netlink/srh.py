"""Segment routing headers as the kernel takes them in routes (RFC 8754 section 2)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import IPv6Address

from srv6mgrd.netlink.wire import Buffer

# struct ipv6_sr_hdr: nexthdr, hdrlen, type, segments_left, first_segment, flags, tag.
_HEAD = struct.Struct("!BBBBBBH")
_TYPE = 4  # IPV6_SRCRT_TYPE_4


def pack(segments: Sequence[IPv6Address]) -> bytes:
    """An SRH of these segments, the first one first. On the wire the last one comes first;
    segments_left points at the one that becomes the destination (__seg6_do_srh_encap)."""
    last = len(segments) - 1
    head = _HEAD.pack(0, 2 * len(segments), _TYPE, last, last, 0, 0)
    return head + b"".join(segment.packed for segment in reversed(segments))


def unpack(header: Buffer) -> tuple[IPv6Address, ...] | None:
    """The segments, the first one first; None when the header holds more or other than ``pack``
    writes: TLVs, a tag, an HMAC, a segment already passed."""
    raw = bytes(header)
    if len(raw) < _HEAD.size + 16 or (len(raw) - _HEAD.size) % 16:
        return None
    places = range(len(raw) - 16, 0, -16)
    segments = tuple(IPv6Address(raw[at : at + 16]) for at in places)
    return segments if pack(segments) == raw else None
