"""The tables of ``show``: a table declares its columns and what it is filtered by, and gets the
options that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

import click
from click.shell_completion import CompletionItem

from srv6mgrd.cli import watching
from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.problem import Problem
from srv6mgrd.cli.session import Session, json_option, pass_session

R = TypeVar("R")

_NOTHING = {"-", ""}
_OF_VIEW = ("pattern", "sort", "reverse", "limit")


@dataclass(frozen=True, slots=True)
class Field(Generic[R]):
    """A column: its heading, the text of a row, and what rows are sorted by (the text if it is
    not given). Numbers are right-aligned. An optional one is left out where it says nothing of
    any row (``-``, or no text)."""

    title: str
    text: Callable[[R], Cell | str]
    right: bool = False
    key: Callable[[R], Any] | None = None
    optional: bool = False

    @property
    def name(self) -> str:
        """As ``--sort`` has it."""
        return self.title.lower().replace(", ", "-").replace(" ", "-")

    def order(self, row: R) -> Any:
        if self.key is not None:
            return self.key(row)
        text = self.text(row)
        return text.text if isinstance(text, Cell) else text


@dataclass(frozen=True, slots=True)
class Table(Generic[R]):
    """``member`` is the list of the JSON document, whose entries ``json`` makes. ``name`` is what
    a PATTERN is compared with, ``filters`` are options that compare other values. ``find`` turns
    what is written without wildcards into a name, or raises Problem. ``detail`` prints a row that
    is asked for by name, ``complete`` completes a PATTERN."""

    member: str
    fields: tuple[Field[R], ...]
    json: Callable[[R], Mapping[str, Any]]
    none: str
    name: Callable[[R], str]
    filters: Mapping[str, Callable[[R], str]] = field(default_factory=dict)
    find: Callable[[str, Sequence[str]], str] | None = None
    detail: Callable[[Session, R], None] | None = None
    complete: Callable[..., list[CompletionItem]] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Which rows are shown, and in which order; ``filters`` hold patterns, of which one has to
    match."""

    pattern: str | None = None
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sort: str | None = None
    reverse: bool = False
    limit: int | None = None


def select(table: Table[R], rows: Iterable[R], view: View) -> list[R]:
    """The rows that a view shows, without regard to its limit. Raises Problem when there is none
    of the name that is asked for."""
    found = list(rows)
    for name, patterns in view.filters.items():
        if patterns:
            value = table.filters[name]
            found = [row for row in found if _matches(value(row), patterns)]
    if view.pattern is not None:
        found = _named(table, found, view.pattern)
    if view.sort is not None:
        (column,) = (one for one in table.fields if one.name == view.sort)
        found.sort(key=column.order, reverse=view.reverse)
    elif view.reverse:
        found.reverse()
    return found


def wanted() -> str | None:
    """The PATTERN of the command that runs."""
    found: str | None = click.get_current_context().params.get("pattern")
    return found


def asked(name: str) -> Sequence[str]:
    """The patterns of a filter of the command that runs, for who can read less then."""
    found: Sequence[str] = click.get_current_context().params.get(name, ())
    return found


def is_pattern(text: str) -> bool:
    """Report if a text has wildcards, rather than being a name."""
    return not set(text).isdisjoint("*?[")


def _named(table: Table[R], rows: Sequence[R], pattern: str) -> list[R]:
    if is_pattern(pattern):
        return [row for row in rows if fnmatchcase(table.name(row), pattern)]
    name = pattern
    if table.find is not None:
        name = table.find(pattern, [table.name(row) for row in rows])
    found = [row for row in rows if table.name(row) == name]
    if not found:
        known = f"see srv6ctl show {table.member}"
        raise Problem.of(pattern, "it is not there", known)
    return found


def _matches(value: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def listed(table: Table[R]) -> Callable[[Callable[..., Iterable[R]]], click.Command]:
    """Make a command of a function that collects the rows; options of its own are passed on."""

    def made(collect: Callable[..., Iterable[R]]) -> click.Command:
        def run(session: Session, /, watch: float | None, **options: Any) -> None:
            filters = {name: options.pop(name) for name in table.filters}
            view = View(filters=filters, **{name: options.pop(name) for name in _OF_VIEW})

            def show() -> None:
                rows = collect(session, **options)
                session.warn_if_stale()
                _print(session, table, list(rows), view)

            watching.shown(session.out, watch, show)

        # click keeps the options of a function here, the last one first.
        own = getattr(collect, "__click_params__", [])
        command: Any = pass_session(run)
        for option in _options(table):
            command = option(command)
        command.__click_params__ += own
        name = collect.__name__.replace("_", "-")
        shown: click.Command = click.command(name, help=collect.__doc__)(command)
        return shown

    return made


def _options(table: Table[R]) -> list[Callable[[Any], Any]]:
    """From the last one that ``--help`` lists to the first."""
    columns = [column.name for column in table.fields]
    return [
        json_option,
        watching.option,
        click.option("--limit", "-n", type=click.IntRange(1), help="Print at most this many."),
        click.option("--reverse", is_flag=True, help="Reverse the order."),
        click.option(
            "--sort",
            metavar="COLUMN",
            type=click.Choice(columns),
            help=f"One of {', '.join(columns)}.",
        ),
        *(
            click.option(
                f"--{name}", metavar="PATTERN", multiple=True, help=f"Only those with this {name}."
            )
            for name in reversed(list(table.filters))
        ),
        click.argument("pattern", required=False, shell_complete=table.complete),
    ]


def _print(session: Session, table: Table[R], rows: list[R], view: View) -> None:
    shown = select(table, rows, view)
    if table.detail is not None and view.pattern is not None and not is_pattern(view.pattern):
        table.detail(session, shown[0])
        return
    more = len(shown) - (view.limit or len(shown))
    shown = shown[: view.limit]
    out = session.out
    if out.as_json:
        out.json_list(table.member, map(table.json, shown))
    elif shown:
        cells = {column: [column.text(row) for row in shown] for column in table.fields}
        fields = [f for f in cells if not f.optional or not _NOTHING.issuperset(cells[f])]
        columns = [Column(column.title, column.right) for column in fields]
        out.table(columns, zip(*(cells[column] for column in fields), strict=True))
    else:
        out.note(f"srv6ctl: {'nothing matches' if rows else table.none}")
    if more > 0:
        out.note(f"srv6ctl: {more} more {'is' if more == 1 else 'are'} not shown (--limit)")
