"""``show classifiers``: rules for what comes in, with what matched them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.chain_state import ChainState
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.chains import Classifier, ClassifierRule
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    classifier: Classifier
    rule: ClassifierRule
    state: Mapping[str, Any]
    status: ObjectStatus

    @property
    def place(self) -> str:
        if self.classifier.vrf is not None:
            return f"VRF {self.classifier.vrf}"
        return " ".join(self.classifier.interfaces)

    @property
    def matches(self) -> dict[str, Any]:
        """What packets have to have, by the leaves of the rule."""
        rule = self.rule
        given = {
            "inner-type": rule.family,
            "source-prefix": rule.source,
            "destination-prefix": rule.destination,
            "protocol": rule.protocol,
            "source-port": _ports(rule.source_ports),
            "destination-port": _ports(rule.destination_ports),
            "dscp": rule.dscp,
            "mark": rule.mark,
        }
        return {
            leaf: value if isinstance(value, int) else str(value)
            for leaf, value in given.items()
            if value is not None
        }

    @property
    def action(self) -> str:
        if self.rule.chain is None:
            return "pass"
        return f"{self.rule.chain} ({self.rule.way})"

    def counted(self, leaf: str) -> int:
        return int(self.state.get(leaf, 0))


def _ports(ports: tuple[int, int] | None) -> str | None:
    if ports is None:
        return None
    first, last = ports
    return str(first) if first == last else f"{first}-{last}"


def _json(row: _Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": row.classifier.name,
        "priority": row.rule.priority,
        **row.matches,
    }
    if row.rule.chain is not None:
        found |= {"service-function-chain": row.rule.chain, "direction": row.rule.way.value}
    found |= {"pkts": row.counted("pkts"), "octets": row.counted("octets")}
    return found | rows.status_json(row.status)


CLASSIFIERS: Table[_Row] = Table(
    "classifiers",
    (
        Field("CLASSIFIER", lambda r: Cell(r.classifier.name, "name")),
        Field("PLACE", lambda r: r.place),
        rows.number("PRIORITY", lambda r: r.rule.priority),
        Field("MATCHES", lambda r: " ".join(f"{k} {v}" for k, v in r.matches.items()) or "all"),
        Field("CHAIN", lambda r: r.action),
        rows.number("PKTS", lambda r: r.counted("pkts")),
        rows.number("OCTETS", lambda r: r.counted("octets")),
        Field("STATUS", lambda r: rows.status_cell(r.status)),
        Field("REASON", lambda r: r.status.reason, optional=True),
    ),
    _json,
    none="no classifier has rules",
    name=lambda r: r.classifier.name,
    filters={
        "chain": lambda r: r.rule.chain or "-",
        "status": lambda r: r.status.status.text,
    },
)


@listed(CLASSIFIERS)
def classifiers(session: Session) -> Iterable[_Row]:
    """Rules that put packets onto chains, and how many packets matched each."""
    desired, statuses = session.desired(), session.state.statuses()
    state = ChainState(session.state, desired)
    found = []
    for name, classifier in sorted(desired.chains.classifiers.items()):
        status = statuses.get(ObjectRef(Kind.CLASSIFIER, name), rows.UNKNOWN)
        counted = state.rules(name)
        found += [
            _Row(classifier, rule, counted.get(rule.priority, {}), status)
            for rule in classifier.rules
        ]
    return found
