"""``plan``, ``apply``, ``rollback``, ``resume`` and ``reconcile``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.problem import Complaint, Exit, Problem, complaint_of
from srv6net.command import entries
from srv6net.command.session import (
    Command,
    Session,
    document,
    json_option,
    pass_session,
    problems,
)
from srv6net.proposal import Proposal, propose
from srv6net.transaction.drift import bring_back
from srv6net.transaction.executor import Outcome, in_threads
from srv6net.transaction.machine import Answer
from srv6net.transaction.overdue import defer_open
from srv6net.transaction.ports import DeviceError
from srv6net.transaction.record import Decision, Revision


@click.command()
@click.argument("file")
@click.option("--offline", is_flag=True, help="Do not ask the routers for a dry run.")
@json_option
@pass_session
def plan(session: Session, file: str, *, offline: bool) -> None:
    """Show what `apply FILE` would change, and whether the routers would accept it.

    FILE has all services of the network, as JSON of ietf-l3vpn-ntw; - is standard input.
    """
    wanted = document(file)
    with problems():
        current = session.store.revision()
    proposal = _proposal(session, wanted, current)
    show(session, proposal)
    if not offline:
        found = session.executor().check(proposal.changes)
        if found:
            raise Problem([_complaint(text) for text in found.values()], Exit.REJECTED)


def partial_option(command: Command) -> Command:
    option = click.option(
        "--allow-partial",
        "is_partial",
        is_flag=True,
        help="Change the other routers where one is down; it gets its part when it is back.",
    )
    return option(command)


@click.command()
@click.argument("file")
@partial_option
@json_option
@pass_session
def apply(session: Session, file: str, *, is_partial: bool) -> None:
    """Make the services in FILE those of the network: on all routers, or on none.

    FILE has all services, as JSON of ietf-l3vpn-ntw; - is standard input. A service that is not in
    it is removed. On return the change is verified on each router, or rolled back on all.

    With --allow-partial, a router that does not answer the dry run is left pending: `resume`,
    `reconcile` and the next `apply` bring it to the current revision.
    """
    wanted = document(file)
    with session.leading():
        left = finish_open(session, is_partial=is_partial)
        _change(session, wanted, left, is_partial=is_partial)


@click.command()
@click.argument("number", type=int, required=False)
@partial_option
@json_option
@pass_session
def rollback(session: Session, number: int | None, *, is_partial: bool) -> None:
    """Make the services of an earlier revision those of the network; the one before without NUMBER.

    Numbers such as those of route targets stay with their services.
    """
    with session.leading():
        left = finish_open(session, is_partial=is_partial)
        current = session.store.revision().number
        if number is None and current == 0:
            raise Problem.of("store", "it has no revision yet", "apply one first")
        older = session.store.revision(current - 1 if number is None else number)
        _change(session, older.intent, left, is_partial=is_partial)


@click.command()
@json_option
@pass_session
def resume(session: Session) -> None:
    """Bring the transaction of a controller that ended to its end.

    Without a decision it is rolled back, else it is confirmed on the routers that are left. Routers
    that were down, and were left pending by --allow-partial, get the current revision. apply and
    rollback do this first, too.
    """
    with session.leading():
        outcome = session.executor().resume()
        overdue = session.store.overdue()
        left = session.executor().catch_up()
        revision = session.store.revision()
        if outcome is not None:
            outcome = replace(outcome, pending={**outcome.pending, **left})
            _report(session, outcome, revision, is_resumed=True)
            return
        if session.out.as_json:
            session.out.json({"decision": None, "pending": left})
        elif not overdue:
            session.out.line("no transaction is open")
        for router in sorted(overdue.keys() - left.keys()):
            session.out.note(f"router {router}: it has revision {revision.number} now")
        if left:
            raise Problem([_complaint(text) for text in left.values()], Exit.UNREACHABLE)


@click.command()
@json_option
@pass_session
def reconcile(session: Session) -> None:
    """Bring routers that lost or changed entries of srv6net back to the current revision."""
    with session.leading():
        left = finish_open(session)
        wanted = session.store.revision().routers
        written: dict[str, Any] = {}

        def brought_back(router: str) -> Answer:
            try:
                device = session.devices.get(router)
                if device is None:
                    raise DeviceError("the inventory lacks it; add it again")
                written[router] = bring_back(device, wanted[router])
            except DeviceError as error:
                return Answer(router, f"router {router}: {error}")
            return Answer(router)

        jobs = [partial(brought_back, name) for name in sorted(wanted) if name not in left]
        failed = [a.problem for a in in_threads(jobs) if a.problem] if jobs else []
        failed += left.values()
        edits = {name: edit for name, edit in sorted(written.items()) if edit}
        _show_edits(session, edits, {}, "nothing is missing")
        if failed:
            raise Problem([_complaint(text) for text in failed], Exit.UNREACHABLE)


def _proposal(session: Session, wanted: Mapping[str, Any], current: Revision) -> Proposal:
    with problems():
        found = propose(wanted, session.inventory, current, time.time())
    for warning in found.warnings:
        session.out.note(f"warning: {warning}")
    return found


def finish_open(session: Session, *, is_partial: bool = False) -> dict[str, str]:
    """A transaction that another controller left comes to its end first, and routers that were down
    get the current revision. The problems of those that are left."""
    outcome = session.executor().resume()
    if outcome is not None:
        session.out.note(f"an open transaction was found; it is {outcome.decision}")
        if outcome.pending and is_partial and outcome.decision is Decision.COMMITTED:
            defer_open(session.store)
            return dict(outcome.pending)
        if outcome.pending:
            raise Problem([_complaint(text) for text in outcome.pending.values()], Exit.UNREACHABLE)
    return session.executor().catch_up()


def _change(
    session: Session, wanted: Mapping[str, Any], left: Mapping[str, str], *, is_partial: bool
) -> None:
    current = session.store.revision()
    proposal = _proposal(session, wanted, current)
    if not proposal.changes and wanted == current.intent:
        show(session, proposal)
        return
    concerned = {name: left[name] for name in left if name in proposal.changes}
    if concerned and not is_partial:
        complaints = [_complaint(f"{text}; or add --allow-partial") for text in concerned.values()]
        raise Problem(complaints, Exit.REJECTED)
    carry_out(session, proposal, concerned, is_partial=is_partial)


def carry_out(
    session: Session,
    proposal: Proposal,
    deferred: Mapping[str, str] | None = None,
    *,
    is_partial: bool = False,
) -> None:
    """Run the transaction, and report it."""
    try:
        outcome = session.executor().apply(
            proposal.revision, proposal.changes, is_partial=is_partial, deferred=deferred
        )
    except KeyboardInterrupt:
        session.out.note("interrupted: the transaction is open; run srv6net resume")
        raise
    _report(session, outcome, proposal.revision)


def show(session: Session, proposal: Proposal) -> None:
    before = {name: change.before for name, change in proposal.changes.items()}
    _show_edits(session, proposal.edits(), before, "nothing changes")


def _show_edits(
    session: Session, edits: Mapping[str, Any], before: Mapping[str, Any], none: str
) -> None:
    if session.out.as_json:
        session.out.json({"routers": entries.reported(edits, before)})
        return
    for router, edit in edits.items():
        session.out.line(Cell(router, "name"))
        for line in entries.lines(edit, before.get(router, {})):
            session.out.line(*line)
    if not edits:
        session.out.line(none)


def _report(
    session: Session, outcome: Outcome, revision: Revision, *, is_resumed: bool = False
) -> None:
    """Result of a transaction; ends srv6net where it was not committed everywhere. That of a
    controller that died may be rolled back: then it came to its end."""
    is_committed = outcome.decision is Decision.COMMITTED
    pending = ", ".join(sorted(outcome.pending))
    for note in outcome.notes if is_committed else ():
        session.out.note(note)
    if session.out.as_json:
        session.out.json(
            {
                "decision": outcome.decision.value,
                "revision": revision.number if is_committed else None,
                "reasons": list(outcome.reasons),
                "pending": dict(outcome.pending),
                "notes": list(outcome.notes),
            }
        )
    elif is_committed:
        where = f", pending on {pending}: run srv6net resume" if pending else ""
        session.out.line(f"committed: revision {revision.number}{where}")
    else:
        where = f"all routers but {pending}: run srv6net resume" if pending else "all routers"
        session.out.line(f"rolled back on {where}")
    reasons = () if is_committed or is_resumed else outcome.reasons
    if complaints := [_complaint(text) for text in (*reasons, *outcome.pending.values())]:
        raise Problem(complaints, Exit.REJECTED if reasons else Exit.UNREACHABLE)


def _complaint(text: str) -> Complaint:
    return complaint_of(text, "transaction", "see srv6net status")
