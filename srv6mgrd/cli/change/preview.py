"""``plan`` and ``diff``: what a change would do, and how configurations differ."""

from __future__ import annotations

import sys

import click

from srv6mgrd.cli.change import document, shown
from srv6mgrd.cli.completion import transactions as complete_transactions
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session, json_option, pass_session

_EXIT_CODE = click.option(
    "--exit-code", is_flag=True, help=f"End with status {Exit.FOUND} if there is a difference."
)
_REPLACE = click.option("--replace", is_flag=True, help="Remove everything that is not in FILE.")

_NOTHING = "nothing to do: that is the running configuration already"
_WAITS = (
    "no operation: the configuration changes, kernel and FRR stay as they are"
    " (what needs something that is absent waits for it)"
)


@click.command()
@click.argument("file")
@_REPLACE
@_EXIT_CODE
@json_option
@pass_session
def plan(session: Session, file: str, replace: bool, exit_code: bool) -> None:
    """Print what `apply FILE` would do to kernel and FRR, as commands. Nothing is changed.

    FILE is RFC 7951 JSON, - is standard input. srv6mgrd checks the configuration as in a commit.
    """
    raw, _ = document.read(file)
    session.managed()
    with session.client() as client:
        held, wanted = client.running(), client.after(document.Document(raw, replace))
        found = client.plan(wanted)
        same = not found and not client.differences(held, wanted)
    shown.operations(session.out, found, _NOTHING if same else _WAITS)
    if exit_code and found:
        sys.exit(Exit.FOUND)


@click.command()
@click.argument("what", required=False, shell_complete=complete_transactions)
@click.argument("other", required=False, type=int, shell_complete=complete_transactions)
@_REPLACE
@_EXIT_CODE
@json_option
@pass_session
def diff(
    session: Session, what: str | None, other: int | None, replace: bool, exit_code: bool
) -> None:
    """Compare configurations, leaf by leaf.

    \b
    diff          what the last commit changed
    diff FILE     what `apply FILE` would change
    diff N        from the configuration after transaction N to the running one
    diff N M      from transaction N to transaction M

    A file whose name is a number is given as ./5.
    """
    if what is None or what.isdigit():
        if replace:
            raise click.UsageError("--replace goes with a FILE")
        session.managed()
        number = _before_the_last(session) if what is None else int(what)
        with session.client() as client:
            found = client.compare(number, other)
    else:
        if other is not None:
            raise click.UsageError("a FILE is compared with the running configuration alone")
        raw, _ = document.read(what)
        with session.client() as client:
            found = client.differences(
                client.running(), client.after(document.Document(raw, replace))
            )
    shown.differences(session.out, found, "no difference")
    if exit_code and found:
        sys.exit(Exit.FOUND)


def _before_the_last(session: Session) -> int:
    numbers = [int(t["id"]) for t in session.state.transactions().get("transaction", [])]
    if len(numbers) < 2:
        cause = "there is none before the last one"
        raise Problem.of("transactions", cause, "see srv6ctl show transactions")
    return sorted(numbers)[-2]
