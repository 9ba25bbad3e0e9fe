"""Rules as they are read back from maps that are made here."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

from srv6mgrd.chains import layout
from srv6mgrd.chains.layout import ClassifierValue, RuleKey
from srv6mgrd.chains.names import Named, NameTable
from srv6mgrd.chains.programs import Maps
from srv6mgrd.chains.rule_table import Decoded, RuleTable
from srv6mgrd.model.chains import ClassifierRule
from srv6mgrd.model.tuple_space import Kind


class Contents(dict[bytes, bytes]):
    """A map."""

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
