"""``--watch``: what a command shows, again and again."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from srv6mgrd.cli.output import Output
from srv6mgrd.cli.problem import Problem

if TYPE_CHECKING:
    from srv6mgrd.cli.session import Session

option = click.option(
    "--watch",
    "-w",
    metavar="[SECONDS]",
    type=click.FloatRange(0.1, 3600),
    is_flag=False,
    flag_value=2.0,
    default=None,
    help="Show it again each SECONDS (2), until interrupted.",
)


def watched(show: Callable[..., None]) -> Callable[..., None]:
    """Give ``--watch`` to a function that shows something of a session."""

    @functools.wraps(show)
    def run(session: Session, /, watch: float | None, **options: Any) -> None:
        shown(session.out, watch, lambda: show(session, **options))

    return option(run)


def shown(out: Output, seconds: float | None, show: Callable[[], None]) -> None:
    """Show it once, or each ``seconds``."""
    if seconds is None:
        show()
    else:
        repeat(out, seconds, show)


def repeat(out: Output, seconds: float, show: Callable[[], None]) -> None:
    """Show it until Ctrl-C: on a terminal in place of what was there before, elsewhere one below
    the other. Raises the first Problem; one that comes later is shown, and may pass."""
    gc.enable()
    out.one_line = True
    shown = False
    try:
        while True:
            with out.screen(f"{time.strftime('%H:%M:%S')}  every {seconds:g} s, Ctrl-C ends"):
                try:
                    show()
                except Problem as problem:
                    if not shown:
                        raise
                    for complaint in problem.complaints:
                        out.note(f"srv6ctl: {complaint}")
            shown = True
            time.sleep(seconds)
    except KeyboardInterrupt:
        return
