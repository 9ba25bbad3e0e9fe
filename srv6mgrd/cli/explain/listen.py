"""Packets to a SID, looked at as they come in: which of them its behavior has to drop."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Mapping
from ipaddress import IPv6Network

from srv6mgrd.cli.explain.causes import INNER
from srv6mgrd.model.behavior import Flavor
from srv6mgrd.model.desired import Sid
from srv6mgrd.netlink.classic_filter import (
    AND,
    JUMP_EQUAL,
    LOAD_WORD,
    RETURN,
    Instruction,
    assembled,
    attach,
)

_ETH_P_IPV6, _PACKET_OUTGOING = 0x86DD, 4
_HEADER, _HOP_BY_HOP, _ROUTING, _FRAGMENT, _DESTINATION = 40, 0, 43, 44, 60
_SRH = 4
_SNAP = 512


def listen(sid: Sid, seconds: float) -> Mapping[str, int] | None:
    """How many packets of each verdict came within ``seconds``; None without the right to look."""
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_IPV6))
    except OSError:
        return None
    found: Counter[str] = Counter()
    with tap:
        # Without it a busy node would drown us.
        attach(tap, program_for(sid.prefix))
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


def program_for(prefix: IPv6Network) -> bytes:
    """Classic BPF: destination in the prefix; offsets are those of the IPv6 header."""
    words = []
    for n in range(4):
        mask = int(prefix.netmask) >> (96 - 32 * n) & 0xFFFFFFFF
        if mask:
            value = int(prefix.network_address) >> (96 - 32 * n) & 0xFFFFFFFF
            words.append((24 + 4 * n, mask, value))
    steps: list[Instruction] = []
    for n, (offset, mask, value) in enumerate(words, 1):
        # To the last step, which drops: what is left of the words, and the accepting step.
        away = 3 * (len(words) - n) + 1
        steps += [(LOAD_WORD, 0, 0, offset), (AND, 0, 0, mask), (JUMP_EQUAL, 0, away, value)]
    return assembled([*steps, (RETURN, 0, 0, _SNAP), (RETURN, 0, 0, 0)])
