"""``set`` and ``delete``: changes of one object."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from srv6mgrd.cli.change import shown
from srv6mgrd.cli.change.commit import carry_out, named, to_be_confirmed
from srv6mgrd.cli.change.document import Document, Removal
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.session import Session, json_option, pass_session

if TYPE_CHECKING:
    from srv6mgrd.cli.client import Client

_Command = TypeVar("_Command", bound=Callable[..., Any])
_NOTHING = "nothing to do: that is the running configuration already"
_WAITS = "no operation: kernel and FRR stay as they are"


def _asked(command: _Command) -> _Command:
    dry = click.option("--dry-run", is_flag=True, help="Print the operations, and change nothing.")
    yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
    return dry(yes(command))


# Under another name, for what Python has under this one.
@click.command("set")
@click.argument("path", nargs=-1, required=True)
@_asked
@to_be_confirmed
@json_option
@pass_session
def set_(session: Session, /, path: Sequence[str], **options: Any) -> None:
    """Create one object, or set leaves of it: `set vrf red table-id 10`.

    PATH is an object and its leaves, each with its value, by words or by the path in the model
    (vrfs/vrf[name=red] table-id 10). The difference and the operations on kernel and FRR are
    printed first, and carried out once you confirm.
    """

    def change(client: Client) -> Document:
        return client.setting(client.resolve(path, values=True))

    _change(session, change, **options)


@click.command()
@click.argument("path", nargs=-1, required=True)
@_asked
@to_be_confirmed
@json_option
@pass_session
def delete(session: Session, /, path: Sequence[str], **options: Any) -> None:
    """Delete one object, or a leaf of it: `delete vrf red`, `delete sid fcbb:0:1:64::/64`.

    PATH and the preview are those of `set`.
    """

    def change(client: Client) -> Removal:
        target = client.resolve(path)
        if not target.is_whole:
            raise Problem.of(target.words, "it names all of them", "name one", Exit.USAGE)
        if client.part(target.path, "running") is None:
            raise Problem.of(target.words, "it is not declared", "see srv6ctl show config")
        return Removal(target.path)

    _change(session, change, **options)


def _change(
    session: Session,
    given: Callable[[Client], Document | Removal],
    *,
    dry_run: bool,
    yes: bool,
    confirm_within: int | None,
    name: str | None,
) -> None:
    name, out = named(name, confirm_within), session.out
    if not (dry_run or yes) and (out.as_json or not sys.stdin.isatty()):
        raise Problem.of(
            "command line", "nobody can be asked", "add --yes or --dry-run", Exit.USAGE
        )
    session.managed()
    with session.client() as client:
        change = given(client)
        held, wanted = client.running(), client.after(change)
        differences, operations = client.differences(held, wanted), client.plan(wanted)
        reported = shown.reported(differences, operations)
        if not out.as_json:
            shown.differences(out, differences, _NOTHING)
            if differences:
                shown.operations(out, operations, _WAITS)
        if not differences or dry_run:
            if out.as_json:
                out.json(reported)
            return
        if not (yes or click.confirm("Carry it out?")):
            out.line("nothing is changed")
            return
        made = carry_out(session, client, change, name, confirm_within)
    if out.as_json:
        out.json({**reported, **made.reported()})
    else:
        made.print(session)
