"""The manual page srv6ctl(1), made of the commands themselves: ``python -m srv6mgrd.cli.manual``
writes docs/man/srv6ctl.1; with ``--check`` it only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from srv6mgrd.cli.main import srv6ctl
from srv6mgrd.cli.problem import Exit

_PAGE = Path(__file__).parents[2] / "docs/man/srv6ctl.1"
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


_OF_TABLES = {name.partition(",")[0].partition(" ")[0] for name in _TABLES}


def page() -> str:
    """The whole page in man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.TH SRV6CTL 1 "" "srv6mgr" "User Commands"'
    yield from (".SH NAME", r"srv6ctl \- the operator's command line of srv6mgr")
    yield from (".SH SYNOPSIS", ".B srv6ctl", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield ".SH DESCRIPTION"
    yield from _prose(
        "srv6ctl shows and changes the SRv6 service of the node that it runs on. Configuration"
        " goes through sysrepo, as over gNMI and NETCONF; status and counters come from the store"
        " of srv6mgrd. With --json every command prints one JSON document with the names of the"
        " YANG models and numbers as numbers; errors are then JSON on standard error."
    )
    yield ".SH OPTIONS"
    context = click.Context(srv6ctl, info_name="srv6ctl")
    yield from _options(srv6ctl, context)
    yield ".SH COMMANDS"
    for name in srv6ctl.list_commands(context):
        command = srv6ctl.get_command(context, name)
        if command is not None:
            yield from _command(command, name, context)
    yield ".SH TABLES"
    yield from _prose("Every table of show has these options beside its own, whose PATTERN may"
                      " have wildcards too; each may be given more than once.")  # fmt: skip
    yield from _terms(_TABLES)
    yield ".SH EXIT STATUS"
    yield from _terms({str(int(status)): meaning for status, meaning in EXITS.items()})
    yield ".SH ENVIRONMENT"
    yield from _terms(_ENVIRONMENT)
    yield ".SH FILES"
    yield from _terms(_FILES)
    yield from (".SH SEE ALSO", r"\fBsrv6mgrd\fR(8), \fBsrv6mgrd.toml\fR(5), \fBip\-route\fR(8)")


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            inner = command.get_command(context, part)
            if inner is not None:
                yield from _command(inner, f"{name} {part}", parent)
        return
    arguments = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
    yield f".SS {_text(' '.join([name, *arguments]))}"
    yield from _prose(command.help or "")
    yield from _options(command, context)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    shown = {}
    for option in options:
        # These are everywhere, and described once.
        if {"--help", "--json"} & {*option.opts} and command is not srv6ctl:
            continue
        if _OF_TABLES & {*option.opts}:
            continue
        names = ", ".join([*option.opts, *option.secondary_opts])
        metavar = "" if option.is_flag else f" {option.make_metavar(context)}"
        shown[names + metavar] = option.help or ""
    yield from _terms(shown)


def _terms(terms: dict[str, str]) -> Iterator[str]:
    for term, meaning in terms.items():
        yield from (".TP", f".B {_text(term)}", _text(meaning))


def _prose(text: str) -> Iterator[str]:
    r"""Paragraphs; those behind a ``\b`` keep their lines, as click has it."""
    for number, paragraph in enumerate(cleandoc(text).split("\n\n")):
        if number:
            yield ".PP"
        lines = paragraph.splitlines()
        if lines and lines[0].strip() == "\b":
            yield from (".nf", *map(_text, lines[1:]), ".fi")
        else:
            yield from map(_text, lines)


def _text(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(aq")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main() -> int:
    wanted = page()
    if "--check" not in sys.argv[1:]:
        _PAGE.write_text(wanted)
    elif not _PAGE.exists() or _PAGE.read_text() != wanted:
        print("docs/man/srv6ctl.1 is stale: run 'make format'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
