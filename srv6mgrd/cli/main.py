"""Entry point of srv6ctl: its options and its commands."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import click

from srv6mgrd import settings as settings_file
from srv6mgrd.cli.lazy import LazyGroup
from srv6mgrd.cli.problem import Exit, Problem
from srv6mgrd.cli.process import executed
from srv6mgrd.cli.session import Session

# In the order in which an operator meets them.
_COMMANDS = {
    "show": "srv6mgrd.cli.show",
    "top": "srv6mgrd.cli.top",
    "explain": "srv6mgrd.cli.explain",
    "doctor": "srv6mgrd.cli.doctor",
    "ping": "srv6mgrd.cli.oam.ping",
    "trace": "srv6mgrd.cli.oam.trace",
    "plan": "srv6mgrd.cli.change.preview",
    "diff": "srv6mgrd.cli.change.preview",
    "set": "srv6mgrd.cli.change.one",
    "delete": "srv6mgrd.cli.change.one",
    "apply": "srv6mgrd.cli.change.commit",
    "confirm": "srv6mgrd.cli.change.pending",
    "cancel": "srv6mgrd.cli.change.pending",
    "extend": "srv6mgrd.cli.change.pending",
    "rollback": "srv6mgrd.cli.change.commit",
    "reconcile": "srv6mgrd.cli.change.upkeep",
    "clear-counters": "srv6mgrd.cli.change.upkeep",
    "ack": "srv6mgrd.cli.change.alarms",
    "support-bundle": "srv6mgrd.cli.bundle",
    "completion": "srv6mgrd.cli.completion",
}

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, modules=_COMMANDS, context_settings=_HELP)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help=f"Settings of srv6mgrd ({settings_file.DEFAULT_PATH}).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.version_option(package_name="srv6mgr", prog_name="srv6ctl")
@click.pass_context
def srv6ctl(context: click.Context, config: Path | None, as_json: bool) -> None:
    """The operator's command line of srv6mgr, for the node that it runs on."""
    try:
        context.obj = Session(settings_file.load(config))
    except settings_file.SettingsError as error:
        raise Problem.of("settings", str(error), "see srv6mgrd.toml(5)", Exit.USAGE) from None
    context.obj.out.as_json = as_json


def main() -> int:
    """Run srv6ctl; its exit status."""
    return executed(srv6ctl, "srv6ctl")


def run() -> int:
    """``main`` for a process of its own."""
    # It ends before it pays to look for garbage among ten thousand objects.
    gc.disable()
    status = main()
    gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(run())
