"""How a command line ends: its errors for people or programs, and its exit status."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import click

from srv6mgrd.cli.output import complain
from srv6mgrd.cli.problem import Complaint, Exit, Problem


def executed(command: click.Command, name: str) -> int:
    """Run the command line of this process; its exit status."""
    as_json = "--json" in sys.argv[1:]
    if sys.stdout is None:  # closed by the caller
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    stdout = sys.stdout
    try:
        status = command.main(prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except Problem as problem:
        with _quietly():
            sys.stdout.flush()
        complain(problem.complaints, as_json=as_json, program=name)
        return problem.status
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and not as_json:
            error.show()
        else:
            remedy = f"see {name} --help"
            complaints = [Complaint("command line", error.format_message(), remedy)]
            complain(complaints, as_json=as_json, program=name)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return _broken_pipe()
    except SystemExit:
        # click puts something else there when the pipe broke.
        if sys.stdout is not stdout:
            return _broken_pipe()
        raise


def _broken_pipe() -> Exit:
    """Who read went away: nothing more to say, also for the interpreter at its end."""
    with _quietly():
        sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return Exit.BROKEN_PIPE


def _quietly() -> contextlib.AbstractContextManager[None]:
    return contextlib.suppress(BrokenPipeError)
