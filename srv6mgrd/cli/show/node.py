"""``show capabilities``, ``commits``, ``transactions``, ``statistics``: the node as a whole."""

from __future__ import annotations

from typing import Any

import click

from srv6mgrd.cli import watching
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.counters.node import ACTIVITY, CAPABILITIES, STATISTICS

_STATUSES = {"done": "good", "awaiting-confirmation": "warn", "rolled-back": "dim"}


@click.command()
@json_option
@pass_session
def capabilities(session: Session) -> None:
    """Features of the kernel and FRR, and the reason if one is missing."""
    state: dict[str, Any] = session.state.node().get(CAPABILITIES, {})
    session.warn_if_stale()
    if session.out.as_json:
        session.out.json({"capabilities": state})
        return
    offered = (
        ("kernel", state.get("kernel", "not tried out yet")),
        ("FRR", state.get("frr", "can't be reached")),
        ("behaviors", _words(state.get("behavior", []))),
        ("flavors", _words(state.get("flavor", []), ", ")),
        ("headends", _words(state.get("headend-behavior", []))),
        ("facilities", _words(state.get("facility", []))),
    )
    session.out.table([Column(""), Column("")], [(Cell(n, "head"), v) for n, v in offered])
    if missing := state.get("missing", []):
        rows = [(Cell(m["name"], "warn"), m.get("reason", "")) for m in missing]
        session.out.line()
        session.out.table([Column("MISSING"), Column("REASON")], rows)


def _words(names: list[str], between: str = " ") -> str:
    return between.join(name.rpartition(":")[2] for name in names) or "none"


@click.command()
@json_option
@pass_session
@watching.watched
def commits(session: Session) -> None:
    """The commit in progress, and the last commits."""
    state: dict[str, Any] = session.state.node().get(ACTIVITY, {})
    if session.out.as_json:
        session.warn_if_stale()
        session.out.json({"activity": state, "transactions": session.state.transactions()})
        return
    if state:
        where = f" at {state['object']}" if "object" in state else ""
        session.out.line(
            Cell(f"{state['kind']} for {state['elapsed']} s", "head"),
            f": {state.get('stage', state['kind'])},"
            f" {state['done']} of {state['total']} operations"
            f" done{where}",
        )
        session.out.line()
    _list(session)


@click.command()
@json_option
@pass_session
@watching.watched
def transactions(session: Session) -> None:
    """The last commits, the newest first, and the pending one."""
    if session.out.as_json:
        session.warn_if_stale()
        session.out.json({"transactions": session.state.transactions()})
        return
    _list(session)


def _list(session: Session) -> None:
    state = session.state.transactions()
    session.warn_if_stale()
    columns = (
        Column("NUMBER", right=True),
        Column("TIME"),
        Column("DOOR"),
        Column("USER"),
        Column("FROM"),
        Column("OPERATIONS", right=True),
        Column("STATUS"),
        Column("COMMIT"),
    )
    rows = [
        (
            Cell(str(t["id"]), "name"),
            _local(t.get("time", "")),
            t.get("origin", "-"),
            t.get("user", "-"),
            t.get("source-host", "-"),
            str(t.get("actions", 0)),
            Cell(t.get("status", ""), _STATUSES.get(t.get("status", ""), "")),
            t.get("commit-id", "-"),
        )
        for t in state.get("transaction", [])
    ]
    session.out.table(columns, rows)
    if pending := state.get("pending"):
        session.out.line()
        session.out.line(
            Cell(f"commit {pending['id']} is undone at {_local(pending['deadline'])}", "warn"),
            " unless it is confirmed: srv6ctl confirm",
        )
        if problem := pending.get("problem"):
            session.out.line(Cell(f"it could not be undone yet: {problem}", "bad"))


@click.command()
@json_option
@pass_session
@watching.watched
def statistics(session: Session) -> None:
    """Counts of commits, comparisons, drift and repairs."""
    state: dict[str, Any] = session.state.node().get(STATISTICS, {})
    session.warn_if_stale()
    if session.out.as_json:
        session.out.json({"statistics": state})
        return
    rows = [(Cell(name, "head"), _local(v) if "time" in name or "last" in name else v)
            for name, v in state.items()]  # fmt: skip
    session.out.table([Column(""), Column("")], rows)


def _local(text: str) -> str:
    """A yang:date-and-time in the time zone of who looks."""
    from datetime import datetime

    from srv6mgrd.cli.units import NS, ns_of

    if not text:
        return "-"
    return f"{datetime.fromtimestamp(ns_of(text) / NS):%Y-%m-%d %H:%M:%S}"
