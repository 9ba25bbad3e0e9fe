"""``status`` and ``diff``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import click

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.problem import Exit, Problem, complaint_of
from srv6net.command import entries
from srv6net.command.observation import Observation, observe
from srv6net.command.session import Session, json_option, pass_session, problems
from srv6net.compile.configuration import NOTHING, named
from srv6net.intent.l3nm import services
from srv6net.proposal import changes
from srv6net.transaction.executor import AT_ONCE
from srv6net.transaction.record import Record, Revision

_COLUMNS = [
    Column("ROUTER"),
    Column("CONFIGURATION"),
    Column("SERVICES"),
    Column("REASON"),
]


@click.command()
@json_option
@pass_session
def status(session: Session) -> int:
    """Show revision, open transaction, and for each router what it has of them.

    The exit status is 6 where a router is not as it was decided, or a service is not up.
    """
    with problems():
        current, last = session.store.revision(), session.store.last()
        overdue = session.store.overdue()
    observed = _observed(session, current)
    is_open = last is not None and last.is_open
    if session.out.as_json:
        session.out.json(
            {
                "revision": current.number,
                "services": len(services(current.intent)) if current.intent else 0,
                "transaction": _transaction(last) if last is not None else None,
                "routers": [
                    {**_reported(one), "pending": one.router in overdue} for one in observed
                ],
            }
        )
    else:
        _print(session, current, last, observed, overdue)
    is_well = not is_open and not overdue and all(one.is_well for one in observed)
    return Exit.DONE if is_well else Exit.FOUND


@click.command()
@click.argument("older", type=int, required=False)
@click.argument("newer", type=int, required=False)
@json_option
@pass_session
def diff(session: Session, older: int | None, newer: int | None) -> None:
    """Show what changed on the routers from revision OLDER to NEWER.

    NEWER is the current one by default, and OLDER the one before it.
    """
    with problems():
        to = session.store.revision(newer)
        since = session.store.revision(max(0, to.number - 1) if older is None else older)
    found = changes(since, to)
    if session.out.as_json:
        edits = {name: entries.edit_of(change) for name, change in found.items()}
        before = {name: change.before for name, change in found.items()}
        session.out.json({"routers": entries.reported(edits, before)})
        return
    session.out.line(f"revision {since.number} to {to.number}")
    for name, change in found.items():
        session.out.line(Cell(name, "name"))
        for line in entries.lines(entries.edit_of(change), change.before):
            session.out.line(*line)


def _observed(session: Session, current: Revision) -> list[Observation]:
    names = sorted({*session.inventory.routers, *current.routers})
    if not names:
        raise Problem([complaint_of("inventory: it has no routers; add them")], Exit.USAGE)
    devices = session.devices

    def one(name: str) -> Observation:
        return observe(name, devices.get(name), current.routers.get(name, NOTHING))

    with ThreadPoolExecutor(min(AT_ONCE, len(names)), "router") as threads:
        return list(threads.map(one, names))


def _print(
    session: Session,
    current: Revision,
    last: Record | None,
    observed: list[Observation],
    overdue: Mapping[str, Sequence[int]],
) -> None:
    count = len(services(current.intent)) if current.intent else 0
    when = datetime.fromtimestamp(current.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    session.out.line(
        f"revision {current.number}: {count} {'service' if count == 1 else 'services'}"
        + (f", since {when}" if current.number else "")
    )
    if last is not None and last.is_open:
        decision = last.decision or "undecided"
        pending = ", ".join(sorted(last.unsettled))
        session.out.line(
            Cell(f"a transaction is open ({decision}), pending on {pending}: ", "warn"),
            "run srv6net resume",
        )
    changing = last.unsettled if last is not None and last.is_open else ()
    rows = [
        _pending_row(one, overdue[one.router][0])
        if one.router in overdue
        else _row(one, is_changing=one.router in changing)
        for one in observed
    ]
    session.out.table(_COLUMNS, rows)


def _pending_row(one: Observation, number: int) -> list[Cell | str]:
    """Of a router that was down when it was decided."""
    reason = one.problem or "it answers; run srv6net resume"
    states = _states(one)
    pending = Cell("pending", "warn")
    return [Cell(one.router, "name"), pending, states, f"it has revision {number}: {reason}"]


def _row(one: Observation, *, is_changing: bool) -> list[Cell | str]:
    if one.problem:
        configuration, reason = Cell("unknown", "bad"), one.problem
    elif one.missing and is_changing:
        # It has the old or the new one, and neither is drift.
        configuration, reason = Cell("changing", "warn"), "the transaction is open"
    elif one.missing:
        configuration = Cell("drifted", "bad")
        reason = f"{_some([named(path) for path in one.missing])} missing or changed;" + (
            " run srv6net reconcile"
        )
    else:
        configuration, reason = Cell("as decided", "good"), _some(one.reasons)
    return [Cell(one.router, "name"), configuration, _states(one), reason]


def _states(one: Observation) -> str:
    counted = Counter(one.services.values())
    return ", ".join(f"{number} {state}" for state, number in sorted(counted.items())) or "-"


def _some(found: Sequence[str]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def _reported(one: Observation) -> dict[str, object]:
    return {
        "router": one.router,
        "problem": one.problem or None,
        "missing": list(one.missing),
        "services": [
            {"vrf": named(path).removeprefix("VRF "), "service-state": state}
            for path, state in sorted(one.services.items())
        ],
        "reasons": list(one.reasons),
    }


def _transaction(record: Record) -> dict[str, object]:
    # Without its id, which is a secret of the commits.
    return {
        "decision": record.decision.value if record.decision else None,
        "open": record.is_open,
        "pending": sorted(record.unsettled),
        "reasons": list(record.reasons),
    }
