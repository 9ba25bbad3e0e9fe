"""``show paths``: the sessions of path measurement, with the results of each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.units import ago, ns_of
from srv6mgrd.model import path_measurement

_MEMBER = "srv6mgr-path-measurement:path-measurement"
_STYLES = {"up": "good", "degraded": "warn", "down": "bad", "unknown": "warn"}
_UNKNOWN: Mapping[str, Any] = {
    "path-state": "unknown",
    "reason": "srv6mgrd has not reported it yet",
}
_COLUMNS = (
    Column("PATH"),
    Column("DESTINATION"),
    Column("SEGMENT LIST"),
    Column("STATE"),
    Column("SINCE", right=True),
    Column("LOSS", right=True),
    Column("DELAY", right=True),
    Column("DELAY 99%", right=True),
    Column("JITTER", right=True),
    Column("JITTER 99%", right=True),
    Column("REASON"),
)


@click.command()
@json_option
@pass_session
def paths(session: Session) -> None:
    """Paths that are measured: state, loss, round-trip delay and jitter (median and 99%)."""
    declared = session.desired().path_measurement.sessions
    observed = session.state.observed().get(_MEMBER, {})
    session.warn_if_stale()
    states = {one["name"]: one["state"] for one in observed.get("session", ())}
    now, table, listed = time.time_ns(), [], []
    for name, one in sorted(declared.items()):
        state = states.get(name, _UNKNOWN)
        table.append(_row(one, state, now))
        listed.append(
            {
                "name": name,
                "destination-address": str(one.destination),
                "segment-list": one.segment_list,
                **state,
            }
        )
    session.out.listing({"paths": listed}, _COLUMNS, table, "no path is measured")


def _row(
    one: path_measurement.Session, state: Mapping[str, Any], now: int
) -> tuple[Cell | str, ...]:
    measured = state.get("last-measurement", {})
    loss = measured.get("loss-ratio")
    return (
        Cell(one.name, "name"),
        str(one.destination),
        one.segment_list or "-",
        Cell(state["path-state"], _STYLES[state["path-state"]]),
        Cell(ago(ns_of(state["last-change"]), now) if "last-change" in state else "-", "dim"),
        f"{loss}%" if loss is not None else "-",
        *(
            _time(measured.get(container, {}).get(leaf))
            for container in ("round-trip-delay", "jitter")
            for leaf in ("median", "percentile-99")
        ),
        state.get("reason", ""),
    )


def _time(us: int | None) -> str:
    if us is None:
        return "-"
    return f"{us} us" if us < 10_000 else f"{us / 1000:.1f} ms"
