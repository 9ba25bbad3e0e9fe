"""The manual page srv6ctl(1), made of the commands themselves: ``python -m srv6mgrd.cli.manual``
writes docs/man/srv6ctl.1; with ``--check`` it only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from srv6mgrd.cli import roff
from srv6mgrd.cli.main import srv6ctl
from srv6mgrd.cli.problem import Exit

EXITS = {
    Exit.DONE: "Done.",
    Exit.REJECTED: (
        "Rejected, with object, cause and remedy on standard error; nothing has changed. ping and"
        " trace: the target was not reached."
    ),
    Exit.USAGE: ("Invalid command line or settings. ping and trace: any error."),
    Exit.UNREACHABLE: "srv6mgrd or sysrepo does not answer.",
    Exit.DENIED: "Permission denied.",
    Exit.BUSY: "Another commit is pending, or the configuration is locked.",
    Exit.FOUND: (
        "The object is not as declared: the explained SID is not installed, or --exit-code found a"
        " difference. doctor has the exit status of monitoring plug-ins: 0 ok, 1 degraded, 2 down,"
        " 3 unknown."
    ),
    Exit.INTERRUPTED: "Interrupted.",
    Exit.BROKEN_PIPE: "The reader of the output went away.",
}
_TABLES = {
    "PATTERN": "The object of this name, or those that match wildcards (* ? [ ]).",
    "--sort COLUMN": "Sort by a column, written like sid or leads-to; --help lists them.",
    "--reverse": "Reverse the order.",
    "--limit, -n NUMBER": "Print at most this many.",
    "--watch, -w [SECONDS]": (
        "Show it again each SECONDS (2) until interrupted: on a terminal in place of what was there"
        " before, elsewhere one below the other; JSON is then one document a line."
    ),
}
_FILES = {
    "/etc/srv6mgr/srv6mgrd.toml": "Settings of srv6mgrd, which srv6ctl needs to find it.",
    "/run/srv6mgr/store": "Status and counters, read without asking srv6mgrd.",
}
_ENVIRONMENT = {
    "NO_COLOR": "When set to anything, nothing is coloured. Output that is no terminal never is.",
    "SUDO_USER": "Who is named in the history of commits when srv6ctl runs under sudo.",
}


_OF_TABLES = frozenset(name.partition(",")[0].partition(" ")[0] for name in _TABLES)


def page() -> str:
    """The whole page in man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.TH SRV6CTL 1 "" "srv6mgr" "User Commands"'
    yield from (".SH NAME", r"srv6ctl \- the operator's command line of srv6mgr")
    yield from (".SH SYNOPSIS", ".B srv6ctl", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield ".SH DESCRIPTION"
    yield from roff.prose(
        "srv6ctl shows and changes the SRv6 service of the node that it runs on. Configuration"
        " goes through sysrepo, as over gNMI and NETCONF; status and counters come from the store"
        " of srv6mgrd. With --json every command prints one JSON document with the names of the"
        " YANG models and numbers as numbers; errors are then JSON on standard error."
    )
    yield ".SH OPTIONS"
    context = click.Context(srv6ctl, info_name="srv6ctl")
    yield from roff.options(srv6ctl, context)
    yield ".SH COMMANDS"
    yield from roff.commands(srv6ctl, context, elsewhere=_OF_TABLES)
    yield ".SH TABLES"
    yield from roff.prose("Every table of show has these options beside its own, whose PATTERN may"
                      " have wildcards too; each may be given more than once.")  # fmt: skip
    yield from roff.terms(_TABLES)
    yield ".SH EXIT STATUS"
    yield from roff.terms({str(int(status)): meaning for status, meaning in EXITS.items()})
    yield ".SH ENVIRONMENT"
    yield from roff.terms(_ENVIRONMENT)
    yield ".SH FILES"
    yield from roff.terms(_FILES)
    yield from (".SH SEE ALSO", r"\fBsrv6mgrd\fR(8), \fBsrv6mgrd.toml\fR(5), \fBip\-route\fR(8)")


def main() -> int:
    return roff.written("srv6ctl.1", page())


if __name__ == "__main__":
    sys.exit(main())
