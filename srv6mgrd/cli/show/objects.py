"""``show sids``, ``vrfs``, ``proxies``, ``locators``, ``routes``: what is declared, with status."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click

from srv6mgrd.cli.output import Cell, Column, Row
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.show import rows
from srv6mgrd.counters.yang import advertised, sid_counters
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.status import Kind, ObjectRef, ObjectStatus, SidCounters

Statuses = Mapping[ObjectRef, ObjectStatus]


@click.command()
@json_option
@pass_session
def sids(session: Session) -> None:
    """Local SIDs, their status and what they counted."""
    desired, why = session.desired_or_nothing()
    state = session.state
    statuses, counters = state.statuses(), state.sample().counters
    session.warn_if_stale()
    if why:
        session.out.note(f"srv6ctl: what is declared can't be shown: {why}")
    found = _sids(desired, statuses)
    if session.out.as_json:
        listed = [_sid_json(desired, p, status, counters.get(p)) for p, status in found.items()]
        session.out.json({"sids": listed})
        return
    columns = (
        Column("SID"),
        Column("BEHAVIOR"),
        Column("LEADS TO"),
        Column("PACKETS", right=True),
        Column("ERRORS", right=True),
        *rows.STATE,
    )
    now = time.time_ns()
    table = [
        _sid_row(desired, p, status, counters.get(p, SidCounters()), now)
        for p, status in found.items()
    ]
    session.out.table(columns, table)
    if not table:
        session.out.note("srv6ctl: no SID is declared")


def _sids(desired: Desired | None, statuses: Statuses) -> dict[str, ObjectStatus]:
    """Status by prefix, in the order of the prefixes."""
    from ipaddress import IPv6Network

    found = {ref.name: s for ref, s in statuses.items() if ref.kind is Kind.SID}
    for prefix in desired.sids if desired else ():
        found.setdefault(str(prefix), rows.UNKNOWN)
    return dict(sorted(found.items(), key=lambda item: IPv6Network(item[0])))


def _declared(desired: Desired | None, prefix: str) -> Any:
    from ipaddress import IPv6Network

    return desired.sids.get(IPv6Network(prefix)) if desired else None


def _sid_row(
    desired: Desired | None, prefix: str, status: ObjectStatus, c: SidCounters, now: int
) -> Row:
    sid = _declared(desired, prefix)
    return (
        Cell(prefix, "name"),
        rows.behavior_of(sid) if sid else "?",
        rows.leads_to(sid) if sid else "?",
        str(c.packets),
        Cell(str(c.errors), "bad" if c.errors else ""),
        rows.status_cell(status),
        rows.since_cell(status, now),
        status.reason,
    )


def _sid_json(
    desired: Desired | None, prefix: str, status: ObjectStatus, c: SidCounters | None
) -> dict[str, Any]:
    sid = _declared(desired, prefix)
    reported = rows.sid_json(sid) if sid else {"prefix": prefix}
    counted = sid_counters(c or SidCounters())
    numbers = {n: int(v) if v.isdigit() else v for n, v in counted.items()}
    return reported | rows.status_json(status) | {"counters": numbers}


@click.command()
@json_option
@pass_session
def vrfs(session: Session) -> None:
    """VRFs, their interfaces, and the SID that each advertises."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for vrf in sorted(desired.vrfs.values(), key=lambda v: v.name):
        status = statuses.get(ObjectRef(Kind.VRF, vrf.name), rows.UNKNOWN)
        bgp = statuses.get(ObjectRef(Kind.VRF_BGP, vrf.name))
        detail = bgp.detail if bgp else ""
        # Two objects, one line: the one that is not well tells why.
        reason = status.reason or (bgp.reason if bgp else "")
        table.append(
            (
                Cell(vrf.name, "name"),
                str(vrf.table),
                " ".join(vrf.interfaces) or "-",
                rows.status_cell(bgp) if bgp else "-",
                detail or "-",
                rows.status_cell(status),
                rows.since_cell(status, now),
                reason,
            )
        )
        reported = {
            "name": vrf.name,
            "table-id": vrf.table,
            "interface": list(vrf.interfaces),
            **rows.status_json(status),
        }
        if bgp:
            reported["bgp"] = rows.status_json(bgp) | (advertised(detail) or {"advertised-sid": ""})
        listed.append(reported)
    columns = (
        Column("VRF"),
        Column("TABLE", right=True),
        Column("INTERFACES"),
        Column("BGP"),
        Column("ADVERTISES"),
        *rows.STATE,
    )
    session.out.listing({"vrfs": listed}, columns, table, "no VRF is declared")


