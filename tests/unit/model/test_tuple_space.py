"""Combinations of masks find the rule that a scan by priority finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ClassifierRule
from srv6mgrd.model.tuple_space import Kind, Ports, combinations, tuple_space


@dataclass(frozen=True, slots=True)
class Packet:
    """``ports`` None: it has none."""

    source: IPv4Address | IPv6Address
    destination: IPv4Address | IPv6Address
    protocol: int = 17
    ports: tuple[int, int] | None = (5000, 80)
    dscp: int = 0
    mark: int = 0

    @property
    def kind(self) -> Kind:
        return Kind.IPV4 if self.source.version == 4 else Kind.IPV6


def scanned(rules: Sequence[ClassifierRule], packet: Packet) -> ClassifierRule | None:
    return min(
        (rule for rule in rules if _matches(rule, packet)), key=lambda r: r.priority, default=None
    )


def _matches(rule: ClassifierRule, packet: Packet) -> bool:
    family = Family.IPV4 if packet.source.version == 4 else Family.IPV6
    if rule.family not in (None, family, Family.ETHERNET):
        return False
    for network, address in (
        (rule.source, packet.source),
        (rule.destination, packet.destination),
    ):
        if network is not None and address not in network:
            return False
    for wanted, port in zip(
        (rule.source_ports, rule.destination_ports), packet.ports or (None, None), strict=True
    ):
        if wanted is not None and (port is None or not wanted[0] <= port <= wanted[1]):
            return False
    return (
        rule.protocol in (None, packet.protocol)
        and rule.dscp in (None, packet.dscp)
        and rule.mark in (None, packet.mark)
    )


def looked_up(rules: Sequence[ClassifierRule], packet: Packet) -> ClassifierRule | None:
    """As search.h does."""
    found: ClassifierRule | None = None
    for masks, best, entries in tuple_space(rules)[packet.kind]:
        if found is not None and best >= found.priority:
            break
        ports = packet.ports or (0, 0)
        if masks.with_ports and (
            packet.ports is None
            or not masks.source_ports.low <= ports[0] <= masks.source_ports.high
            or not masks.destination_ports.low <= ports[1] <= masks.destination_ports.high
        ):
            continue
        values = (
            _masked(packet.source, masks.source),
            _masked(packet.destination, masks.destination),
            ports[0] & masks.source_ports.mask,
            ports[1] & masks.destination_ports.mask,
            packet.protocol if masks.protocol else 0,
            packet.dscp if masks.dscp else 0,
            packet.mark if masks.mark else 0,
        )
        rule = next((rule for key, rule in entries.items() if tuple(key) == values), None)
        if rule is not None and (found is None or rule.priority < found.priority):
            found = rule
    return found


def _masked(address: IPv4Address | IPv6Address, length: int) -> bytes:
    if not length:
        return b""
    network: IPv4Network | IPv6Network = ip_network((address.packed, length), strict=False)
    return network.network_address.packed


_ADDRESSES = {
    4: st.integers(0, 7).map(lambda n: IPv4Address(0x0A000000 + n)),
    6: st.integers(0, 7).map(lambda n: IPv6Address((0x20010DB8 << 96) + n)),
}
_PORTS = st.integers(0, 20)
_RANGES = st.one_of(st.none(), st.tuples(_PORTS, _PORTS).map(lambda pair: (min(pair), max(pair))))
_FEW = st.one_of(st.none(), st.integers(0, 2))


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    addresses = _ADDRESSES[draw(st.sampled_from((4, 6)))]
    return Packet(
        draw(addresses), draw(addresses), draw(st.integers(0, 2)),
        draw(st.one_of(st.none(), st.tuples(_PORTS, _PORTS))),
        draw(st.integers(0, 2)), draw(st.integers(0, 2)),
    )  # fmt: skip


@st.composite
def some_rules(draw: st.DrawFn) -> list[ClassifierRule]:
    found = []
    for priority in range(draw(st.integers(0, 12))):
        version = draw(st.sampled_from((4, 6)))

        def prefix(version: int = version) -> IPv4Network | IPv6Network | None:
            if draw(st.booleans()):
                return None
            length = draw(st.integers(28, 32)) + (96 if version == 6 else 0)
            address = draw(_ADDRESSES[version])
            return ip_network((address.packed, length), strict=False)

        rule = ClassifierRule(
            priority, None, source=prefix(), destination=prefix(), protocol=draw(_FEW),
            source_ports=draw(_RANGES), destination_ports=draw(_RANGES), dscp=draw(_FEW),
            mark=draw(_FEW),
        )  # fmt: skip
        found.append(rule)
    return found


@given(some_rules(), packets())
def test_the_rule_that_a_scan_finds(rules: list[ClassifierRule], packet: Packet) -> None:
    assert looked_up(rules, packet) == scanned(rules, packet)


def test_ranges_are_combinations_of_their_own_while_they_are_few() -> None:
    rules = [ClassifierRule(n, None, destination_ports=(1024 + n, 2000)) for n in range(1, 9)]
    assert combinations(tuple(rules)) == 8
    assert {c.masks.destination_ports for c in tuple_space(rules)[Kind.IPV6]} == {
        Ports(1024 + n, 2000) for n in range(1, 9)
    }


def test_many_ranges_are_cut_to_prefixes() -> None:
    rules = [ClassifierRule(n, None, destination_ports=(n + 1, 0xFFFF)) for n in range(1000)]
    assert combinations(tuple(rules)) <= 16


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        (ClassifierRule(1, None), {Kind.IPV4, Kind.IPV6}),
        (ClassifierRule(1, None, family=Family.IPV4), {Kind.IPV4}),
        (ClassifierRule(1, None, family=Family.ETHERNET), set(Kind)),
        (
            ClassifierRule(1, None, family=Family.ETHERNET, protocol=6),
            set(Kind) - {Kind.OTHER},
        ),
        (
            ClassifierRule(1, None, destination=ip_network("224.0.0.0/8")),
            {Kind.IPV4, Kind.LOCAL4},
        ),
        (ClassifierRule(1, None, destination=ip_network("fe80::/9")), {Kind.IPV6}),
        (ClassifierRule(1, None, destination=ip_network("fe80::/10")), {Kind.IPV6, Kind.LOCAL6}),
    ],
)
def test_packets_of_the_link_are_matched_by_what_names_them(
    rule: ClassifierRule, kinds: set[Kind]
) -> None:
    assert {kind for kind, found in tuple_space([rule]).items() if found} == kinds


def test_ten_thousand_rules_are_few_combinations() -> None:
    rules = [
        ClassifierRule(n, None, source=ip_network((n << 8, 24)), destination_ports=(80, 80))
        for n in range(10_000)
    ]
    assert combinations(tuple(rules)) == 1
