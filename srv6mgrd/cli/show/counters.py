"""``show counters``: what SIDs counted, and at which rate."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.rates import Rate, rates
from srv6mgrd.cli.session import Session
from srv6mgrd.cli.show import rows
from srv6mgrd.cli.show.sids import find
from srv6mgrd.cli.show.table import Field, Table, is_pattern, listed, wanted
from srv6mgrd.cli.units import ago, short
from srv6mgrd.model.status import SidCounters


class _Row(NamedTuple):
    prefix: str
    counters: SidCounters
    rate: Rate | None


def _json(row: _Row) -> dict[str, Any]:
    reported: dict[str, Any] = {"prefix": row.prefix, **rows.counters_json(row.counters)}
    if row.rate is not None:
        reported["rates"] = {n: round(v, 3) for n, v in row.rate._asdict().items()}
    return reported


def _per_second(title: str, at: int) -> Field[_Row]:
    return Field(
        title,
        lambda r: short(r.rate[at]) if r.rate else "-",
        right=True,
        key=lambda r: r.rate[at] if r.rate else -1.0,
        optional=True,
    )


COUNTERS: Table[_Row] = Table(
    "counters",
    (
        Field("SID", lambda r: Cell(r.prefix, "name"), key=lambda r: rows.prefix_key(r.prefix)),
        rows.number("PACKETS", lambda r: r.counters.packets),
        rows.number("OCTETS", lambda r: r.counters.octets),
        rows.errors("ERRORS", lambda r: r.counters.errors),
        _per_second("PKT/S", 0),
        _per_second("BIT/S", 1),
        _per_second("ERR/S", 2),
        Field("COUNTING FOR", lambda r: Cell(ago(r.counters.discontinuity, time.time_ns()), "dim"),
              right=True, key=lambda r: -r.counters.discontinuity),
    ),
    _json,
    none="no SID counts",
    name=lambda r: r.prefix,
    find=find,
    complete=complete_sids,
)  # fmt: skip


@listed(COUNTERS)
@click.option("--rates/--no-rates", "with_rates", default=True, help="Wait for a second sample.")
@click.option(
    "--interval",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    help="Time between samples (1).",
)
def counters(session: Session, *, with_rates: bool, interval: float) -> Iterable[_Row]:
    """Counters of all SIDs, or of one, with rates between two samples."""
    state = session.state
    first = state.sample()
    if (name := wanted()) is not None and not is_pattern(name):
        find(name, list(first.counters))  # what is not there is not waited for
    last, found = first, {}
    if with_rates and state.managed and first.counters:
        last = state.next_sample(first, interval)
        found = rates(first, last)
    return [_Row(prefix, c, found.get(prefix)) for prefix, c in last.counters.items()]
