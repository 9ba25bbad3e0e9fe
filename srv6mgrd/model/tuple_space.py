"""The rules of a classifier as the classifier's program looks them up: by combinations of masks,
with one look-up for each (tuple space search). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from ipaddress import IPv4Network, IPv6Network
from typing import NamedTuple

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ClassifierRule

# Combinations that the rules of one classifier may have, for each kind of packet
# (chains/bpf/maps.h, MAX_KIND_TUPLES).
MOST_COMBINATIONS = 512
# Ranges of ports that are no prefix are combinations of their own; more of them than this are cut
# to prefixes, of which there are 16 lengths.
_MOST_RANGES = 16
_ALL_PORTS = (0, 0xFFFF)


class Kind(IntEnum):
    """Packets that other rules match, in the order of ``enum kind`` (chains/bpf/maps.h). LOCAL
    ones are to multicast and link-local addresses or neighbor discovery; only rules that name
    such a destination, or take all frames, match them. OTHER are frames without a packet for this
    router."""

    OTHER = 0
    IPV4 = 1
    IPV6 = 2
    LOCAL4 = 3
    LOCAL6 = 4


class Ports(NamedTuple):
    """Within a range, and equal to a value in the bits of a mask."""

    low: int = 0
    high: int = 0xFFFF
    mask: int = 0


class Masks(NamedTuple):
    """What rules look at: lengths of prefixes, ports, and whether at the others."""

    source: int
    destination: int
    source_ports: Ports
    destination_ports: Ports
    with_ports: bool
    protocol: bool
    dscp: bool
    mark: bool


class Values(NamedTuple):
    """What a packet has to have there; addresses in 4 or 16 bytes, or none."""

    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    protocol: int
    dscp: int
    mark: int


class Combination(NamedTuple):
    """``rules`` by what they ask for; ``best`` is the lowest priority of them."""

    masks: Masks
    best: int
    rules: Mapping[Values, ClassifierRule]


def tuple_space(rules: Sequence[ClassifierRule]) -> dict[Kind, list[Combination]]:
    """The combinations by kind of packet, the best ones first."""
    found: dict[Kind, dict[Masks, dict[Values, ClassifierRule]]] = {kind: {} for kind in Kind}
    by_range = (
        _few_ranges(rule.source_ports for rule in rules),
        _few_ranges(rule.destination_ports for rule in rules),
    )
    for rule in sorted(rules, key=lambda rule: rule.priority):
        kinds = _kinds(rule)
        for masks, values in _entries(rule, by_range):
            for kind in kinds:
                found[kind].setdefault(masks, {}).setdefault(values, rule)
    # Rules came by priority, and so did the first one of each.
    return {
        kind: [
            Combination(masks, next(iter(entries.values())).priority, entries)
            for masks, entries in combinations.items()
        ]
        for kind, combinations in found.items()
    }


def combinations(rules: tuple[ClassifierRule, ...]) -> int:
    """The most that packets of one kind have; more than MOST_COMBINATIONS can't be looked up."""
    return max(map(len, tuple_space(rules).values()))


def _kinds(rule: ClassifierRule) -> tuple[Kind, ...]:
    version = next((n.version for n in (rule.source, rule.destination) if n is not None), None)
    if rule.family is Family.IPV4 or version == 4:
        ip: tuple[Kind, ...] = (Kind.IPV4, Kind.LOCAL4)
    elif rule.family is Family.IPV6 or version == 6:
        ip = (Kind.IPV6, Kind.LOCAL6)
    else:
        ip = (Kind.IPV4, Kind.IPV6, Kind.LOCAL4, Kind.LOCAL6)
    if rule.family is not Family.ETHERNET:
        named = rule.destination is not None and _is_local(rule.destination)
        return ip if named else tuple(kind for kind in ip if kind <= Kind.IPV6)
    asks_ip = version or rule.protocol is not None or rule.dscp is not None or _asks_ports(rule)
    return ip if asks_ip else (Kind.OTHER, *ip)


def _is_local(network: IPv4Network | IPv6Network) -> bool:
    """Multicast, link-local, or broadcast."""
    first, second = network.network_address.packed[:2]
    length = network.prefixlen
    if network.version == 6:
        return (first == 0xFF and length >= 8) or (
            first == 0xFE and second & 0xC0 == 0x80 and length >= 10
        )
    return (first >> 4 == 14 and length >= 4) or (
        ((first, second) == (169, 254) and length >= 16)
        or (length == 32 and int(network.network_address) == 0xFFFFFFFF)
    )


def _asks_ports(rule: ClassifierRule) -> bool:
    return rule.source_ports is not None or rule.destination_ports is not None


def _entries(rule: ClassifierRule, by_range: tuple[bool, bool]) -> Iterator[tuple[Masks, Values]]:
    source, destination = rule.source, rule.destination
    for source_ports, source_port in _ports(rule.source_ports, by_range[0]):
        for destination_ports, destination_port in _ports(rule.destination_ports, by_range[1]):
            masks = Masks(
                source.prefixlen if source is not None else 0,
                destination.prefixlen if destination is not None else 0,
                source_ports,
                destination_ports,
                _asks_ports(rule),
                rule.protocol is not None,
                rule.dscp is not None,
                rule.mark is not None,
            )
            yield (
                masks,
                Values(
                    source.network_address.packed if masks.source and source else b"",
                    destination.network_address.packed
                    if masks.destination and destination
                    else b"",
                    source_port,
                    destination_port,
                    rule.protocol or 0,
                    rule.dscp or 0,
                    rule.mark or 0,
                ),
            )


def _few_ranges(wanted: Iterator[tuple[int, int] | None]) -> bool:
    """Whether there are few ranges that are no prefix."""
    found = {ports for ports in wanted if ports is not None and len(_prefixes(*ports)) > 1}
    return len(found) <= _MOST_RANGES


def _ports(wanted: tuple[int, int] | None, by_range: bool) -> list[tuple[Ports, int]]:
    """What to look at, and the value there."""
    if wanted is None or wanted == _ALL_PORTS:
        return [(Ports(), 0)]
    prefixes = _prefixes(*wanted)
    if by_range and len(prefixes) > 1:
        return [(Ports(*wanted), 0)]
    return [(Ports(mask=0xFFFF << bits & 0xFFFF), first) for first, bits in prefixes]


def _prefixes(low: int, high: int) -> list[tuple[int, int]]:
    """A range as prefixes: the first of each, and how many bits behind it are any."""
    found = []
    while low <= high:
        bits = (low & -low).bit_length() - 1 if low else 16
        while low + (1 << bits) - 1 > high:
            bits -= 1
        found.append((low, bits))
        low += 1 << bits
    return found
