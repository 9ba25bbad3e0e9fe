"""Rules as they are read back from maps that are made here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import ClassifierValue, RuleKey
from srv6mgrd.chains.names import Named, NameTable
from srv6mgrd.chains.path_table import PathTable
from srv6mgrd.chains.programs import Maps
from srv6mgrd.chains.rule_table import Decoded, RuleTable
from srv6mgrd.ebpf import libbpf
from srv6mgrd.ebpf.libbpf import Map
from srv6mgrd.kinds.chain.object import ClassifierRules
from srv6mgrd.model.chains import ClassifierRule
from srv6mgrd.model.tuple_space import Kind


class Contents(dict[bytes, bytes]):
    """A map."""

    def put(self, key: bytes, value: bytes) -> None:
        self[key] = value

    def delete(self, key: bytes) -> None:
        self.pop(key, None)

    def items(self, size: int = 0) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[override]
        yield from [(key, self[key]) for key in self]


def _read(dscp: int, decoded: Decoded) -> None:
    """A classifier whose rules ask for this."""
    rules = tuple(ClassifierRule(priority, None, dscp=dscp) for priority in range(10))
    classifier = ClassifierValue(1, by_mark=False, by_dscp=True, tuples=((0, 1),) * len(Kind))
    maps = SimpleNamespace(
        names=Contents({layout.number(1): layout.name(Named.CLASSIFIER, "tenant")}),
        classifiers=Contents({layout.number(1): classifier.pack()}),
        rules=Contents(
            {
                RuleKey(1, 1, rule.priority).pack(): layout.rule(rule, 0, rule.priority)
                for rule in rules
            }
        ),
    )
    names = NameTable(cast("Maps", maps).names)
    (found,) = RuleTable(cast("Maps", maps), names, decoded).rules()
    assert found.rules == rules


def test_rules_that_are_gone_take_no_memory() -> None:
    decoded: Decoded = {}
    for dscp in range(64):
        _read(dscp, decoded)
    assert len(decoded) <= 30


def test_the_largest_priority_is_one_that_programs_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take 2^32 - 1 for no rule."""
    monkeypatch.setattr(libbpf, "possible_cpus", lambda: 1)
    names = ("names", "classifiers", "rules", "rule_counts", "nodes", "tuples", "entries")
    maps = cast("Maps", SimpleNamespace(**{name: Contents() for name in names}))
    rules = (
        ClassifierRule(7, None, dscp=8),
        ClassifierRule(8, None, protocol=6),
        ClassifierRule(0xFFFFFFFF, None),
    )
    table = RuleTable(maps, NameTable(maps.names), {})
    assert table.put(ClassifierRules("tenant", rules), cast("PathTable", None)) is None
    assert list(table.rules()) == [ClassifierRules("tenant", rules)]
    assert {int.from_bytes(value[:4], sys.byteorder) for value in _values(maps.entries)} == {
        0,
        1,
        2,
    }


def _values(some: Map) -> list[bytes]:
    return [value for _, value in some.items(0)]
