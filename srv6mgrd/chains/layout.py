"""The maps' keys and values as bytes: the structures of bpf/maps.h."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import NamedTuple

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainDrops, Traffic
from srv6mgrd.model.chains import ClassifierRule, FunctionState, Way
from srv6mgrd.model.tuple_space import Kind, Masks, Values
from srv6mgrd.netlink import srh

MAX_RULES = 65536
MAX_TUPLES = 65536
MAX_PATHS = 16384
MAX_SELECTORS = 16384
MAX_NAMES = 32768
MAX_FUNCTIONS = 16
MAX_SEGMENTS = 16
SLOTS = 256
_MAX_HEADER = 40 + 8 + 16 * MAX_SEGMENTS
_HOP_LIMIT = 64
_ROUTING_HEADER = 43
_BY_MARK, _BY_DSCP = 1, 2
_WITH_PORTS = 1
_FRAME = 1

_WAYS = (Way.FORWARD, Way.REVERSE)
_FAMILIES = (Family.IPV4, Family.IPV6, Family.ETHERNET)
_STATES = (FunctionState.UP, FunctionState.DRAINING, FunctionState.DOWN)
# IANA: IPv4 and IPv6 encapsulation, Ethernet (RFC 8986 section 11.1).
_NEXT_HEADERS = {Family.IPV4: 4, Family.IPV6: 41, Family.ETHERNET: 143}

_NUMBER = struct.Struct("=I")
_NODE = struct.Struct("=II6sxx")
_CLASSIFIER = struct.Struct("=II10I")
_TUPLE = struct.Struct("=16s16sII4H4sBBBx")
_ENTRY_KEY = struct.Struct("=16s16sIII4sBB6x")
_ENTRY = struct.Struct("=IIII")
_SELECTOR = struct.Struct("=IBBxx")
_SLOTS = struct.Struct(f"={SLOTS}I")
_PATH = struct.Struct(f"=III4x8s{_MAX_HEADER}s")
_PLACE_KEY = struct.Struct("=I4x8s")
_USABLE = struct.Struct("=II")
_PATH_RECORD = struct.Struct(f"=III{MAX_FUNCTIONS}I")
_RULE_KEY = struct.Struct("=III")
_RULE = struct.Struct("=IBBH16s16sBBBB4HII")
_NAME = struct.Struct("=B127s")
_COUNT = struct.Struct("=QQ")
_DROPS = struct.Struct("=5Q")

NUMBER_SIZE, NODE_SIZE, CLASSIFIER_SIZE = _NUMBER.size, _NODE.size, _CLASSIFIER.size
TUPLE_SIZE, ENTRY_KEY_SIZE, ENTRY_SIZE = _TUPLE.size, _ENTRY_KEY.size, _ENTRY.size
SELECTOR_SIZE, PATH_SIZE = _SELECTOR.size + _SLOTS.size, _PATH.size
PLACE_KEY_SIZE, USABLE_SIZE = _PLACE_KEY.size, _USABLE.size
PATH_RECORD_SIZE, RULE_KEY_SIZE, RULE_SIZE = _PATH_RECORD.size, _RULE_KEY.size, _RULE.size
NAME_SIZE, COUNT_SIZE, DROPS_SIZE = _NAME.size, _COUNT.size, _DROPS.size
_LONGEST_NAME = 127


def number(value: int) -> bytes:
    return _NUMBER.pack(value)


def number_of(value: bytes) -> int:
    found: int = _NUMBER.unpack(value)[0]
    return found


FIRST = number(0)


class Node(NamedTuple):
    """``struct node``: ifindex and MAC address of the SID device, and the last generation."""

    sid_device: int = 0
    mac: bytes = bytes(6)
    generation: int = 0

    def pack(self) -> bytes:
        return _NODE.pack(self.sid_device, self.generation, self.mac)

    @staticmethod
    def unpack(value: bytes) -> Node:
        device, generation, mac = _NODE.unpack(value)
        return Node(device, mac, generation)


class NameKind(NamedTuple):
    """Names of several kinds have numbers of their own."""

    kind: int
    text: str


def name(kind: int, text: str) -> bytes:
    """``struct name``. Raises ValueError when it is too long."""
    raw = text.encode()
    if len(raw) > _LONGEST_NAME:
        raise ValueError(f"name {text} has more than {_LONGEST_NAME} bytes")
    return _NAME.pack(kind, raw)


def name_of(value: bytes) -> NameKind:
    kind, raw = _NAME.unpack(value)
    return NameKind(kind, raw.rstrip(b"\0").decode())


# Classifiers and their rules.


@dataclass(frozen=True, slots=True)
class ClassifierValue:
    """``struct classifier``: of each kind of packets its first combination, and how many."""

    generation: int
    by_mark: bool
    by_dscp: bool
    tuples: tuple[tuple[int, int], ...]

    def pack(self) -> bytes:
        flags = (_BY_MARK if self.by_mark else 0) | (_BY_DSCP if self.by_dscp else 0)
        return _CLASSIFIER.pack(self.generation, flags, *(n for pair in self.tuples for n in pair))

    @staticmethod
    def unpack(value: bytes) -> ClassifierValue:
        generation, flags, *places = _CLASSIFIER.unpack(value)
        pairs = tuple(zip(places[::2], places[1::2], strict=True))
        return ClassifierValue(generation, bool(flags & _BY_MARK), bool(flags & _BY_DSCP), pairs)


def combination(kind: Kind, masks: Masks, best: int) -> bytes:
    """``struct tuple``."""
    sources, destinations = masks.source_ports, masks.destination_ports
    return _TUPLE.pack(
        _mask(kind, masks.source),
        _mask(kind, masks.destination),
        0xFFFFFFFF if masks.mark else 0,
        best,
        sources.low,
        sources.high,
        destinations.low,
        destinations.high,
        struct.pack("!HH", sources.mask, destinations.mask),
        0xFF if masks.protocol else 0,
        0xFF if masks.dscp else 0,
        _WITH_PORTS if masks.with_ports else 0,
    )


def _mask(kind: Kind, length: int) -> bytes:
    bits = 32 if kind in (Kind.IPV4, Kind.LOCAL4) else 128
    return ((1 << bits) - (1 << bits - length)).to_bytes(bits // 8, "big")


def entry_key(values: Values, generation: int, place: int) -> bytes:
    return _ENTRY_KEY.pack(
        values.source,
        values.destination,
        generation,
        place,
        values.mark,
        struct.pack("!HH", values.source_port, values.destination_port),
        values.protocol,
        values.dscp,
    )


def generation_of_entry(key: bytes) -> int:
    found: int = _NUMBER.unpack_from(key, 32)[0]
    return found


def entry(rule: ClassifierRule, rank: int, place: int, selector: int) -> bytes:
    """``struct entry``; ``rank`` among the rules, ``place`` of its counters."""
    frame = _FRAME if rule.family is Family.ETHERNET else 0
    return _ENTRY.pack(rank, place, selector, frame)


class RuleKey(NamedTuple):
    """``struct rule_key``."""

    classifier: int
    generation: int
    priority: int

    def pack(self) -> bytes:
        return _RULE_KEY.pack(*self)

    @staticmethod
    def unpack(key: bytes) -> RuleKey:
        return RuleKey(*_RULE_KEY.unpack(key))


def rule(rule: ClassifierRule, chain: int, place: int) -> bytes:
    """``struct rule_record``."""
    source, source_length = _prefix(rule.source)
    destination, destination_length = _prefix(rule.destination)
    asked = (
        rule.source, rule.destination, rule.protocol, rule.dscp, rule.source_ports,
        rule.destination_ports, rule.mark,
    )  # fmt: skip
    fields = sum(1 << n for n, value in enumerate(asked) if value is not None)
    version = next((n.version for n in (rule.source, rule.destination) if n is not None), 0)
    return _RULE.pack(
        chain,
        _WAYS.index(rule.way),
        0 if rule.family is None else _FAMILIES.index(rule.family) + 1,
        fields | version << 8,
        source,
        destination,
        source_length,
        destination_length,
        rule.protocol or 0,
        rule.dscp or 0,
        *(rule.source_ports or (0, 0)),
        *(rule.destination_ports or (0, 0)),
        rule.mark or 0,
        place,
    )


def _prefix(network: IPv4Network | IPv6Network | None) -> tuple[bytes, int]:
    return (b"", 0) if network is None else (network.network_address.packed, network.prefixlen)


def chain_of_rule(value: bytes) -> int:
    """Number of the chain's name; 0: none."""
    return number_of(value[:NUMBER_SIZE])


