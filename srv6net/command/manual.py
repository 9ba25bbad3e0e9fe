"""The manual page srv6net(1), made of the commands themselves: ``python -m
srv6net.command.manual`` writes docs/man/srv6net.1; with ``--check`` it only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from srv6mgrd.cli import roff
from srv6mgrd.cli.problem import Exit
from srv6net.command.main import srv6net
from srv6net.command.session import INVENTORY
from srv6net.store.opening import STORE

EXITS = {
    Exit.DONE: "Done.",
    Exit.REJECTED: (
        "Rejected by the checks or by a router, with object, cause and remedy on standard error;"
        " all routers are as before."
    ),
    Exit.USAGE: "Invalid command line, inventory or file.",
    Exit.UNREACHABLE: "The change is decided, and pending on routers that do not answer.",
    Exit.BUSY: "Another srv6net changes the network.",
    Exit.FOUND: "status: a router is not as it was decided, or a service is not up.",
    Exit.INTERRUPTED: "Interrupted.",
    Exit.BROKEN_PIPE: "The reader of the output went away.",
}
_ENVIRONMENT = {
    "SRV6NET_INVENTORY, SRV6NET_STORE": "Where --inventory and --store are not given.",
    "NO_COLOR": "When set to anything, nothing is coloured. Output that is no terminal never is.",
}
_FILES = {
    str(INVENTORY): "The routers; docs/srv6net.md describes it.",
    STORE: (
        "Revisions and transactions. It has to be kept: without it nobody knows what srv6net made"
        " on the routers."
    ),
}


def page() -> str:
    """The whole page in man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.TH SRV6NET 1 "" "srv6mgr" "User Commands"'
    yield from (".SH NAME", r"srv6net \- VPN services across many routers")
    yield from (".SH SYNOPSIS", ".B srv6net", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield ".SH DESCRIPTION"
    yield from roff.prose(
        "srv6net makes the VPN services of a document (ietf-l3vpn-ntw, RFC 9182) those of the"
        " routers in its inventory, over gNMI. A change is one transaction: each router checks it,"
        " sets it with commit-confirmed and reports that it is installed; then all confirm, or all"
        " roll back."
    )
    context = click.Context(srv6net, info_name="srv6net")
    yield ".SH OPTIONS"
    yield from roff.options(srv6net, context)
    yield ".SH COMMANDS"
    yield from roff.commands(srv6net, context)
    yield ".SH EXIT STATUS"
    yield from roff.terms({str(int(status)): meaning for status, meaning in EXITS.items()})
    yield ".SH ENVIRONMENT"
    yield from roff.terms(_ENVIRONMENT)
    yield ".SH FILES"
    yield from roff.terms(_FILES)
    yield from (".SH SEE ALSO", r"\fBsrv6ctl\fR(1), \fBsrv6mgrd\fR(8)")


def main() -> int:
    return roff.written("srv6net.1", page())


if __name__ == "__main__":
    sys.exit(main())
