"""The maps' keys and values as bytes: the structures of bpf/maps.h."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from ipaddress import IPv6Network

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.drops import DropReason, How, WatchedLink, WatchedSid

MAX_WATCHED, MAX_LENGTHS, MAX_LINKS, REASONS = 256, 8, 4096, 32
PASSED = 0
# Passed, with an HMAC that only the behavior can compute.
HMAC_UNKNOWN = 31
REASON = dict(enumerate(DropReason, 1))

_FAMILIES = (Family.IPV4, Family.IPV6, Family.ETHERNET)
_HOW = tuple(How)
_PREFIX = struct.Struct("=16sQ")
_WATCHED = struct.Struct("=IIIIBBBBBBBx16s")
_LINK = struct.Struct("=BbBx")
_PSP, _NEXT_CSID, _IS_VRF_GONE = 1, 2, 4
NUMBER = struct.Struct("=I")
COUNT = struct.Struct("=Q")
RUNS = struct.Struct("=Q8x")
PREFIX_SIZE, WATCHED_SIZE, LINK_SIZE = _PREFIX.size, _WATCHED.size, _LINK.size
NODE_SIZE = MAX_LENGTHS * _PREFIX.size + 8


def prefix_key(prefix: IPv6Network) -> bytes:
    return _PREFIX.pack(prefix.network_address.packed, prefix.prefixlen)


def watched(place: int, sid: WatchedSid) -> bytes:
    """``struct watched``."""
    block, function = sid.csid or (0, 0)
    flags = _PSP * sid.psp + _NEXT_CSID * (sid.csid is not None) + _IS_VRF_GONE * sid.vrf_gone
    next_hop = sid.next_hop.packed if sid.next_hop is not None else b""
    return _WATCHED.pack(
        place,
        sid.table,
        sid.interface,
        sid.mtu,
        sum(1 << _FAMILIES.index(family) for family in sid.families),
        _HOW.index(sid.how),
        flags,
        block,
        function,
        min(sid.rp_filter, 2),
        sid.prefix.prefixlen,
        next_hop,
    )


def link(state: WatchedLink) -> bytes:
    """``struct link``."""
    return _LINK.pack(state.down, max(-1, min(state.hmac, 1)), state.outside)


def node(prefix_lengths: Iterable[int], one_of: int, *, traced: bool = False) -> bytes:
    """``struct node``; of lengths beyond the longest ones no SID is watched."""
    lengths = sorted(set(prefix_lengths), reverse=True)[:MAX_LENGTHS]
    masks = b"".join(_PREFIX.pack(IPv6Network((0, n)).netmask.packed, n) for n in lengths)
    return masks.ljust(MAX_LENGTHS * _PREFIX.size, b"\0") + struct.pack("=II", one_of - 1, traced)


def place_of(key: int) -> tuple[int, int]:
    """Place and reason of a count."""
    return divmod(key, REASONS)
