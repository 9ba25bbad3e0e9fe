"""``apply`` and ``rollback``: changes of the running configuration."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from srv6mgrd.cli.change import document
from srv6mgrd.cli.completion import transactions as complete_transactions
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session, json_option, pass_session, user
from srv6mgrd.cli.units import counted, seconds_of

if TYPE_CHECKING:
    from srv6mgrd.cli.client import Client
    from srv6mgrd.cli.state import State

_Command = TypeVar("_Command", bound=Callable[..., Any])

# srv6mgrd makes a transaction known right after the commit.
_TIMEOUT = 5.0
_LOOK = 0.01
_UNDO = "Roll back after 90s, 10m, 1h unless it is confirmed."


class Time(click.ParamType[int]):
    """90s, 10m, 1h."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return value if isinstance(value, int) else seconds_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def to_be_confirmed(command: _Command) -> _Command:
    """The options of a commit that is undone unless it is confirmed."""
    within = click.option("--confirm-within", type=Time(), help=_UNDO)
    named = click.option("--id", "name", help="With --confirm-within: name of the commit.")
    return within(named(command))


@click.command()
@click.argument("file")
@click.option("--replace", is_flag=True, help="Remove everything that is not in FILE.")
@click.option("--empty", is_flag=True, help="With --replace: accept a FILE that declares nothing.")
@to_be_confirmed
@json_option
@pass_session
def apply(
    session: Session,
    file: str,
    *,
    replace: bool,
    empty: bool,
    confirm_within: int | None,
    name: str | None,
) -> None:
    """Merge FILE into the configuration, or replace it with --replace.

    FILE is RFC 7951 JSON, - is standard input. On return it is applied to kernel and FRR, or
    rejected atomically with nothing changed.
    """
    name = named(name, confirm_within)
    raw, tree = document.read(file)
    if replace and document.is_empty(tree) and not empty:
        cause = "it declares nothing, so that all SIDs, VRFs and routes would go"
        raise Problem.of(file, cause, "add --empty if that is meant")
    session.managed()
    with session.client() as client:
        made = carry_out(session, client, document.Document(raw, replace), name, confirm_within)
    if session.out.as_json:
        session.out.json(made.reported())
    else:
        made.print(session)


@dataclass(frozen=True, slots=True)
class Made:
    """A change that was carried out; ``name`` is that of a commit that awaits confirmation."""

    changed: bool
    transaction: dict[str, Any] | None
    name: str
    seconds: int | None

    def reported(self) -> dict[str, Any]:
        return {
            "changed": self.changed,
            "transaction": self.transaction,
            "commit-id": self.name or None,
        }

    def print(self, session: Session) -> None:
        _print(session, self.transaction, self.changed)
        if self.seconds is not None:
            _print_pending(session, self.name, self.seconds)


def carry_out(
    session: Session,
    client: Client,
    change: document.Document | document.Removal,
    name: str,
    seconds: int | None,
) -> Made:
    """Make a change; with ``seconds`` it is undone unless it is confirmed. Raises Problem."""
    before, held = newest(session.state), client.running()
    if seconds is None:
        client.commit(change, user())
    else:
        client.commit_to_confirm(change, user(), name, seconds)
    changed = client.running() != held
    return Made(changed, _made_known(session.state, before) if changed else None, name, seconds)


@click.command()
@click.argument("transaction", required=False, type=int, shell_complete=complete_transactions)
@to_be_confirmed
@json_option
@pass_session
def rollback(
    session: Session, transaction: int | None, *, confirm_within: int | None, name: str | None
) -> None:
    """Restore the configuration after TRANSACTION.

    Without TRANSACTION, restore the one before the last commit. `diff TRANSACTION` previews the
    difference from the running configuration.
    """
    name = named(name, confirm_within)
    session.managed()
    known = [int(t["id"]) for t in session.state.transactions().get("transaction", [])]
    if transaction is None:
        if len(known) < 2:
            cause = "there is none before the last one"
            raise Problem.of("transactions", cause, "see srv6ctl show transactions")
        transaction = sorted(known)[-2]
    before = newest(session.state)
    with session.client() as client:
        held = client.running()
        if confirm_within is None:
            client.roll_back(transaction, user())
        else:
            client.roll_back_to_confirm(transaction, user(), name, confirm_within)
        changed = client.running() != held
    made = _made_known(session.state, before) if changed else None
    if session.out.as_json:
        reported = {"changed": changed, "transaction": made, "restored": transaction}
        session.out.json({**reported, "commit-id": name or None})
        return
    if changed:
        session.out.line(f"the configuration is that after transaction {transaction} again")
    _print(session, made, changed)
    if confirm_within is not None:
        _print_pending(session, name, confirm_within)


def named(name: str | None, confirm_within: int | None) -> str:
    """The name of a commit to be confirmed, which is made unless it is given; empty for others."""
    if confirm_within is None:
        if name is not None:
            raise click.UsageError("--id goes with --confirm-within")
        return ""
    return name or f"{user()}-{time.strftime('%H%M%S')}"


def _print_pending(session: Session, name: str, seconds: int) -> None:
    session.out.line(f"commit {name} is undone in {seconds} s unless it is confirmed:")
    session.out.line("  srv6ctl confirm        keeps it")
    session.out.line("  srv6ctl cancel         undoes it now")
    session.out.line("  srv6ctl extend 10m     gives it more time")


def newest(state: State) -> int:
    """Number of the last transaction; 0 when there is none."""
    listed = state.transactions().get("transaction", [])
    return max((int(t["id"]) for t in listed), default=0)


def _made_known(state: State, before: int) -> dict[str, Any] | None:
    """The transaction that came after ``before``."""
    until = time.monotonic() + _TIMEOUT
    while time.monotonic() < until:
        for reported in state.transactions().get("transaction", []):
            if int(reported["id"]) > before:
                return dict(reported)
        time.sleep(_LOOK)
    return None


def _print(session: Session, made: dict[str, Any] | None, changed: bool) -> None:
    if not changed:
        session.out.line("nothing to do: that is the running configuration already")
    elif made is None:
        session.out.line("carried out")
    else:
        count = counted(int(made.get("actions", 0)), "operation")
        session.out.line(f"carried out: transaction {made['id']}, {count}")
