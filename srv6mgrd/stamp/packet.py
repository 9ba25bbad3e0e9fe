"""STAMP test packets in unauthenticated mode (RFC 8762 section 4, RFC 8972). Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

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
_EXTRA_PADDING = 1


class PacketError(ValueError):
    """Not a STAMP test packet."""


@dataclass(frozen=True, slots=True)
class SenderPacket:
    """What a Session-Sender sends; ``timestamp`` in ns since 1970."""

    sequence: int
    timestamp: int
    session_id: int = 0


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
    return _SENDER.pack(
        packet.sequence, to_ntp(packet.timestamp), ERROR_ESTIMATE, packet.session_id
    )


def decode_reflected(data: bytes) -> ReflectedPacket:
    """Raises PacketError."""
    if len(data) < _TWAMP.size:
        raise PacketError(f"{len(data)} bytes are fewer than {_TWAMP.size}")
    number, sent, _, session, received, of, stamp, estimate, hops = _TWAMP.unpack_from(data)
    return ReflectedPacket(
        number, from_ntp(sent), session, from_ntp(received), of, from_ntp(stamp), hops, estimate
    )


def reflect(data: bytes, received: int, now: int, hop_limit: int) -> bytes:
    """The answer of a stateless reflector: as long as the request, with its sequence number, its
    timestamp bit for bit, and its TLVs. Raises PacketError."""
    if not LENGTH <= len(data) <= MOST:
        raise PacketError(f"{len(data)} bytes; a test packet has {LENGTH} to {MOST}")
    sequence, stamp, estimate, session = _SENDER.unpack_from(data)
    return _REFLECTED.pack(
        sequence, to_ntp(now), ERROR_ESTIMATE, session, to_ntp(received),
        sequence, stamp, estimate, hop_limit,
    ) + _reflect_tlvs(data[LENGTH:])  # fmt: skip


def _reflect_tlvs(data: bytes) -> bytes:
    """TLVs with their flags set; nothing but padding is known. After a malformed one the rest is
    copied as it is."""
    out, at = bytearray(data), 0
    while len(out) - at >= _TLV.size:
        _, kind, length = _TLV.unpack_from(out, at)
        if length > len(out) - at - _TLV.size:
            out[at] = UNRECOGNIZED | MALFORMED
            break
        out[at] = 0 if kind == _EXTRA_PADDING else UNRECOGNIZED
        at += _TLV.size + length
    return bytes(out)
