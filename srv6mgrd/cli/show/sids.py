"""``show sids``: local SIDs with status and counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from srv6mgrd.cli import services
from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.table import Field, Table, listed
from srv6mgrd.cli.sid_argument import chosen
from srv6mgrd.model.status import Kind, ObjectStatus, SidCounters


class _Row(NamedTuple):
    """``sid`` is an entry of the model's list; None where sysrepo can't be asked."""

    prefix: str
    sid: Mapping[str, Any] | None
    status: ObjectStatus
    counters: SidCounters
    service: services.Service

    @property
    def whole(self) -> ObjectStatus:
        """With the reason of the service, where the SID itself has none."""
        reason = self.status.reason or services.reason(self.service)
        return replace(self.status, reason=reason) if reason else self.status


def find(wanted: str, declared: Sequence[str]) -> str:
    """The prefix of the SID that is meant. Raises Problem."""
    return chosen(wanted, frozenset(declared))


def _json(row: _Row) -> dict[str, Any]:
    return {
        **(rows.entry_json(row.sid) if row.sid else {"prefix": row.prefix}),
        "service": dict(row.service),
        **rows.status_json(row.status),
        "counters": rows.counters_json(row.counters),
    }


def _leaf(name: str) -> Callable[[_Row], str]:
    return lambda r: r.sid.get(name, "") if r.sid else ""


SIDS: Table[_Row] = Table(
    "sids",
    (
        Field("SID", lambda r: Cell(r.prefix, "name"), key=lambda r: rows.prefix_key(r.prefix)),
        Field("SERVICE", lambda r: services.cell(r.service)),
        Field("BEHAVIOR", lambda r: rows.behavior_of(r.sid) if r.sid else "?"),
        Field("LEADS TO", lambda r: rows.leads_to(r.sid) if r.sid else "?"),
        rows.number("PACKETS", lambda r: r.counters.packets),
        rows.errors("ERRORS", lambda r: r.counters.errors),
        *rows.state_fields(lambda r: r.whole),
    ),
    _json,
    none="no SID is declared",
    name=lambda r: r.prefix,
    filters={
        "vrf": _leaf("vrf"),
        "locator": _leaf("locator"),
        "behavior": lambda r: rows.behavior_name(r.sid) if r.sid else "",
        "status": lambda r: r.status.status.text,
        "service": lambda r: services.state(r.service),
    },
    find=find,
    complete=complete_sids,
)


@listed(SIDS)
def sids(session: Session) -> Iterable[_Row]:
    """Local SIDs with status and counters.

    PATTERN is a prefix, an address within it, or has wildcards (fcbb:0:1:*).
    """
    declared: Mapping[str, Mapping[str, Any]] = {}
    try:
        declared = session.sids()
    except Problem as problem:
        session.out.note(f"srv6ctl: what is declared can't be shown: {problem}")
    state = session.state
    statuses, counters = state.statuses(), dict(state.sample().counters.items())
    known = {ref.name: status for ref, status in statuses.items() if ref.kind is Kind.SID}
    judged, nothing = services.of_sids(state.observed()), SidCounters()
    return [
        _Row(
            name,
            declared.get(name),
            known.get(name, rows.UNKNOWN),
            counters.get(name, nothing),
            services.of_sid(judged, name, known.get(name, rows.UNKNOWN)),
        )
        for name in sorted(declared.keys() | known.keys(), key=rows.prefix_key)
    ]
