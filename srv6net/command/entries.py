"""Entries as an operator reads them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from srv6mgrd.cli.output import Cell
from srv6net.compile.configuration import Edit, Entries, edit, named
from srv6net.transaction.record import Change

# The mark of a line, and its style.
_MARKS = {"create": ("+", "good"), "replace": ("~", "warn"), "delete": ("-", "bad")}


def edit_of(change: Change) -> Edit:
    return edit(change.before, change.after)


def operations(found: Edit, before: Entries) -> Iterator[tuple[str, str]]:
    """Verb and path of each part of an edit."""
    for path in found.delete:
        yield "delete", path
    for path in found.replace:
        yield "replace" if path in before else "create", path


def lines(found: Edit, before: Entries) -> Iterator[tuple[Cell | str, ...]]:
    for verb, path in operations(found, before):
        mark, style = _MARKS[verb]
        yield "  ", Cell(f"{mark} {named(path)}", style)


def reported(edits: Mapping[str, Edit], before: Mapping[str, Entries]) -> list[dict[str, Any]]:
    """For programs."""
    return [
        {
            "router": router,
            "operation": [
                {"verb": verb, "path": path, "value": one.replace.get(path)}
                for verb, path in operations(one, before.get(router, {}))
            ],
        }
        for router, one in edits.items()
    ]
