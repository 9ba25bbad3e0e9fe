"""``show config``: what is declared, or a part of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import click

from srv6mgrd.cli import watching
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session, json_option, pass_session


@click.command()
@click.argument("path", nargs=-1)
@click.option(
    "--format",
    "form",
    type=click.Choice(("cli", "json", "xml")),
    help="cli (the default), each line of which `set` takes, json (RFC 7951) or xml.",
)
@click.option(
    "--datastore",
    type=click.Choice(("running", "startup")),
    default="running",
    help="The running configuration, or the one of the next boot.",
)
@json_option
@pass_session
@watching.watched
def config(session: Session, path: Sequence[str], *, form: str | None, datastore: str) -> None:
    """The configuration, or the part below PATH: `vrf red`, `sid fcbb:0:1:64::/64`,
    `vrfs/vrf[name=red]`.

    Secrets are hidden.
    """
    as_json = session.out.as_json or form == "json"
    with session.client() as client:
        target = client.resolve(path)
        found = client.part(target.path, datastore)
        if found is None and path:
            raise Problem.of(target.words, "it is not declared", "see srv6ctl show config")
        if as_json:
            session.out.json(json.loads(found or "{}"))
        elif found is None:
            session.out.note("srv6ctl: nothing is declared")
        elif form == "xml":
            session.out.line(client.xml(found).rstrip())
        else:
            for words in client.lines(found):
                session.out.line(shlex.join(words))