def place_of_rule(value: bytes) -> int:
    """Where its counters are."""
    return number_of(value[-NUMBER_SIZE:])


def rule_of(value: bytes, priority: int, chain: str | None) -> ClassifierRule:
    """Read back."""
    (_, way, family, fields, source, destination, source_length, destination_length, protocol, dscp,
     source_low, source_high, low, high, mark, _) = _RULE.unpack(value)  # fmt: skip
    size = 4 if fields >> 8 == 4 else 16
    return ClassifierRule(
        priority,
        chain,
        _WAYS[way],
        _FAMILIES[family - 1] if family else None,
        ip_network((source[:size], source_length)) if fields & 1 else None,
        ip_network((destination[:size], destination_length)) if fields & 2 else None,
        protocol if fields & 4 else None,
        (source_low, source_high) if fields & 16 else None,
        (low, high) if fields & 32 else None,
        dscp if fields & 8 else None,
        mark if fields & 64 else None,
    )


# Paths.


class SelectorKey(NamedTuple):
    """One way through a chain, which is the number of its name, for packets of a family."""

    chain: int
    way: Way
    family: Family


def selector(key: SelectorKey, slots: Sequence[int]) -> bytes:
    """``struct selector``; slots are numbers of paths, 0 where there is none."""
    head = _SELECTOR.pack(key.chain, _WAYS.index(key.way), _FAMILIES.index(key.family))
    return head + _SLOTS.pack(*slots)


