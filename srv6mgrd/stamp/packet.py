"""STAMP test packets, with and without authentication (RFC 8762 section 4, RFC 8972). Pure."""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from srv6mgrd.stamp import tlvs
from srv6mgrd.stamp.tlvs import Policy, Reflection, Tlv, TlvType

# Of both formats; what follows are TLVs (RFC 8972 section 4). In authenticated mode an HMAC over
# the six blocks before it ends the packet.
LENGTH, AUTHENTICATED_LENGTH = 44, 112
_HMAC_AT = AUTHENTICATED_LENGTH - tlvs.HMAC_LENGTH
# Largest request that is answered: an Ethernet frame's worth.
MOST = 1452

_SENDER = struct.Struct("!IQHH28x")
_REFLECTED = struct.Struct("!IQHHQIQHxxBxxx")
# Of a TWAMP Light reflector: the same without the last zeros (RFC 5357 section 4.2.1).
_TWAMP = struct.Struct("!IQHHQIQHxxB")
_AUTHENTICATED_SENDER = struct.Struct("!I12xQHH68x")
_AUTHENTICATED_REFLECTED = struct.Struct("!I12xQHH4xQ8xI12xQH6xB15x")

# Seconds from 1900 to 1970 (RFC 5905).
_NTP_EPOCH = 2_208_988_800
_NS = 1_000_000_000
_ERA = 1 << 64

# RFC 4656 section 4.1.2: not synchronized, scale 0, multiplier 1. A multiplier of 0 is not valid.
ERROR_ESTIMATE = 0x0001


class PacketError(ValueError):
    """Not a STAMP test packet."""


class AuthenticationError(PacketError):
    """A test packet that was not made with our key."""


@dataclass(frozen=True, slots=True)
class SenderPacket:
    """What a Session-Sender sends; ``timestamp`` in ns since 1970, ``sent`` how many packets it
    sent with this one. ``asked`` are further TLVs."""

    sequence: int
    timestamp: int
    session_id: int = 0
    sent: int = 0
    asked: tuple[Tlv, ...] = ()


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
    answered: tlvs.Answered = tlvs.NOTHING


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


def encode(packet: SenderPacket, key: bytes | None = None) -> bytes:
    form = _SENDER if key is None else _AUTHENTICATED_SENDER
    head = form.pack(packet.sequence, to_ntp(packet.timestamp), ERROR_ESTIMATE, packet.session_id)
    extensions = (tlvs.counters(packet.sent), *packet.asked)
    return _signed(head, key) + tlvs.sealed(extensions, head[:4], key)


def decode_reflected(
    data: bytes, key: bytes | None = None, asked: Iterable[TlvType] = ()
) -> ReflectedPacket:
    """``asked`` are the TLVs whose fate matters. Raises PacketError."""
    form = _TWAMP
    if key is not None:
        _verify(data, key)
        form = _AUTHENTICATED_REFLECTED
    if len(data) < form.size:
        raise PacketError(f"{len(data)} bytes are fewer than {form.size}")
    number, sent, _, session, received, of, stamp, estimate, hops = form.unpack_from(data)
    if not received and not stamp:
        # As a request it has zeros there, and the same HMAC.
        raise PacketError("a test packet of a sender, which came back as it was sent")
    return ReflectedPacket(
        number, from_ntp(sent), session, from_ntp(received), of, from_ntp(stamp), hops, estimate,
        tlvs.answered(data[_length(key) :], data[:4], key, asked),
    )  # fmt: skip


def accept(data: bytes, key: bytes | None = None) -> int:
    """The session identifier of a request that is answered (RFC 8972 section 3). Raises
    PacketError."""
    least = _length(key)
    if not least <= len(data) <= MOST:
        raise PacketError(f"{len(data)} bytes; a test packet has {least} to {MOST}")
    if key is not None:
        _verify(data, key)
    at = 14 if key is None else 26
    return int.from_bytes(data[at : at + 2])


@dataclass(frozen=True, slots=True)
class Answer:
    """A request that is answered. The time of the answer is filled in last."""

    request: bytes
    received: int
    hop_limit: int
    key: bytes | None = field(repr=False)
    reflection: Reflection

    def pack(self, now: int) -> bytes:
        """As long as the request, with its sequence number, its timestamp bit for bit, and its
        TLVs."""
        request = _SENDER if self.key is None else _AUTHENTICATED_SENDER
        answer = _REFLECTED if self.key is None else _AUTHENTICATED_REFLECTED
        sequence, stamp, estimate, session = request.unpack_from(self.request)
        head = answer.pack(
            sequence, to_ntp(now), ERROR_ESTIMATE, session, to_ntp(self.received),
            sequence, stamp, estimate, self.hop_limit,
        )  # fmt: skip
        return _signed(head, self.key) + self.reflection.pack(head[:4], self.key)

    def without_segments(self) -> Answer:
        return replace(self, reflection=self.reflection.without_segments())


def reflect(data: bytes, received: int, hop_limit: int, policy: Policy) -> Answer:
    """The answer of a reflector to what it accepted."""
    reflection = tlvs.reflect(data[_length(policy.key) :], data[:4], policy)
    return Answer(data, received, hop_limit, policy.key, reflection)


def _length(key: bytes | None) -> int:
    return LENGTH if key is None else AUTHENTICATED_LENGTH


def _signed(head: bytes, key: bytes | None) -> bytes:
    return head if key is None else head + tlvs.digest(key, head)


def _verify(data: bytes, key: bytes) -> None:
    made = tlvs.digest(key, data[:_HMAC_AT])
    if not hmac.compare_digest(data[_HMAC_AT:AUTHENTICATED_LENGTH], made):
        raise AuthenticationError("not authenticated with the declared key")
