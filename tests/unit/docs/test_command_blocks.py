"""Command blocks of pages: what is found, and which output is the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from docs.site import sources
from tests.command_blocks import Block, blocks, same_output, unfollowed

PAGE = """# A page

```sh title="pe1"
true
false
```

Text.

```sh title="pe1 and pe2"
apt-get update
```

```text title="Output"
done
```

```json
{}
```
"""
DOCS = Path(__file__).parents[3] / "docs"
SUITES = DOCS.parent / "tests/robot"
PAGES = [
    DOCS.parent / name
    for name in sources.tracked(DOCS.parent, sources.PAGES)
    if name != "CHANGELOG.md" and not name.startswith("docs/adr/")
]
NOT_RUN = tomllib.loads((Path(__file__).parent / "not_run.toml").read_text())


def test_blocks_are_found_in_order() -> None:
    assert list(blocks(PAGE)) == [
        Block(3, ("pe1",), "true\nfalse\n"),
        Block(10, ("pe1", "pe2"), "apt-get update\n", "done\n"),
    ]


def test_a_block_in_a_list_is_found_without_its_indent() -> None:
    page = '1. First:\n\n    ```sh title="pe1"\n    true\n      false\n    ```\n'
    assert list(blocks(page)) == [Block(3, ("pe1",), "true\n  false\n")]


def test_commands_have_to_name_their_node() -> None:
    with pytest.raises(ValueError, match=r"line 1: .* name its nodes"):
        list(blocks("```sh\ntrue\n```\n"))


def test_output_belongs_to_commands() -> None:
    with pytest.raises(ValueError, match="line 1: output without commands"):
        list(blocks('```text title="Output"\ndone\n```\n'))


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        ("a\nb\n", "a\nb"),
        ("SID  SINCE\nx  18 s\n", "SID   SINCE\nx    4 min\n"),
        ("0% loss, time 521ms", "0% loss, time 534ms"),
        ("a\n...\nd", "a\nb\nc\nd"),
        ("a\n...\nd", "a\nd"),
    ],
)
def test_output_is_the_same(printed: str, seen: str) -> None:
    assert same_output(printed, seen)


@pytest.mark.parametrize(
    ("printed", "seen"), [("a", "b"), ("10 packets", "9 packets"), ("a", "a\nb"), ("a.c", "abc")]
)
def test_output_differs(printed: str, seen: str) -> None:
    assert not same_output(printed, seen)


def test_other_commands_are_found() -> None:
    page = "Text:\n\n    make demo     # a comment\n\n1. A list:\n\n      pe1$ ip link\n\n" + PAGE
    page += "\n```text\n# srv6ctl show sids\nSID ...\n```\n\n    vrf red\n"
    assert sorted(unfollowed(page)) == ["# srv6ctl show sids", "make demo", "pe1$ ip link"]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_page_can_be_read(page: Path) -> None:
    list(blocks(page.read_text()))


def test_every_page_is_followed_by_a_suite() -> None:
    followed = "".join(suite.read_text() for suite in SUITES.glob("*.robot"))
    with_commands = [page for page in PAGES if list(blocks(page.read_text()))]
    names = [str(page.relative_to(DOCS.parent)) for page in with_commands]
    assert [name for name in names if f"{name}\n" not in followed] == []


def test_other_commands_are_listed_with_the_reason() -> None:
    found = {
        str(page.relative_to(DOCS.parent)): commands
        for page in PAGES
        if (commands := set(unfollowed(page.read_text())))
    }
    assert found == {page: set(listed) for page, listed in NOT_RUN.items()}


def test_the_way_to_the_first_vpn_has_twelve_commands() -> None:
    page = (DOCS / "tutorial/first-vpn.md").read_text()
    install = re.search(r"(?s)## Install.*?```text\n(.*?)```", page)
    assert install is not None
    followed = "".join(block.commands for block in blocks(page))
    without_files = re.sub(r"(?m)^(.*)<<'EOF'$[\s\S]*?^EOF$", r"\1", followed)
    assert len(install[1].splitlines()) == 4
    assert len(without_files.splitlines()) == 8
