"""``show counters``: what SIDs counted, and at which rate."""

from __future__ import annotations

import time

import click

from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.rates import Rate, rates
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.sid_argument import chosen
from srv6mgrd.cli.units import ago, short
from srv6mgrd.counters.yang import sid_counters
from srv6mgrd.model.status import SidCounters


@click.command()
@click.argument("sid", required=False, shell_complete=complete_sids)
@click.option("--rates/--no-rates", "with_rates", default=True, help="Wait for a second sample.")
@click.option(
    "--interval",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    help="Time between samples (1).",
)
@json_option
@pass_session
def counters(session: Session, sid: str | None, with_rates: bool, interval: float) -> None:
    """Counters of all SIDs, or of one, with rates between two samples."""
    state = session.state
    first = state.sample()
    if sid is not None:
        sid = chosen(sid, first.counters)
    session.warn_if_stale()
    last, found = first, {}
    if with_rates and state.managed and first.counters:
        last = state.next_sample(first, interval)
        found = rates(first, last)
    shown = {p: c for p, c in last.counters.items() if sid in (None, p)}
    if session.out.as_json:
        session.out.json({"counters": [_json(p, c, found.get(p)) for p, c in shown.items()]})
        return
    now = time.time_ns()
    columns = [
        Column("SID"),
        *(Column(title, right=True) for title in ("PACKETS", "OCTETS", "ERRORS")),
        *(Column(title, right=True) for title in ("PKT/S", "BIT/S", "ERR/S") if with_rates),
        Column("COUNTING FOR", right=True),
    ]
    table = []
    for prefix, c in shown.items():
        rate = found.get(prefix)
        reported = [short(v) for v in rate] if rate else ["-", "-", "-"]
        table.append(
            [
                Cell(prefix, "name"),
                str(c.packets),
                str(c.octets),
                Cell(str(c.errors), "bad" if c.errors else ""),
                *(reported if with_rates else ()),
                Cell(ago(c.discontinuity, now), "dim"),
            ]
        )
    session.out.table(columns, table)


def _json(prefix: str, c: SidCounters, rate: Rate | None) -> dict[str, object]:
    counted = {n: int(v) if v.isdigit() else v for n, v in sid_counters(c).items()}
    reported: dict[str, object] = {"prefix": prefix, **counted}
    if rate is not None:
        reported["rates"] = {n: round(v, 3) for n, v in rate._asdict().items()}
    return reported
