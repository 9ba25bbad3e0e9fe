"""``show leaks``: what VRFs import from other VRFs of the router, with status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.leaking import Leak
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    leak: Leak
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    reported = {"vrf": row.leak.importer, "from": row.leak.source}
    if row.leak.policy is not None:
        reported["policy"] = row.leak.policy
    return reported | rows.status_json(row.status)


LEAKS: Table[_Row] = Table(
    "leaks",
    (
        Field("VRF", lambda r: Cell(r.leak.importer, "name")),
        Field("FROM", lambda r: r.leak.source),
        Field("POLICY", lambda r: r.leak.policy or "-"),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no VRF imports from another one",
    name=lambda r: r.leak.importer,
    filters={"status": lambda r: r.status.status.text},
)


@listed(LEAKS)
def leaks(session: Session) -> Iterable[_Row]:
    """Imports of VRFs from other VRFs of the router."""
    desired, statuses = session.desired(), session.state.statuses()
    return [
        _Row(leak, statuses.get(ObjectRef(Kind.ROUTE_LEAK, name), rows.UNKNOWN))
        for name, leak in sorted(desired.leaks.items())
    ]
