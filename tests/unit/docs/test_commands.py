"""Commands that the documentation mentions exist, with their options. Suite ``pages`` runs those of
tutorials and how-to; this is for all other pages and for commands in sentences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.site import sources
from srv6mgrd.cli.main import srv6ctl

CHECKOUT = Path(__file__).parents[3]
# A line of a block, maybe behind a prompt; or a piece of code in a sentence.
MENTIONED = re.compile(r"^ *(?:[a-z0-9-]+[$#] )?(srv6ctl .*)$|(?<!`)`(srv6ctl [^`]+)`", re.M)
# Behind these begins another command, a file, or an alternative.
ENDS = re.compile(r"[|<>&;)]|\.\.\.")
PAGES = [
    name
    for name in sources.tracked(CHECKOUT, sources.PAGES)
    if name != "CHANGELOG.md" and not name.startswith("docs/adr/")
]


def commands(page: str) -> Iterator[list[str]]:
    """The words after srv6ctl of each command in blocks and in code of sentences."""
    for found in MENTIONED.finditer(page):
        text = " ".join((found[1] or found[2]).split())
        try:
            all_words = shlex.split(text, comments=True)
        except ValueError:  # a text that goes on in the next line
            all_words = text.split()
        words = []
        for word in all_words[1:]:
            if ENDS.search(word):
                break
            words.append(word)
        yield words


def parse(
    command: click.Command, name: str, words: list[str], parent: click.Context | None
) -> None:
    """UsageError for a command or an option that does not exist."""
    if not isinstance(command, click.Group):
        command.make_parser(click.Context(command, parent, name)).parse_args(list(words))
        return
    context = click.Context(command, parent, name)
    context.allow_interspersed_args = False
    _, rest, _ = command.make_parser(context).parse_args(list(words))
    if rest and not rest[0].isupper():
        below, found, rest = command.resolve_command(context, rest)
        assert found is not None
        parse(found, below or "", rest, context)


def problems(page: str) -> list[str]:
    found = []
    for words in commands(page):
        try:
            parse(srv6ctl, "srv6ctl", words, None)
        except click.BadArgumentUsage:
            pass  # an argument is left out in a sentence
        except click.UsageError as error:
            found.append(f"{shlex.join(words)}: {error.format_message()}")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_mentioned_commands_exist(name: str) -> None:
    assert problems((CHECKOUT / name).read_text()) == []


@pytest.mark.parametrize(
    "page",
    [
        "    srv6ctl frobnicate\n",
        "Call `srv6ctl show sids --colour`.\n",
        "pe1$ srv6ctl show\tsidz\n",
    ],
)
def test_a_command_that_does_not_exist_is_found(page: str) -> None:
    assert len(problems(page)) == 1
