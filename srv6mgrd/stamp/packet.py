"""STAMP test packets in unauthenticated mode (RFC 8762 section 4, RFC 8972). Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from srv6mgrd.stamp.directions import Counters

# Both formats; what follows are TLVs (RFC 8972 section 4).
LENGTH = 44
# Largest request that is answered: an Ethernet frame's worth.
MOST = 1452

_SENDER = struct.Struct("!IQHH28x")
_REFLECTED = struct.Struct("!IQHHQIQHxxBxxx")
# Of a TWAMP Light reflector: the same without the last zeros (RFC 5357 section 4.2.1).
_TWAMP = struct.Struct("!IQHHQIQHxxB")
_TLV = struct.Struct("!BBH")

# Seconds from 1900 to 1970 (RFC 5905).
_NTP_EPOCH = 2_208_988_800
_NS = 1_000_000_000
_ERA = 1 << 64

# RFC 4656 section 4.1.2: not synchronized, scale 0, multiplier 1. A multiplier of 0 is not valid.
ERROR_ESTIMATE = 0x0001

# RFC 8972 section 4: flags and types of TLVs.
UNRECOGNIZED, MALFORMED = 0x80, 0x40
_EXTRA_PADDING, _DIRECT_MEASUREMENT = 1, 5
# Its TLV: flags, type and length, and the counters of RFC 8972 section 4.5.
_COUNTERS = struct.Struct("!BBHIII")
_COUNTERS_LENGTH = 12
# What a Session-Sender of ours sends.
REQUEST_LENGTH = LENGTH + _COUNTERS.size
_COUNTER = (1 << 32) - 1


class PacketError(ValueError):
    """Not a STAMP test packet."""


@dataclass(frozen=True, slots=True)
class SenderPacket:
    """What a Session-Sender sends; ``timestamp`` in ns since 1970, ``sent`` how many packets it
    sent with this one."""

    sequence: int
    timestamp: int
    session_id: int = 0
    sent: int = 0


@dataclass(frozen=True, slots=True)
class ReflectedPacket:
    """What a Session-Reflector answers; times in ns since 1970."""

    sequence: int
    timestamp: int
    session_id: int
    received: int
    sender_sequence: int
    sender_timestamp: int
    sender_hop_limit: int = 0
    sender_error_estimate: int = ERROR_ESTIMATE
    counters: Counters | None = None


def to_ntp(ns: int) -> int:
    """The 64-bit timestamp of RFC 5905, of whatever era."""
    seconds, fraction = divmod(ns, _NS)
    return ((seconds + _NTP_EPOCH << 32) + (fraction << 32) // _NS) % _ERA


def from_ntp(stamp: int) -> int:
    """Ns since 1970. Era 0 ends in 2036: earlier times than 1970 are of era 1."""
    seconds, fraction = divmod(stamp, 1 << 32)
    seconds -= _NTP_EPOCH
    if seconds < 0:
        seconds += 1 << 32
    # Rounded up, since the fraction was rounded down.
    return seconds * _NS + -(-fraction * _NS >> 32)


def encode(packet: SenderPacket) -> bytes:
    head = _SENDER.pack(
        packet.sequence, to_ntp(packet.timestamp), ERROR_ESTIMATE, packet.session_id
    )
    sent = packet.sent & _COUNTER
    return head + _COUNTERS.pack(
        UNRECOGNIZED, _DIRECT_MEASUREMENT, _COUNTERS_LENGTH, sent, 0, 0
    )  # fmt: skip


def decode_reflected(data: bytes) -> ReflectedPacket:
    """Raises PacketError."""
    if len(data) < _TWAMP.size:
        raise PacketError(f"{len(data)} bytes are fewer than {_TWAMP.size}")
    number, sent, _, session, received, of, stamp, estimate, hops = _TWAMP.unpack_from(data)
    return ReflectedPacket(
        number, from_ntp(sent), session, from_ntp(received), of, from_ntp(stamp), hops, estimate,
        _counters(data),
    )  # fmt: skip


def session_id(data: bytes) -> int:
    """Of a test packet (RFC 8972 section 3)."""
    return int.from_bytes(data[14:16])


def reflect(
    data: bytes, received: int, now: int, hop_limit: int, counted: tuple[int, int] = (0, 0)
) -> bytes:
    """The answer of a reflector: as long as the request, with its sequence number, its timestamp
    bit for bit, and its TLVs. ``counted`` are the packets of the session that were received and
    answered, this one included. Raises PacketError."""
    if not LENGTH <= len(data) <= MOST:
        raise PacketError(f"{len(data)} bytes; a test packet has {LENGTH} to {MOST}")
    sequence, stamp, estimate, session = _SENDER.unpack_from(data)
    return _REFLECTED.pack(
        sequence, to_ntp(now), ERROR_ESTIMATE, session, to_ntp(received),
        sequence, stamp, estimate, hop_limit,
    ) + _reflect_tlvs(data[LENGTH:], counted)  # fmt: skip


def _reflect_tlvs(data: bytes, counted: tuple[int, int]) -> bytes:
    """TLVs with their flags set; padding and counters are known. After a malformed one the rest is
    copied as it is."""
    out, at = bytearray(data), 0
    while len(out) - at >= _TLV.size:
        _, kind, length = _TLV.unpack_from(out, at)
        if length > len(out) - at - _TLV.size:
            out[at] = UNRECOGNIZED | MALFORMED
            break
        is_counters = (kind, length) == (_DIRECT_MEASUREMENT, _COUNTERS_LENGTH)
        out[at] = 0 if kind == _EXTRA_PADDING or is_counters else UNRECOGNIZED
        if is_counters:
            out[at + 8 : at + 16] = b"".join((one & _COUNTER).to_bytes(4) for one in counted)
        at += _TLV.size + length
    return bytes(out)


def _counters(data: bytes) -> Counters | None:
    """Those that a reflector filled in."""
    at = LENGTH
    while len(data) - at >= _COUNTERS.size:
        flags, kind, length = _TLV.unpack_from(data, at)
        if (kind, length) == (_DIRECT_MEASUREMENT, _COUNTERS_LENGTH):
            _, _, _, *found = _COUNTERS.unpack_from(data, at)
            return Counters(*found) if not flags & (UNRECOGNIZED | MALFORMED) else None
        at += _TLV.size + length
    return None
