"""``show steering``: prefixes that are steered into segment lists, with status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.desired import SteeredRoute
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus

_MAIN = "main"


class _Row(NamedTuple):
    route: SteeredRoute
    segments: list[str]
    status: ObjectStatus


def _json(row: _Row) -> dict[str, Any]:
    return rows.route_json(row.route) | {"segments": row.segments} | rows.status_json(row.status)


STEERING: Table[_Row] = Table(
    "steering",
    (
        Field("VRF", lambda r: Cell(r.route.vrf or _MAIN, "name")),
        Field("PREFIX", lambda r: str(r.route.prefix)),
        Field("BEHAVIOR", lambda r: r.route.behavior.value),
        Field("SEGMENTS", lambda r: " ".join(r.segments)),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no prefix is steered",
    name=lambda r: str(r.route.prefix),
    filters={
        "vrf": lambda r: r.route.vrf or _MAIN,
        "status": lambda r: r.status.status.text,
    },
)


@listed(STEERING)
def steering(session: Session) -> Iterable[_Row]:
    """Prefixes that are steered into segment lists."""
    desired, statuses = session.desired(), session.state.statuses()
    return [
        _Row(
            route,
            [str(s) for s in desired.segment_lists[route.segment_list].segments],
            statuses.get(ObjectRef(Kind.ROUTE, name), rows.UNKNOWN),
        )
        for name, route in sorted(desired.routes.items())
    ]
