"""The maps' keys and values as bytes: the structures of bpf/maps.h."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from srv6mgrd.model.behavior import Behavior
from srv6mgrd.netlink import srh

MAX_PROXIES = 4096
MAX_LENGTHS = 4
MAX_SEGMENTS = 16
MAX_HEADER = 40 + 8 + 16 * MAX_SEGMENTS + 32
_HOP_LIMIT = 64
_ROUTING_HEADER = 43

_BEHAVIORS = {Behavior.END_AD: 1, Behavior.END_AS: 2, Behavior.END_AM: 3}
_BEHAVIOR_OF = {number: behavior for behavior, number in _BEHAVIORS.items()}
_INNER = {"ipv4": 4, "ipv6": 6, "ethernet": 2}
# IANA: IPv4 and IPv6 encapsulation, Ethernet (RFC 8986 section 11.1).
_NEXT_HEADERS = {"ipv4": 4, "ipv6": 41, "ethernet": 143}
_INNER_OF = {number: name for name, number in _INNER.items()}
_DECREMENT, _PEER, _PER_FLOW, _BYPASS = 1, 2, 4, 8
# Words of the YANG leaf pass, and the bit of prefixes.
PASS_FLAGS = {"link-local": 1, "multicast": 2}
PASS_PREFIXES = 4
BY_FLOW = 8

_SID = struct.Struct("=16sQ")
_PROXY = struct.Struct("=IBBBxIIQ16s6s6s4x")
_PORT = struct.Struct("=II")
_SLOT = struct.Struct(f"=I4x{MAX_HEADER}s")
_CHAIN = struct.Struct("=4xIIIQ")
_PASS = struct.Struct("=III16s")
_FLOW_CHAIN_KEY = struct.Struct("=8sQ")
_LEARNED = struct.Struct("=Q")
COUNTERS = struct.Struct("=14Q")
NODE_SIZE = MAX_LENGTHS * _SID.size + 8
SID_SIZE, PROXY_SIZE, PORT_SIZE, PASS_SIZE = _SID.size, _PROXY.size, _PORT.size, _PASS.size
CHAIN_SIZE = _CHAIN.size + 2 * _SLOT.size
# struct flow begins with the port, the inner type in a byte.
FLOW_SIZE, FOLLOWED_SIZE = 44, 16
_FLOW_PORT = struct.Struct("=IB")
FLOW_CHAIN_KEY_SIZE, FLOW_CHAIN_SIZE = _FLOW_CHAIN_KEY.size, _LEARNED.size + _SLOT.size


def number(value: int) -> bytes:
    """Key of an array."""
    return struct.pack("=I", value)


FIRST = number(0)


def sid_key(prefix: IPv6Network) -> bytes:
    return _SID.pack(prefix.network_address.packed, prefix.prefixlen)


def sid_of(key: bytes) -> IPv6Network:
    address, length = _SID.unpack(key)
    return IPv6Network((address, length))


def node(prefix_lengths: Iterable[int], sid_device: int, kinds: Iterable[int]) -> bytes:
    """``kinds`` of the proxies that there are, as ``ProxyValue.kind`` gives them. Raises ValueError
    when there are more than MAX_LENGTHS different lengths."""
    lengths = sorted(set(prefix_lengths), reverse=True)
    if len(lengths) > MAX_LENGTHS:
        raise ValueError(f"SIDs of proxies have {len(lengths)} lengths; {MAX_LENGTHS} are possible")
    masks = b"".join(_SID.pack(IPv6Network((0, n)).netmask.packed, n) for n in lengths)
    return masks.ljust(MAX_LENGTHS * _SID.size, b"\0") + struct.pack(
        "=II", sid_device, sum(set(kinds))
    )


@dataclass(frozen=True, slots=True)
class ProxyValue:
    """``struct proxy``: interfaces by ifindex; with ``peer`` the MAC addresses of the other end of
    the function's veth and of this one. ``age`` in nanoseconds. ``bypass``: the function does not
    work, and packets go on without it."""

    id: int
    behavior: Behavior
    inner_type: str
    interface: int
    return_interface: int
    age: int = 0
    next_hop: IPv4Address | IPv6Address | None = None
    decrement: bool = True
    peer: tuple[bytes, bytes] | None = None
    per_flow: bool = False
    bypass: bool = False

    @property
    def port(self) -> bytes:
        """Key of the chain that comes back."""
        return _PORT.pack(self.return_interface, _INNER[self.inner_type])

    @property
    def kind(self) -> int:
        """The bit of what it does with packets that come back, in ``struct node``."""
        return 1 if self.behavior is Behavior.END_AM else 1 << _INNER[self.inner_type]

    def pack(self) -> bytes:
        flags = (_DECREMENT if self.decrement else 0) | (_PEER if self.peer else 0)
        flags |= _PER_FLOW if self.per_flow else 0
        flags |= _BYPASS if self.bypass else 0
        other, own = self.peer or (bytes(6), bytes(6))
        return _PROXY.pack(
            self.id,
            _BEHAVIORS[self.behavior],
            _INNER[self.inner_type],
            flags,
            self.interface,
            self.return_interface,
            self.age,
            self.next_hop.packed if self.next_hop is not None else bytes(16),
            other,
            own,
        )

    @staticmethod
    def unpack(value: bytes) -> ProxyValue:
        id_, behavior, inner, flags, interface, back, age, hop, other, own = _PROXY.unpack(value)
        next_hop: IPv4Address | IPv6Address | None = None
        if _INNER_OF[inner] == "ipv4":
            next_hop = IPv4Address(hop[:4])
        elif _INNER_OF[inner] == "ipv6":
            next_hop = IPv6Address(hop)
        return ProxyValue(
            id_,
            _BEHAVIOR_OF[behavior],
            _INNER_OF[inner],
            interface,
            back,
            age,
            next_hop,
            bool(flags & _DECREMENT),
            (other, own) if flags & _PEER else None,
            bool(flags & _PER_FLOW),
            bool(flags & _BYPASS),
        )


@dataclass(frozen=True, slots=True)
class ChainValue:
    """``struct chain`` as far as one slot in force goes. ``learned`` is CLOCK_MONOTONIC in
    nanoseconds, ``header`` IPv6 header and SRH, empty before anything was learned."""

    id: int
    flags: int
    header: bytes = b""
    learned: int = 0
    sequence: int = 0

    def pack(self) -> bytes:
        """With the header in both slots, whichever is in force."""
        slot = _SLOT.pack(len(self.header), self.header)
        return _CHAIN.pack(self.sequence, self.id, self.flags, self.learned) + slot + slot

    @staticmethod
    def unpack(value: bytes) -> ChainValue:
        sequence, id_, flags, learned = _CHAIN.unpack_from(value)
        length, header = _SLOT.unpack_from(value, _CHAIN.size + (sequence & 1) * _SLOT.size)
        return ChainValue(id_, flags, header[:length], learned, sequence)

    def overtaking(self, before: ChainValue) -> ChainValue:
        """To be written over another one in place: readers notice, and look again."""
        return replace(self, sequence=(before.sequence + 2) & 0xFFFFFFFF)

    @property
    def source(self) -> IPv6Address | None:
        return IPv6Address(self.header[8:24]) if self.header else None

    @property
    def segments(self) -> tuple[IPv6Address, ...]:
        """Segments that are left, the next one first."""
        return _segments_left(self.header) if self.header else ()


@dataclass(frozen=True, slots=True)
class FlowChainValue:
    """``struct flow_chain``: one of the chains of a port whose flows have one each."""

    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    learned: int

    @staticmethod
    def unpack(value: bytes) -> FlowChainValue:
        (learned,) = _LEARNED.unpack_from(value)
        length, header = _SLOT.unpack_from(value, _LEARNED.size)
        header = header[:length]
        return FlowChainValue(IPv6Address(header[8:24]), _segments_left(header), learned)


def _segments_left(header: bytes) -> tuple[IPv6Address, ...]:
    at = [48 + 16 * entry for entry in range(header[43], -1, -1)]
    return tuple(IPv6Address(header[i : i + 16]) for i in at)


def flow_port(key: bytes) -> bytes:
    """Port of a ``struct flow``."""
    return _PORT.pack(*_FLOW_PORT.unpack_from(key))


def flow_chain_of(key: bytes) -> tuple[bytes, int]:
    """Port and digest of a ``struct flow_chain_key``."""
    port, digest = _FLOW_CHAIN_KEY.unpack(key)
    return port, digest


def static_header(source: IPv6Address, segments: tuple[IPv6Address, ...], inner_type: str) -> bytes:
    """The outer header that End.AS restores, without its payload length."""
    outer = struct.pack("!IHBB", 6 << 28, 0, _ROUTING_HEADER, _HOP_LIMIT)
    routing = bytes([_NEXT_HEADERS[inner_type]]) + srh.pack(segments)[1:]
    return outer + source.packed + segments[0].packed + routing


def pass_key(port: bytes, prefix: IPv4Network | IPv6Network) -> bytes:
    interface, inner = _PORT.unpack(port)
    return _PASS.pack(64 + prefix.prefixlen, interface, inner, prefix.network_address.packed)


def pass_of(key: bytes) -> tuple[bytes, IPv4Network | IPv6Network]:
    """Port and prefix."""
    length, interface, inner, address = _PASS.unpack(key)
    packed = address[:4] if _INNER_OF[inner] == "ipv4" else address
    return _PORT.pack(interface, inner), ip_network((packed, length - 64))
