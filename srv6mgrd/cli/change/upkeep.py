"""``reconcile`` and ``clear-counters``: what an operator asks of srv6mgrd between changes."""

from __future__ import annotations

import click

from srv6mgrd.cli.change import shown
from srv6mgrd.cli.completion import sids as complete_sids
from srv6mgrd.cli.session import Session, json_option, pass_session
from srv6mgrd.cli.sid_argument import chosen
from srv6mgrd.model.status import Kind


@click.command()
@json_option
@pass_session
def reconcile(session: Session) -> None:
    """Compare kernel and FRR with the configuration now, and repair differences."""
    session.managed()
    with session.client() as client:
        found = client.reconcile()
    shown.operations(session.out, found, "nothing to repair: kernel and FRR are as declared")


@click.command()
@click.argument("sid", required=False, shell_complete=complete_sids)
@json_option
@pass_session
def clear_counters(session: Session, sid: str | None) -> None:
    """Reset the counters of SID, or of all SIDs, for readers. Kernel and totals do not change."""
    session.managed()
    if sid is not None:
        sid = chosen(sid, {r.name for r in session.state.statuses() if r.kind is Kind.SID})
    with session.client() as client:
        client.clear_counters(sid)
    if session.out.as_json:
        session.out.json({"cleared": sid or "all"})
    else:
        session.out.line(f"{f'SID {sid} counts' if sid else 'all SIDs count'} from 0")
