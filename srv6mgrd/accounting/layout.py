"""The maps' keys and values as bytes: the structures of bpf/maps.h."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.accounting import Count, Direction, Family

MAX_ROWS = 131072
MAX_LISTS = 4096
MAX_VRFS = 16384
MAX_LENGTHS = 8
MAX_SEGMENTS = 16
OTHERS = 6
# A table that is as full as this makes room.
ALMOST = 0.9

_DIRECTIONS = (Direction.SENT, Direction.RECEIVED)
_FAMILIES = (Family.IPV4, Family.IPV6, Family.ETHERNET)
_PREFIX = struct.Struct("=16sQ")
_SID = struct.Struct("=II")
_KEY = struct.Struct("=IBBxxQ16s")
COUNT = struct.Struct("=QQQ")
_LIST_HEAD = struct.Struct("=I4x")
_NUMBER = struct.Struct("=I")
_VRF = struct.Struct("=16sI")
NUMBER_SIZE, ADDRESS_SIZE, DIGEST_SIZE, VRF_SIZE = 4, 16, 8, _VRF.size
PREFIX_SIZE, SID_SIZE, KEY_SIZE = _PREFIX.size, _SID.size, _KEY.size
LIST_SIZE = _LIST_HEAD.size + 16 * MAX_SEGMENTS
NODE_SIZE = MAX_LENGTHS * _PREFIX.size + 16 + 8


def number(value: int) -> bytes:
    return _NUMBER.pack(value)


def number_of(value: bytes) -> int:
    found: int = _NUMBER.unpack(value)[0]
    return found


FIRST = number(0)


def vrf(name: str, ifindex: int) -> bytes:
    """``struct vrf``."""
    return _VRF.pack(name.encode(), ifindex)


def vrf_of(value: bytes) -> tuple[str, int]:
    """Name and ifindex."""
    name, ifindex = _VRF.unpack(value)
    return name.rstrip(b"\0").decode(), ifindex


def prefix_key(prefix: IPv6Network) -> bytes:
    return _PREFIX.pack(prefix.network_address.packed, prefix.prefixlen)


def prefix_of(key: bytes) -> IPv6Network:
    address, length = _PREFIX.unpack(key)
    return IPv6Network((address, length))


def sid(vrf: int, families: Iterable[Family]) -> bytes:
    """``struct local_sid``."""
    return _SID.pack(vrf, sum(1 << _FAMILIES.index(family) for family in families))


def sid_of(value: bytes) -> tuple[int, tuple[Family, ...]]:
    """Number of the VRF, and the families."""
    vrf, bits = _SID.unpack(value)
    return vrf, tuple(family for n, family in enumerate(_FAMILIES) if bits & 1 << n)


def node(prefix_lengths: Iterable[int], sources: Sequence[IPv6Address]) -> bytes:
    """``struct node``. Raises ValueError when there are more than MAX_LENGTHS different lengths."""
    lengths = sorted(set(prefix_lengths), reverse=True)
    if len(lengths) > MAX_LENGTHS:
        raise ValueError(
            f"prefixes of SIDs that decapsulate have {len(lengths)} lengths; {MAX_LENGTHS} are"
            " possible"
        )
    masks = b"".join(_PREFIX.pack(IPv6Network((0, n)).netmask.packed, n) for n in lengths)
    first = sources[0].packed if sources else bytes(16)
    more = struct.pack("=I4x", len(sources) > 1)
    return masks.ljust(MAX_LENGTHS * _PREFIX.size, b"\0") + first + more


def first_source(value: bytes) -> IPv6Address:
    """Of ``struct node``."""
    at = MAX_LENGTHS * _PREFIX.size
    return IPv6Address(value[at : at + 16])


def key(vrf: int, direction: Direction, family: Family, remote: IPv6Address) -> bytes:
    """``struct key`` of a row without a list."""
    places = _DIRECTIONS.index(direction), _FAMILIES.index(family)
    return _KEY.pack(vrf, *places, 0, remote.packed)


def key_of(key: bytes) -> tuple[int, Direction, Family, bytes, IPv6Address]:
    """Number of the VRF, direction, family, key of the list, and remote address."""
    vrf, direction, family, digest, remote = _KEY.unpack(key)
    return (
        vrf,
        _DIRECTIONS[direction],
        _FAMILIES[family],
        struct.pack("=Q", digest) if digest else b"",
        IPv6Address(remote),
    )


def vrf_of_key(key: bytes) -> int:
    """Number of the VRF in ``struct key``."""
    return number_of(key[:NUMBER_SIZE])


def count(value: Count) -> bytes:
    """``struct count``."""
    return COUNT.pack(value.packets, value.inner_octets, value.outer_octets)


def count_of(value: bytes) -> Count:
    """The sum of all CPUs."""
    return Count(*map(sum, zip(*COUNT.iter_unpack(value), strict=True)))


def place_of(direction: Direction, family: Family) -> int:
    """Where the maps ``others`` and ``folded`` count it."""
    return _DIRECTIONS.index(direction) * len(_FAMILIES) + _FAMILIES.index(family)


def other_of(place: int) -> tuple[Direction, Family]:
    """What a place in these maps counts."""
    return _DIRECTIONS[place // len(_FAMILIES)], _FAMILIES[place % len(_FAMILIES)]


def segment_list(value: bytes) -> bytes:
    """``struct list`` up to its last segment, which is the remote SID."""
    (length,) = _LIST_HEAD.unpack_from(value)
    return value[_LIST_HEAD.size : _LIST_HEAD.size + 16 * length]


def segments_of(value: bytes) -> tuple[IPv6Address, ...]:
    """The segments of a list before the last one."""
    (length,) = _LIST_HEAD.unpack_from(value)
    at = [_LIST_HEAD.size + 16 * n for n in range(length - 1)]
    return tuple(IPv6Address(value[i : i + 16]) for i in at)
