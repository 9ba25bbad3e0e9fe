"""``show vrfs``: VRFs with status, and one in detail."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from srv6mgrd.cli import services
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.counters.yang import advertised
from srv6mgrd.model.desired import Vrf
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    """``bgp`` is None of a VRF that is not in BGP."""

    vrf: Vrf
    status: ObjectStatus
    bgp: ObjectStatus | None
    service: services.Service

    @property
    def whole(self) -> ObjectStatus:
        """Two objects and a service, one line: the one that is not well reports why."""
        of_bgp = self.bgp.reason if self.bgp is not None else ""
        reason = self.status.reason or of_bgp or services.reason(self.service)
        return replace(self.status, reason=reason)


def _json(row: _Row) -> dict[str, Any]:
    reported = {
        "name": row.vrf.name,
        "table-id": row.vrf.table,
        "interface": list(row.vrf.interfaces),
        "service": dict(row.service),
        **rows.status_json(row.status),
    }
    if row.bgp is not None:
        sids = advertised(row.bgp.detail) or {"advertised-sid": ""}
        reported["bgp"] = rows.status_json(row.bgp) | sids
    return reported


def _detail(session: Session, row: _Row) -> None:
    from srv6mgrd.cli.show import vrf_detail

    detail = vrf_detail.gather(session, row.vrf.name, row.vrf.table, row.vrf.interfaces)
    if session.out.as_json:
        session.out.json({"vrfs": [_json(row) | detail.json()]})
        return
    status = row.whole
    facts: list[tuple[str, Cell | str]] = [
        ("VRF", Cell(row.vrf.name, "name")),
        ("service", services.cell(row.service)),
        *(("", f"{one['cause']}; {one['remedy']}") for one in row.service.get("condition", ())),
        ("table", str(row.vrf.table)),
        ("status", rows.status_cell(row.status)),
        ("since", rows.since_cell(status, time.time_ns())),
        ("reason", row.status.reason),
    ]
    if row.bgp is not None:
        facts += [
            ("BGP", rows.status_cell(row.bgp)),
            ("", row.bgp.reason),
            ("advertises", row.bgp.detail or "no SID"),
        ]
    vrf_detail.show(session, facts, detail)


VRFS: Table[_Row] = Table(
    "vrfs",
    (
        Field("VRF", lambda r: Cell(r.vrf.name, "name")),
        Field("SERVICE", lambda r: services.cell(r.service)),
        rows.number("TABLE", lambda r: r.vrf.table),
        Field("INTERFACES", lambda r: " ".join(r.vrf.interfaces) or "-"),
        Field("BGP", lambda r: rows.status_cell(r.bgp) if r.bgp else "-"),
        Field("ADVERTISES", lambda r: (r.bgp.detail if r.bgp else "") or "-"),
        *rows.state_fields(lambda r: r.whole),
    ),
    _json,
    none="no VRF is declared",
    name=lambda r: r.vrf.name,
    filters={
        "status": lambda r: r.status.status.text,
        "service": lambda r: services.state(r.service),
    },
    detail=_detail,
)


@listed(VRFS)
def vrfs(session: Session) -> Iterable[_Row]:
    """VRFs, their interfaces, and the SID that each advertises.

    A named VRF is shown with its SIDs, neighbors, interfaces and numbers of routes.
    """
    desired, statuses = session.desired(), session.state.statuses()
    judged = services.of_vrfs(session.state.observed())
    return [
        _Row(
            vrf,
            statuses.get(ObjectRef(Kind.VRF, name), rows.UNKNOWN),
            statuses.get(ObjectRef(Kind.VRF_BGP, name)),
            judged.get(name, services.UNKNOWN),
        )
        for name, vrf in sorted(desired.vrfs.items())
    ]
