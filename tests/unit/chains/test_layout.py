"""What is packed for the programs is read back as it was."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_network

import pytest

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import ClassifierValue, Node, PathInside, PathValue, SelectorKey
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainDrops, Traffic
from srv6mgrd.model.chains import ClassifierRule, FunctionState, Way

SEGMENTS = (IPv6Address("fcbb:0:2::"), IPv6Address("fcbb:0:3::"))
SOURCE = IPv6Address("fcbb:0:1::1")


@pytest.mark.parametrize(
    "rule",
    [
        ClassifierRule(7, None),
        ClassifierRule(7, "web", Way.REVERSE, Family.ETHERNET),
        ClassifierRule(7, "web", source=ip_network("0.0.0.0/0"), protocol=0, dscp=0, mark=0),
        ClassifierRule(
            7, "web", family=Family.IPV6, destination=ip_network("2001:db8::/32"), protocol=6,
            source_ports=(0, 0), destination_ports=(80, 65535), dscp=63, mark=0xFFFFFFFF,
        ),
    ],
)  # fmt: skip
def test_rules(rule: ClassifierRule) -> None:
    raw = layout.rule(rule, 0 if rule.chain is None else 3, 9)
    assert len(raw) == layout.RULE_SIZE
    assert (layout.chain_of_rule(raw), layout.place_of_rule(raw)) == (
        0 if rule.chain is None else 3,
        9,
    )
    assert layout.rule_of(raw, 7, rule.chain) == rule


@pytest.mark.parametrize(("family", "inside"), list(zip(Family, (4, 41, 143), strict=True)))
def test_paths(family: Family, inside: int) -> None:
    inside_of = PathInside(family, layout.place_of(("fw",)))
    raw = layout.path(5, 6, SOURCE, SEGMENTS, inside_of)
    assert PathValue.unpack(raw) == PathValue(6, SOURCE, SEGMENTS)
    header = raw[24:]
    assert header[24:40] == SEGMENTS[0].packed
    assert (header[6], header[40], header[43]) == (43, inside, 1)
    record = layout.path_record(1, 2, (3, 4))
    assert layout.path_record_of(record) == (1, 2, (3, 4))


def test_selectors() -> None:
    key = SelectorKey(3, Way.REVERSE, Family.ETHERNET)
    raw = layout.selector(key, [1] * layout.SLOTS)
    assert len(raw) == layout.SELECTOR_SIZE
    assert layout.selector_of(raw) == key


def test_classifiers_and_the_node() -> None:
    value = ClassifierValue(8, True, False, ((0, 1), (1, 2), (3, 0), (3, 0), (3, 4)))
    assert ClassifierValue.unpack(value.pack()) == value
    node = Node(3, bytes(range(6)), 9)
    assert Node.unpack(node.pack()) == node


def test_names() -> None:
    assert layout.name_of(layout.name(2, "fw")) == (2, "fw")
    with pytest.raises(ValueError, match="has more than 127 bytes"):
        layout.name(2, "f" * 128)


@pytest.mark.parametrize("state", list(FunctionState))
def test_states(state: FunctionState) -> None:
    assert layout.state_of(layout.state(state)) is state


def test_counters_are_the_sums_of_all_cpus() -> None:
    two = b"".join(n.to_bytes(8, "little") for n in (1, 2, 10, 20))
    assert layout.traffic_of(two) == Traffic(11, 22)
    drops = b"".join(n.to_bytes(8, "little") for n in (*range(5), *range(5)))
    assert layout.drops_of(drops) == ChainDrops(0, 2, 4, 6, 8)
