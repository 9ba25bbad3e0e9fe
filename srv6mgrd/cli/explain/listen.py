"""Packets to a SID, looked at as they come in: which of them its behavior has to drop."""

from __future__ import annotations

import socket
import struct
import time
from collections import Counter
from collections.abc import Mapping
from ctypes import addressof, create_string_buffer
from ipaddress import IPv6Network

from srv6mgrd.cli.explain.causes import INNER
from srv6mgrd.model.behavior import Flavor
from srv6mgrd.model.desired import Sid

_ETH_P_IPV6, _PACKET_OUTGOING, _SO_ATTACH_FILTER = 0x86DD, 4, 26
_HEADER, _HOP_BY_HOP, _ROUTING, _FRAGMENT, _DESTINATION = 40, 0, 43, 44, 60
_SRH = 4
_SNAP = 512
# linux/bpf_common.h: ld [k], and k, jeq, ret
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06


def listen(sid: Sid, seconds: float) -> Mapping[str, int] | None:
    """How many packets of each verdict came within ``seconds``; None without the right to look."""
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_IPV6))
    except OSError:
        return None
    found: Counter[str] = Counter()
    with tap:
        _attach(tap, sid.prefix)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            tap.settimeout(left)
            try:
                packet, (_, _, kind, *_) = tap.recvfrom(_SNAP)
            except TimeoutError:
                break
            if kind != _PACKET_OUTGOING and (name := verdict(sid, packet)):
                found[name] += 1
    return found


def verdict(sid: Sid, packet: bytes) -> str:
    """Why the behavior of the SID drops a packet, which begins with the IPv6 header: ``no-srh``,
    ``no-segments-left``, ``segments-left``, ``hop-limit``, or ``inner`` and the next header; empty
    where it need not."""
    if len(packet) < _HEADER:
        return ""
    has_srh, left, inner, at = False, 0, packet[6], _HEADER
    while inner in (_HOP_BY_HOP, _ROUTING, _DESTINATION) and len(packet) >= at + 8:
        if inner == _ROUTING and packet[at + 2] == _SRH:
            has_srh, left = True, packet[at + 3]
        inner, at = packet[at], at + 8 * (packet[at + 1] + 1)
    if sid.behavior in INNER:
        if left:
            return "segments-left"
        if inner not in INNER[sid.behavior]:
            return "" if inner == _FRAGMENT else f"inner {inner}"
        return "hop-limit" if _used_up(inner, packet[at:]) else ""
    if packet[7] <= 1:
        return "hop-limit"
    if Flavor.NEXT_CSID in sid.flavors and _argument(sid.prefix, packet[24:40]):
        return ""
    if not has_srh:
        return "no-srh"
    return "" if left else "no-segments-left"


def _used_up(inner: int, packet: bytes) -> bool:
    at = {4: 8, 41: 7}.get(inner)
    return at is not None and len(packet) > at and packet[at] <= 1


def _argument(prefix: IPv6Network, destination: bytes) -> bool:
    """Whether a compressed SID follows (RFC 9800 section 4.1)."""
    return bool(int.from_bytes(destination) & int(prefix.hostmask))


def _attach(tap: socket.socket, prefix: IPv6Network) -> None:
    """Have the kernel pass packets to the prefix alone; without that a busy node would drown us."""
    program = program_for(prefix)
    code = create_string_buffer(program, len(program))
    described = struct.pack("HL", len(program) // 8, addressof(code))
    tap.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)


def program_for(prefix: IPv6Network) -> bytes:
    """Classic BPF: destination in the prefix; offsets are those of the IPv6 header."""
    words = []
    for n in range(4):
        mask = int(prefix.netmask) >> (96 - 32 * n) & 0xFFFFFFFF
        if mask:
            value = int(prefix.network_address) >> (96 - 32 * n) & 0xFFFFFFFF
            words.append((24 + 4 * n, mask, value))
    steps: list[tuple[int, int, int, int]] = []
    for n, (offset, mask, value) in enumerate(words, 1):
        # To the last step, which drops: what is left of the words, and the accepting step.
        away = 3 * (len(words) - n) + 1
        steps += [(_LOAD, 0, 0, offset), (_AND, 0, 0, mask), (_EQUAL, 0, away, value)]
    steps += [(_RETURN, 0, 0, _SNAP), (_RETURN, 0, 0, 0)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
