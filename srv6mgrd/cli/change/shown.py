"""Operations and differences, as people and programs read them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from srv6mgrd.cli.output import Cell, Column, Output
from srv6mgrd.cli.units import counted

if TYPE_CHECKING:
    from srv6mgrd.datastore.differences import Change

_VERBS = {"create": Cell("+", "good"), "replace": Cell("~", "warn"), "delete": Cell("-", "bad")}
_ROOT = "/srv6mgr-srv6:srv6/"


class Operation(NamedTuple):
    """What srv6mgrd does to kernel or FRR, and the command that says the same."""

    verb: str
    object: str
    command: str


def reported(
    differences: Sequence[Change], operations: Sequence[Operation]
) -> dict[str, list[dict[str, Any]]]:
    """Both as one JSON document has them."""
    return {
        "differences": [c._asdict() for c in differences],
        "operations": [o._asdict() for o in operations],
    }


def operations(out: Output, found: Sequence[Operation], nothing: str) -> None:
    """Each with its verb and, below, the command that says the same; then how many."""
    if out.as_json:
        out.json({"operations": [o._asdict() for o in found]})
        return
    for operation in found:
        sign = _VERBS.get(operation.verb, Cell(operation.verb))
        out.line(sign, " ", Cell(operation.object, "head"))
        for line in operation.command.splitlines():
            out.line("    ", Cell(line, "dim"))
    counts = [f"{n} to {verb}" for verb in _VERBS if (n := sum(o.verb == verb for o in found))]
    total = counted(len(found), "operation")
    out.line(f"{total}: {', '.join(counts)}" if found else nothing)


def differences(out: Output, found: Sequence[Change], nothing: str) -> None:
    """Each leaf that differs, before and after."""
    if out.as_json:
        out.json({"differences": [c._asdict() for c in found]})
        return
    table = []
    for change in found:
        path = change.path.removeprefix(_ROOT)
        if change.before is None:
            table.append((Cell("+", "good"), path, Cell(_quoted(change.after), "good")))
        elif change.after is None:
            table.append((Cell("-", "bad"), path, Cell(_quoted(change.before), "bad")))
        else:
            both = f"{_quoted(change.before)} -> {_quoted(change.after)}"
            table.append((Cell("~", "warn"), path, Cell(both, "warn")))
    out.table([Column(""), Column(""), Column("")], table)
    if not found:
        out.line(nothing)


def _quoted(value: str | None) -> str:
    # Leaves of type empty have no value.
    return shlex.quote(value) if value else '""'
