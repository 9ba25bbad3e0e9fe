"""``show locators``: locators with status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.desired import Locator
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    locator: Locator
    sids: int
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    return {
        "name": row.locator.name,
        "prefix": str(row.locator.prefix),
        "micro-segment": row.locator.micro_segment,
        "sids": row.sids,
        **rows.status_json(row.status),
    }


LOCATORS: Table[_Row] = Table(
    "locators",
    (
        Field("LOCATOR", lambda r: Cell(r.locator.name, "name")),
        Field("PREFIX", lambda r: str(r.locator.prefix)),
        Field("KIND", lambda r: "micro-segment" if r.locator.micro_segment else "classic"),
        rows.number("SIDS", lambda r: r.sids),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no locator is declared",
    name=lambda r: r.locator.name,
    filters={"status": lambda r: r.status.status.text},
)


@listed(LOCATORS)
def locators(session: Session) -> Iterable[_Row]:
    """Locators, and the number of their SIDs."""
    desired, statuses = session.desired(), session.state.statuses()
    counts = Counter(sid.locator for sid in desired.sids.values())
    return [
        _Row(locator, counts[name], statuses.get(ObjectRef(Kind.LOCATOR, name), rows.UNKNOWN))
        for name, locator in sorted(desired.locators.items())
    ]
