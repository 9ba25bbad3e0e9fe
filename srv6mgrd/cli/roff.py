"""Parts of a manual page, made of click's commands, in man(7)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from pathlib import Path

import click

NOTHING: frozenset[str] = frozenset()
_PAGES = Path(__file__).parents[2] / "docs/man"


def commands(
    group: click.Group, parent: click.Context, above: str = "", elsewhere: frozenset[str] = NOTHING
) -> Iterator[str]:
    """All commands of a group; options with these names are described elsewhere."""
    for name in group.list_commands(parent):
        one = group.get_command(parent, name)
        if isinstance(one, click.Group):
            yield from commands(one, parent, f"{above}{name} ", elsewhere)
        elif one is not None:
            yield from _command(one, f"{above}{name}", parent, elsewhere)


def _command(
    one: click.Command, name: str, parent: click.Context, elsewhere: frozenset[str]
) -> Iterator[str]:
    context = click.Context(one, info_name=name, parent=parent)
    arguments = [p.make_metavar(context) for p in one.params if isinstance(p, click.Argument)]
    yield f".SS {_text(' '.join([name, *arguments]))}"
    yield from prose(one.help or "")
    # These are everywhere, and described once.
    yield from options(one, context, elsewhere | {"--help", "--json"})


def options(
    one: click.Command, context: click.Context, elsewhere: frozenset[str] = NOTHING
) -> Iterator[str]:
    shown = {}
    for option in one.get_params(context):
        if not isinstance(option, click.Option) or elsewhere & {*option.opts}:
            continue
        names = ", ".join([*option.opts, *option.secondary_opts])
        metavar = "" if option.is_flag else f" {option.make_metavar(context)}"
        shown[names + metavar] = option.help or ""
    yield from terms(shown)


def terms(meanings: Mapping[str, str]) -> Iterator[str]:
    for term, meaning in meanings.items():
        yield from (".TP", f".B {_text(term)}", _text(meaning))


def prose(text: str) -> Iterator[str]:
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


def written(name: str, wanted: str) -> int:
    """Write docs/man/NAME; with --check, only compare. The exit status."""
    page = _PAGES / name
    if "--check" not in sys.argv[1:]:
        page.write_text(wanted)
    elif not page.exists() or page.read_text() != wanted:
        print(f"docs/man/{name} is stale: run 'make format'")
        return 1
    return 0
