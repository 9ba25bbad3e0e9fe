"""``show functions``: service functions, whether they let packets through, and what they got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.chain_state import ChainState, Passed
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.chains import ServiceFunction
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus

STYLES = {"up": "good", "draining": "warn", "down": "bad"}


class _Row(NamedTuple):
    function: ServiceFunction
    state: Mapping[str, Any]
    passed: Passed | None
    status: ObjectStatus

    @property
    def health(self) -> str:
        found: str = self.state.get("function-state", "-")
        return found

    @property
    def reason(self) -> str:
        found: str = self.state.get("function-state-reason", "")
        return found or self.status.reason

    @property
    def place(self) -> str:
        proxied = self.function.proxied
        if proxied is None:
            return "-"
        return " ".join(dict.fromkeys((proxied.interface, proxied.return_interface)))


def _json(row: _Row) -> dict[str, Any]:
    found: dict[str, Any] = {"name": row.function.name, **row.state}
    if row.function.proxied is not None:
        found["interface"] = row.function.proxied.interface
        found["return-interface"] = row.function.proxied.return_interface
    if row.passed is not None:
        found |= {"in-pkts": row.passed.entered, "out-pkts": row.passed.left}
    return found | rows.status_json(row.status)


def count(passed: Passed | None, attribute: str) -> str:
    """A number of a function; functions elsewhere have none."""
    return "-" if passed is None else str(getattr(passed, attribute))


def delay(state: Mapping[str, Any]) -> str:
    """That of health checks."""
    return f"{state['delay']} us" if "delay" in state else "-"


FUNCTIONS: Table[_Row] = Table(
    "functions",
    (
        Field("FUNCTION", lambda r: Cell(r.function.name, "name")),
        Field("STATE", lambda r: Cell(r.health, STYLES.get(r.health, "dim"))),
        Field("IN, OUT", lambda r: r.place),
        Field("IN PKTS", lambda r: count(r.passed, "entered"), right=True),
        Field("OUT PKTS", lambda r: count(r.passed, "left"), right=True),
        Field("DELAY", lambda r: delay(r.state), right=True),
        Field("STATUS", lambda r: rows.status_cell(r.status)),
        Field("REASON", lambda r: r.reason, optional=True),
    ),
    _json,
    none="no service function is declared",
    name=lambda r: r.function.name,
    filters={"state": lambda r: r.health, "status": lambda r: r.status.status.text},
)


@listed(FUNCTIONS)
def functions(session: Session) -> Iterable[_Row]:
    """Service functions: whether they let packets through, and how many they got."""
    desired, statuses = session.desired(), session.state.statuses()
    state = ChainState(session.state, desired)
    return [
        _Row(
            function,
            state.function(name),
            state.passed(name),
            statuses.get(ObjectRef(Kind.SERVICE_FUNCTION, name), rows.UNKNOWN),
        )
        for name, function in sorted(desired.chains.functions.items())
    ]