@click.command()
@json_option
@pass_session
def locators(session: Session) -> None:
    """Locators, and how many SIDs each has."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for locator in sorted(desired.locators.values(), key=lambda one: one.name):
        status = statuses.get(ObjectRef(Kind.LOCATOR, locator.name), rows.UNKNOWN)
        count = sum(sid.locator == locator.name for sid in desired.sids.values())
        kind = "micro-segment" if locator.micro_segment else "classic"
        table.append(
            (
                Cell(locator.name, "name"),
                str(locator.prefix),
                kind,
                str(count),
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(
            {
                "name": locator.name,
                "prefix": str(locator.prefix),
                "micro-segment": locator.micro_segment,
                "sids": count,
                **rows.status_json(status),
            }
        )
    columns = (
        Column("LOCATOR"),
        Column("PREFIX"),
        Column("KIND"),
        Column("SIDS", right=True),
        *rows.STATE,
    )
    session.out.listing({"locators": listed}, columns, table, "no locator is declared")


@click.command()
@json_option
@pass_session
def routes(session: Session) -> None:
    """Steered prefixes and their segments."""
    desired, statuses = session.desired(), session.state.statuses()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for route in sorted(desired.routes.values(), key=lambda one: one.name):
        status = statuses.get(ObjectRef(Kind.ROUTE, route.name), rows.UNKNOWN)
        segments = [str(s) for s in desired.segment_lists[route.segment_list].segments]
        table.append(
            (
                Cell(route.vrf or "main", "name"),
                str(route.prefix),
                route.behavior.value,
                " ".join(segments),
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(rows.route_json(route) | {"segments": segments} | rows.status_json(status))
    columns = (Column("VRF"), Column("PREFIX"), Column("BEHAVIOR"), Column("SEGMENTS"), *rows.STATE)
    session.out.listing({"routes": listed}, columns, table, "no prefix is steered")


@click.command()
@json_option
@pass_session
def proxies(session: Session) -> None:
    """Service proxies: packets both ways, errors, the chain that is put back on."""
    desired, state = session.desired(), session.state
    statuses, reported = state.statuses(), state.proxies()
    session.warn_if_stale()
    now, table, listed = time.time_ns(), [], []
    for sid in sorted(desired.sids.values(), key=lambda one: one.prefix):
        if sid.proxy is None:
            continue
        name = str(sid.prefix)
        status = statuses.get(ObjectRef(Kind.SID, name), rows.UNKNOWN)
        shown = reported.get(name, {})
        totals, flows = rows.proxy_totals(shown), len(shown.get("flow-chain", []))
        chain = f"{flows} chains of flows" if flows else " ".join(rows.segments_of(shown)) or "-"
        table.append(
            (
                Cell(name, "name"),
                sid.behavior.value,
                sid.proxy.inner_type,
                f"{sid.proxy.interface} {sid.proxy.return_interface}",
                str(totals["to-function"]),
                str(totals["from-function"]),
                Cell(str(totals["errors"]), "bad" if totals["errors"] else ""),
                chain,
                rows.status_cell(status),
                rows.since_cell(status, now),
                status.reason,
            )
        )
        listed.append(
            rows.sid_json(sid) | {"state": shown, "totals": totals} | rows.status_json(status)
        )
    columns = (
        Column("SID"),
        Column("BEHAVIOR"),
        Column("INNER"),
        Column("OUT, BACK"),
        Column("SENT", right=True),
        Column("BACK", right=True),
        Column("ERRORS", right=True),
        Column("CHAIN"),
        *rows.STATE,
    )
    session.out.listing({"proxies": listed}, columns, table, "no service proxy is declared")
