"""``confirm``, ``cancel``, ``extend``: the commit that awaits confirmation."""

from __future__ import annotations

import click

from srv6mgrd.cli.change.commit import Time
from srv6mgrd.cli.completion import pending as complete_pending
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session, json_option, pass_session

_ID = click.argument("name", metavar="[ID]", required=False, shell_complete=complete_pending)


@click.command()
@_ID
@json_option
@pass_session
def confirm(session: Session, name: str | None) -> None:
    """Confirm the pending commit.

    There is at most one, of any northbound, so it need not be named.
    """
    name = _named(session, name)
    with session.client() as client:
        client.confirm(name)
    _print(session, name, "is kept")


@click.command()
@_ID
@json_option
@pass_session
def cancel(session: Session, name: str | None) -> None:
    """Roll back the pending commit now."""
    name = _named(session, name)
    with session.client() as client:
        client.cancel(name)
    _print(session, name, "is undone")


@click.command()
@click.argument("time", type=Time())
@_ID
@json_option
@pass_session
def extend(session: Session, time: int, name: str | None) -> None:
    """Move the deadline of the pending commit.

    It is rolled back TIME from now (90s, 10m, 1h) unless it is confirmed.
    """
    name = _named(session, name)
    with session.client() as client:
        client.extend(name, time)
    _print(session, name, f"is undone in {time} s unless it is confirmed")


def _named(session: Session, name: str | None) -> str:
    """The commit that is meant: the only one there can be, unless it is named."""
    session.managed()
    if name is not None:
        return name
    held = session.state.transactions().get("pending")
    if held is None:
        raise Problem.of("commit", "none awaits confirmation", "see srv6ctl show transactions")
    return str(held["id"])


def _print(session: Session, name: str, what: str) -> None:
    if session.out.as_json:
        session.out.json({"commit-id": name, "done": what})
    else:
        session.out.line(f"commit {name} {what}")
