"""TLVs of test packets: framing and flags (RFC 8972 section 4), and those that we know. Pure."""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

from srv6mgrd.stamp.directions import Counters

# Flags: a sender sets the first one, a reflector clears it of what it understood.
UNRECOGNIZED, MALFORMED, INTEGRITY = 0x80, 0x40, 0x20
HMAC_LENGTH = 16

_HEAD = struct.Struct("!BBH")
_COUNTERS = struct.Struct("!III")
_COUNTER = (1 << 32) - 1
_ADDRESS4, _ADDRESS = 4, 16
# Segments that an answer takes at most: those of a policy, not of an attack.
_MOST_SEGMENTS = 16


class TlvType(IntEnum):
    """Registry "STAMP TLV Types"."""

    EXTRA_PADDING = 1
    DIRECT_MEASUREMENT = 5
    HMAC = 8
    DESTINATION_NODE_ADDRESS = 9
    RETURN_PATH = 10


class _ReturnPath(IntEnum):
    """Registry "Return Path Sub-TLV Types" (RFC 9503 section 4.1)."""

    CONTROL_CODE = 1
    RETURN_ADDRESS = 2
    SRV6_SEGMENT_LIST = 4


@dataclass(frozen=True, slots=True)
class Tlv:
    """``kind`` may be one that we do not know."""

    kind: int
    value: bytes
    flags: int = UNRECOGNIZED

    @property
    def is_understood(self) -> bool:
        """By the reflector that sent it back."""
        return not self.flags & (UNRECOGNIZED | MALFORMED | INTEGRITY)

    def pack(self) -> bytes:
        return _HEAD.pack(self.flags, self.kind, len(self.value)) + self.value


def digest(key: bytes, *parts: bytes | bytearray) -> bytes:
    """HMAC-SHA-256, truncated to 128 bits (RFC 8762 section 4.4)."""
    return hmac.digest(key, b"".join(parts), "sha256")[:HMAC_LENGTH]


def split(data: bytes) -> tuple[list[Tlv], bytes]:
    """The TLVs, and what follows them: one that is longer than the packet, or less than a head."""
    found, at = [], 0
    while len(data) - at >= _HEAD.size:
        flags, kind, length = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length
        if end > len(data):
            break
        found.append(Tlv(kind, data[at + _HEAD.size : end], flags))
        at = end
    return found, data[at:]


def counters(sent: int) -> Tlv:
    """Direct Measurement of a sender (RFC 8972 section 4.5)."""
    return Tlv(TlvType.DIRECT_MEASUREMENT, _COUNTERS.pack(sent & _COUNTER, 0, 0))


def node_address(address: IPv4Address | IPv6Address) -> Tlv:
    """Destination Node Address (RFC 9503 section 3)."""
    return Tlv(TlvType.DESTINATION_NODE_ADDRESS, address.packed)


def return_path(segments: Iterable[IPv6Address]) -> Tlv:
    """Return Path with SRv6 segments, the first one first (RFC 9503 section 4.1.3.2)."""
    listed = Tlv(_ReturnPath.SRV6_SEGMENT_LIST, b"".join(one.packed for one in segments))
    return Tlv(TlvType.RETURN_PATH, listed.pack())


def sealed(tlvs: Sequence[Tlv], sequence: bytes, key: bytes | None) -> bytes:
    """TLVs on the wire, authenticated where there is a key: over the sequence number and all TLVs
    before (RFC 8972 section 4.8)."""
    packed = b"".join(one.pack() for one in tlvs)
    if key is None or not tlvs:
        return packed
    return packed + Tlv(TlvType.HMAC, digest(key, sequence, packed)).pack()


def is_authentic(data: bytes, sequence: bytes, key: bytes) -> bool:
    """Padding alone needs no HMAC, and may follow it; nothing else may."""
    found, rest = split(data)
    others = [place for place, one in enumerate(found) if one.kind != TlvType.EXTRA_PADDING]
    if not others:
        return not rest
    if rest or [p for p in others if found[p].kind == TlvType.HMAC] != others[-1:]:
        return False
    before = sum(_HEAD.size + len(one.value) for one in found[: others[-1]])
    return hmac.compare_digest(found[others[-1]].value, digest(key, sequence, data[:before]))


@dataclass(frozen=True, slots=True)
class Reflection:
    """TLVs of an answer, and what the sender asked for: segments to go back through, the address
    that it has to come from, or none at all."""

    tlvs: tuple[Tlv, ...] = ()
    rest: bytes = b""
    segments: tuple[IPv6Address, ...] = ()
    source: IPv4Address | IPv6Address | None = None
    suppressed: bool = False

    def pack(self, sequence: bytes, key: bytes | None) -> bytes:
        """As long as the request. An HMAC is that of the answer: what it protects has changed."""
        packed = bytearray()
        for one in self.tlvs:
            if one.kind == TlvType.HMAC and key is not None and one.is_understood:
                one = replace(one, value=digest(key, sequence, packed))
            packed += one.pack()
        return bytes(packed + self.rest)

    def without_segments(self) -> Reflection:
        """The return path could not be used."""
        tlvs = tuple(
            replace(one, flags=UNRECOGNIZED) if one.kind == TlvType.RETURN_PATH else one
            for one in self.tlvs
        )
        return replace(self, tlvs=tlvs, segments=())


