"""``show proxies``: service proxies, with status and what they counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.sids import find
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.model.desired import Proxy, Sid
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


class _Row(NamedTuple):
    """``state`` is the container ``proxy/state``."""

    sid: Sid
    proxy: Proxy
    state: Mapping[str, Any]
    totals: Mapping[str, int]
    status: ObjectStatus

    @property
    def chain(self) -> str:
        flows = len(self.state.get("flow-chain", []))
        return f"{flows} chains of flows" if flows else " ".join(rows.segments_of(self.state))


def _json(row: _Row) -> dict[str, Any]:
    reported = {"state": row.state, "totals": row.totals}
    return rows.sid_json(row.sid) | reported | rows.status_json(row.status)


PROXIES: Table[_Row] = Table(
    "proxies",
    (
        Field("SID", lambda r: Cell(str(r.sid.prefix), "name"), key=lambda r: r.sid.prefix),
        Field("BEHAVIOR", lambda r: r.sid.behavior.value),
        Field("INNER", lambda r: r.proxy.inner_type),
        Field("OUT, BACK", lambda r: f"{r.proxy.interface} {r.proxy.return_interface}"),
        rows.number("SENT", lambda r: r.totals["to-function"]),
        rows.number("BACK", lambda r: r.totals["from-function"]),
        rows.errors("ERRORS", lambda r: r.totals["errors"]),
        Field("CHAIN", lambda r: r.chain or "-"),
        *rows.state_fields(lambda r: r.status),
    ),
    _json,
    none="no service proxy is declared",
    name=lambda r: str(r.sid.prefix),
    filters={
        "locator": lambda r: r.sid.locator,
        "behavior": lambda r: r.sid.behavior.value,
        "status": lambda r: r.status.status.text,
    },
    find=find,
)


@listed(PROXIES)
def proxies(session: Session) -> Iterable[_Row]:
    """Service proxies: packets both ways, errors, and the segment list that is restored."""
    desired, state = session.desired(), session.state
    statuses, reported = state.statuses(), state.proxies()
    found = []
    for sid in sorted(desired.sids.values(), key=lambda one: one.prefix):
        if sid.proxy is not None:
            name = str(sid.prefix)
            shown = reported.get(name, {})
            status = statuses.get(ObjectRef(Kind.SID, name), rows.UNKNOWN)
            found.append(_Row(sid, sid.proxy, shown, rows.proxy_totals(shown), status))
    return found