def selector_of(value: bytes) -> SelectorKey:
    chain, way, family = _SELECTOR.unpack_from(value)
    return SelectorKey(chain, _WAYS[way], _FAMILIES[family])


def place_of(functions: Sequence[str]) -> bytes:
    """Paths through the same functions have the same place."""
    return hashlib.blake2b("\0".join(functions).encode(), digest_size=8).digest()


def place_key(selector: int, place: bytes) -> bytes:
    return _PLACE_KEY.pack(selector, place)


def usable(selector: int, epoch: int) -> bytes:
    """``struct usable``."""
    return _USABLE.pack(selector, epoch)


def usable_of(value: bytes) -> tuple[int, int]:
    """Selector and epoch."""
    selector, epoch = _USABLE.unpack(value)
    return selector, epoch


def path(
    number: int,
    selector: int,
    source: IPv6Address,
    segments: tuple[IPv6Address, ...],
    inside: PathInside,
) -> bytes:
    """``struct path``. Its header lacks the payload length."""
    family, place = inside
    outer = struct.pack("!IHBB", 6 << 28, 0, _ROUTING_HEADER, _HOP_LIMIT)
    routing = bytes([_NEXT_HEADERS[family]]) + srh.pack(segments)[1:]
    header = outer + source.packed + segments[0].packed + routing
    return _PATH.pack(number, selector, len(header), place, header)


class PathInside(NamedTuple):
    """What a path takes, and where through."""

    family: Family
    place: bytes


class PathValue(NamedTuple):
    """``struct path`` as it is read back."""

    selector: int
    source: IPv6Address
    segments: tuple[IPv6Address, ...]

    @staticmethod
    def unpack(value: bytes) -> PathValue:
        _, selector, length, _, header = _PATH.unpack(value)
        at = range(length - 16, 47, -16)
        segments = tuple(IPv6Address(header[i : i + 16]) for i in at)
        return PathValue(selector, IPv6Address(header[8:24]), segments)


def path_record(preference: int, weight: int, functions: Sequence[int]) -> bytes:
    """``struct path_record``; functions are numbers of names."""
    room = [*functions, *[0] * (MAX_FUNCTIONS - len(functions))]
    return _PATH_RECORD.pack(preference, weight, len(functions), *room)


def path_record_of(value: bytes) -> tuple[int, int, tuple[int, ...]]:
    """Preference, weight, functions."""
    preference, weight, count, *functions = _PATH_RECORD.unpack(value)
    return preference, weight, tuple(functions[:count])


def state(value: FunctionState) -> bytes:
    return number(_STATES.index(value))


def state_of(value: bytes) -> FunctionState:
    return _STATES[number_of(value)]


# Counters: the sums of all CPUs.


def traffic_of(value: bytes) -> Traffic:
    return Traffic(*map(sum, zip(*_COUNT.iter_unpack(value), strict=True)))


def drops_of(value: bytes) -> ChainDrops:
    return ChainDrops(*map(sum, zip(*_DROPS.iter_unpack(value), strict=True)))
