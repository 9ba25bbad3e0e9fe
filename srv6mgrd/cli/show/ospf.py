"""``show ospf``: OSPF of VRFs, with status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.outcomes import ospf as declared
from srv6mgrd.model.status import Kind, ObjectStatus


class _Row(NamedTuple):
    vrf: str
    version: int
    interfaces: list[str]
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    reported = {"vrf": row.vrf, "version": row.version, "interface": row.interfaces}
    return reported | rows.status_json(row.status)


OSPF: Table[_Row] = Table(
    "ospf",
    (
        Field("VRF", lambda r: Cell(r.vrf, "name")),
        rows.number("VERSION", lambda r: r.version),
        Field("INTERFACES", lambda r: " ".join(r.interfaces)),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no VRF speaks OSPF",
    name=lambda r: r.vrf,
    filters={"status": lambda r: r.status.status.text},
)


@listed(OSPF)
def ospf(session: Session) -> Iterable[_Row]:
    """OSPF of VRFs, and what it is missing."""
    desired, statuses = session.desired(), session.state.statuses()
    found = []
    for ref in declared(desired):
        one = (desired.ospf if ref.kind is Kind.OSPF else desired.ospfv3)[ref.name]
        names = [interface.name for interface in one.interfaces]
        found.append(_Row(ref.name, one.version, names, statuses.get(ref, rows.UNKNOWN)))
    return found
