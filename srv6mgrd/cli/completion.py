"""Completion for shells: the scripts, and what of the node completes an argument."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  srv6ctl completion bash >/etc/bash_completion.d/srv6ctl
    zsh:   srv6ctl completion zsh >/usr/local/share/zsh/site-functions/_srv6ctl
    fish:  srv6ctl completion fish >/etc/fish/completions/srv6ctl.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell}: no completion for it")
    made = kind(context.find_root().command, {}, "srv6ctl", "_SRV6CTL_COMPLETE")
    click.echo(made.source())


def sids(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """SIDs and interfaces of the node."""
    from srv6mgrd.model.status import Kind

    try:
        statuses = _session(context).state.statuses()
    except Problem:
        return []
    return [
        CompletionItem(ref.name, help=status.status.text)
        for ref, status in statuses.items()
        if ref.kind in (Kind.SID, Kind.INTERFACE) and ref.name.startswith(incomplete)
    ]


def transactions(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Numbers of past transactions."""
    return [
        CompletionItem(t["id"], help=f"{t.get('time', '')[:19]} {t.get('origin', '')}")
        for t in _session(context).state.transactions().get("transaction", [])
        if str(t["id"]).startswith(incomplete)
    ]


def pending(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The commit that awaits confirmation."""
    name = _session(context).state.transactions().get("pending", {}).get("id", "")
    return [CompletionItem(name)] if name and name.startswith(incomplete) else []


def alarms(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Active alarms."""
    from srv6mgrd.cli.alarm_id import alarm_id

    return [
        CompletionItem(alarm_id(alarm), help=alarm["alarm-text"])
        for alarm in _session(context).state.alarms()
        if not alarm["is-cleared"] and alarm_id(alarm).startswith(incomplete)
    ]


def _session(context: click.Context) -> Session:
    found = context.find_object(Session)
    if found is None:
        # While completing, click does not call the group.
        from srv6mgrd import settings

        found = Session(settings.load(context.find_root().params.get("config")))
    return found