@dataclass(frozen=True, slots=True)
class Policy:
    """What a reflector does for a sender. ``counted`` are the packets of the session that were
    received and answered, the one at hand included; ``peer`` is the sender's address."""

    counted: tuple[int, int] = (0, 0)
    is_own: Callable[[IPv4Address | IPv6Address], bool] = lambda _: False
    return_paths: bool = False
    peer: IPv4Address | IPv6Address | None = None
    key: bytes | None = None


def reflect(data: bytes, sequence: bytes, policy: Policy) -> Reflection:
    """TLVs with their flags set. After a malformed one the rest is copied as it is; nothing of TLVs
    without integrity is used."""
    found, rest = split(data)
    if len(rest) >= _HEAD.size:
        rest = bytes((UNRECOGNIZED | MALFORMED,)) + rest[1:]
    if policy.key is not None and not is_authentic(data, sequence, policy.key):
        return Reflection(tuple(replace(one, flags=INTEGRITY) for one in found), rest)
    answer = Reflection(rest=rest)
    # A packet has room for hundreds of them; of each kind that asks for something one is used.
    answers: list[Tlv] = []
    used = set[int]()
    for one in found:
        flags, value = 0, one.value
        match one.kind:
            case TlvType.EXTRA_PADDING:
                pass
            case TlvType.HMAC if policy.key is not None:
                pass
            case TlvType.DIRECT_MEASUREMENT:
                if len(value) == _COUNTERS.size:
                    sent, _, _ = _COUNTERS.unpack(value)
                    value = _COUNTERS.pack(sent, *(each & _COUNTER for each in policy.counted))
                else:
                    flags = MALFORMED
            case TlvType.DESTINATION_NODE_ADDRESS if one.kind not in used:
                if len(value) not in (_ADDRESS4, _ADDRESS):
                    flags = MALFORMED
                elif _is_of(policy.peer, address := ip_address(value)) and policy.is_own(address):
                    answer = replace(answer, source=address)
                else:
                    flags = UNRECOGNIZED
            case TlvType.RETURN_PATH if one.kind not in used:
                wanted = _wanted(value, policy)
                if wanted is None:
                    flags = UNRECOGNIZED
                else:
                    answer = replace(answer, segments=wanted.segments, suppressed=wanted.suppressed)
            case _:
                flags = UNRECOGNIZED
        used.add(one.kind)
        answers.append(Tlv(one.kind, value, flags))
    return replace(answer, tlvs=tuple(answers))


def _is_of(peer: IPv4Address | IPv6Address | None, address: IPv4Address | IPv6Address) -> bool:
    """Whether an answer to this peer can come from the address."""
    return peer is None or peer.version == address.version


def _wanted(value: bytes, policy: Policy) -> Reflection | None:
    """A return path; None for one that can't be used, or not for this sender. An answer goes to no
    other address than the sender's."""
    found, rest = split(value)
    if rest or not found:
        return None
    first = {one.kind: one.value for one in reversed(found)}
    if (code := first.get(_ReturnPath.CONTROL_CODE)) is not None:
        # Otherwise on the link that the packet came from, which we do not promise.
        return Reflection(suppressed=True) if len(code) == 4 and not code[3] & 1 else None
    address = first.get(_ReturnPath.RETURN_ADDRESS)
    if address is not None and (policy.peer is None or address != policy.peer.packed):
        return None
    listed = first.get(_ReturnPath.SRV6_SEGMENT_LIST)
    if listed is None:
        return Reflection() if address is not None else None
    if not policy.return_paths or not listed or len(listed) % _ADDRESS:
        return None
    if isinstance(policy.peer, IPv4Address):
        return None
    if len(listed) > _MOST_SEGMENTS * _ADDRESS:
        return None
    places = range(0, len(listed), _ADDRESS)
    return Reflection(segments=tuple(IPv6Address(listed[at : at + _ADDRESS]) for at in places))


@dataclass(frozen=True, slots=True)
class Answered:
    """TLVs of an answer that a sender may use. ``unused`` are those of ours that the reflector did
    not take: it does not know them, or cannot do what they ask for."""

    counters: Counters | None = None
    unused: frozenset[TlvType] = frozenset()


NOTHING = Answered()


def answered(
    data: bytes, sequence: bytes, key: bytes | None, asked: Iterable[TlvType] = ()
) -> Answered:
    """``asked`` are the types that matter, ``sequence`` the number of the answer."""
    found, _ = split(data)
    if key is not None and found and not is_authentic(data, sequence, key):
        found = []
    if any(one.flags & INTEGRITY for one in found):
        found = []
    understood = {one.kind: one.value for one in reversed(found) if one.is_understood}
    counted = understood.get(TlvType.DIRECT_MEASUREMENT)
    return Answered(
        Counters(*_COUNTERS.unpack(counted))
        if counted is not None and len(counted) == _COUNTERS.size
        else None,
        frozenset(kind for kind in asked if kind not in understood),
    )
