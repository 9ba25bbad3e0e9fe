"""``show vrfs NAME``: all that is known of one VRF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srv6mgrd.cli import vrf_routes
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.neighbors import Neighbor, neighbor_json, neighbors_of
from srv6mgrd.cli.units import counted
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus


@dataclass(frozen=True, slots=True)
class Detail:
    """The dependents of a VRF. ``routes`` are numbers by family, and of those that lead to a remote
    SID; None where the kernel can't be asked."""

    sids: Mapping[str, tuple[Mapping[str, Any], ObjectStatus]]
    neighbors: Sequence[Neighbor]
    interfaces: Mapping[str, str]
    routes: Mapping[str, int] | None

    def json(self) -> dict[str, Any]:
        return {
            "sids": [
                rows.entry_json(sid) | rows.status_json(status)
                for sid, status in self.sids.values()
            ],
            "neighbors": [neighbor_json(one) for one in self.neighbors],
            "interfaces": [{"name": n, "oper-status": s} for n, s in self.interfaces.items()],
            "routes": self.routes,
        }


def gather(session: Session, vrf: str, table: int, interfaces: Sequence[str]) -> Detail:
    """Raises Problem when srv6mgrd's state can't be read."""
    state = session.state
    statuses, observed = state.statuses(), state.observed()
    seen = {
        entry["name"]: entry["state"].get("srv6mgr-interfaces:oper-status", "unknown")
        for entry in observed.get("interfaces", {}).get("interface", ())
    }
    with session.one_look():
        neighbors = neighbors_of(session.desired(), observed)
        sids = {name: sid for name, sid in session.sids().items() if sid.get("vrf") == vrf}
    return Detail(
        {
            name: (sids[name], statuses.get(ObjectRef(Kind.SID, name), rows.UNKNOWN))
            for name in sorted(sids, key=rows.prefix_key)
        },
        [one for one in neighbors if one.vrf == vrf],
        {name: seen.get(name, "unknown") for name in interfaces},
        _routes(vrf, table),
    )


def _routes(vrf: str, table: int) -> dict[str, int] | None:
    try:
        found = vrf_routes.read({vrf: table})
    except Problem:
        return None
    counts = Counter(f"ipv{route.prefix.version}" for route in found)
    return {**counts, "remote": sum(bool(route.sids) for route in found)}


def show(session: Session, facts: Sequence[tuple[str, Cell | str]], detail: Detail) -> None:
    """``facts`` are those that the table has."""
    out = session.out
    more: list[tuple[str, Cell | str]] = [
        ("interfaces", ", ".join(f"{n} ({s})" for n, s in detail.interfaces.items()) or "none"),
        ("routes", _counted(detail.routes)),
    ]
    out.table(
        [Column(""), Column("")],
        [(Cell(name, "head"), value) for name, value in (*facts, *more) if value],
    )
    if detail.sids:
        out.line()
        columns = [Column("SID"), Column("BEHAVIOR"), Column("STATUS"), Column("REASON")]
        table = [
            (Cell(name, "name"), rows.behavior_of(sid), rows.status_cell(status), status.reason)
            for name, (sid, status) in detail.sids.items()
        ]
        out.table(columns, table)
    if detail.neighbors:
        out.line()
        columns = [Column("NEIGHBOR"), Column("PROTOCOL"), Column("STATE"), Column("REASON")]
        table = [
            (Cell(one.neighbor, "name"), one.protocol, one.state_cell, one.reason)
            for one in detail.neighbors
        ]
        out.table(columns, table)


def _counted(routes: Mapping[str, int] | None) -> str:
    if routes is None:
        return "they can't be read"
    remote = counted(routes["remote"], "route")
    every = ", ".join(f"{routes.get(family, 0)} {family}" for family in ("ipv4", "ipv6"))
    return f"{every}; {remote} to remote SIDs"
