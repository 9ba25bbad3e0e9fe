"""Shared by all commands: settings, output, the files of the node's state, the client of sysrepo.

Nothing is opened or imported before it is asked for: most commands need little.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from srv6mgrd.cli.output import Output
from srv6mgrd.cli.problem import Complaint, Exit, Problem, complaint_of
from srv6mgrd.settings import Settings

if TYPE_CHECKING:
    from srv6mgrd.cli.client import Client
    from srv6mgrd.cli.state import State
    from srv6mgrd.model.desired import Desired

_SRV6 = "srv6mgr-srv6:srv6"
Command = TypeVar("Command", bound=Callable[..., Any])


class Session:
    """One run of srv6ctl."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.out = Output()
        self._kept: Client | None = None

    @property
    def state(self) -> State:
        """The state of the node as srv6mgrd publishes it in files."""
        from srv6mgrd.cli.state import State

        return State(Path(self.settings.runtime_directory))

    @contextmanager
    def client(self) -> Iterator[Client]:
        """sysrepo. Rejections and failures within become Problems."""
        from srv6mgrd.cli.client import opened, problems

        if self._kept is not None:
            with problems():
                yield self._kept
            return
        with opened(Path(self.settings.runtime_directory), self._warn, self._waits) as client:
            yield client

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Within, sysrepo is connected once, and the running configuration is read once."""
        with ExitStack() as stack:
            with suppress(Problem):
                self._kept = stack.enter_context(self.client())
                self._kept.remembers = True
            try:
                yield
            finally:
                self._kept = None

    def _warn(self, text: str) -> None:
        self.out.note(f"warning: {text}")

    def _waits(self, text: str) -> None:
        self.out.note(f"srv6ctl: waiting for {text}")

    def desired(self, *, sid: str | None = None) -> Desired:
        """What is declared, as srv6mgrd understands it; with ``sid`` no other SIDs than that one.
        Raises Problem."""
        import json

        with self.client() as client:
            text = client.running() if sid is None else client.running_with_sid(sid)
        return _desired(json.loads(text))

    def sids(self) -> dict[str, Mapping[str, Any]]:
        """SIDs by prefix, each as an entry of the model's list, those made for VRFs among them.
        To make objects of ten thousand takes longer than to show them. Raises Problem."""
        import json

        from srv6mgrd.cli.show.rows import sid_json

        with self.client() as client:
            tree = json.loads(client.running())
        declared = tree.get(_SRV6, {}).pop("local-sids", {}).get("sid", ())
        made = _desired(tree).sids.values()
        return {str(sid.prefix): sid_json(sid) for sid in made} | {e["prefix"]: e for e in declared}

    def desired_or_nothing(self) -> tuple[Desired | None, str]:
        """What is declared; None and the reason when that can't be read."""
        try:
            return self.desired(), ""
        except Problem as problem:
            return None, str(problem)

    def managed(self) -> None:
        """Raises Problem unless srv6mgrd manages this network namespace: sysrepo would take a
        change that nobody carries out."""
        if not self.state.managed:
            raise Problem(
                [
                    Complaint(
                        "srv6mgrd",
                        "it is not running, so nothing would be carried out",
                        "start it (systemctl start srv6mgrd) and try again",
                    )
                ],
                Exit.UNREACHABLE,
            )

        manager = self.state.manager
        if manager is not None and manager.is_stopped:
            raise Problem(
                [
                    Complaint(
                        "srv6mgrd",
                        f"process {manager.pid} is stopped (SIGSTOP), so nothing is carried out",
                        f"let it go on (kill -CONT {manager.pid}) and try again",
                    )
                ],
                Exit.UNREACHABLE,
            )

    def warn_if_stale(self) -> None:
        """A word on standard error when what is shown is srv6mgrd's last one."""
        if not self.state.managed:
            self.out.note("srv6ctl: srv6mgrd is not running: this is its last report")


def _desired(tree: Mapping[str, Any]) -> Desired:
    """A configuration as srv6mgrd understands it. Raises Problem."""
    from srv6mgrd.model.expand import expand
    from srv6mgrd.model.parse import parse
    from srv6mgrd.model.rejection import RejectedError

    try:
        return expand(parse(tree))
    except RejectedError as rejected:
        complaints = [complaint_of(str(r)) for r in rejected.rejections]
        raise Problem(complaints, Exit.REJECTED) from None


pass_session = click.make_pass_decorator(Session)


def _json(context: click.Context, _: click.Parameter, value: bool) -> None:
    session = context.find_object(Session)
    if value and session is not None:
        session.out.as_json = True


def json_option(command: Command) -> Command:
    """``--json`` behind a command, as well as before it."""
    option = click.option(
        "--json", is_flag=True, expose_value=False, callback=_json, help="Print JSON."
    )
    return option(command)


def user() -> str:
    """Who makes a change, as the history shows it."""
    import pwd

    if sudo := os.environ.get("SUDO_USER"):
        return sudo
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def is_terminal() -> bool:
    """Whether somebody looks at the output."""
    return sys.stdout.isatty()
