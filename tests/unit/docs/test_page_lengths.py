"""No three screens of a page without a picture or a table.

Heights are estimated from the sources, in pixels of a browser that is 1400 wide and 900 high. In
headless Chromium they were within a fifth (model.md, frr.md, proxies.md, routing.md).
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from docs.site import sources

CHECKOUT = Path(__file__).parents[3]
SCREEN = 900
# A list of changes.
LISTS = {"CHANGELOG.md"}
PAGES = [name for name in sources.tracked(CHECKOUT, sources.PAGES) if name not in LISTS]
# Of a line of code, what is around a block of it, a line of prose, the gap behind a paragraph, and
# a heading with its gaps.
CODE, BLOCK, PROSE, GAP, HEADING = 19.3, 50.0, 25.6, 16.0, 75.0
CHARACTERS = 105
BREAK = re.compile(r"\s*(\||```bob|.*!\[)")
ITEM = re.compile(r"([-*]|\d+\.) ")


def longest_stretch(page: str) -> float:
    """Screens between two pictures or tables at most."""
    longest = height = 0.0
    paragraph, in_code = 0, False
    for line in [*page.splitlines(), ""]:
        text = line.strip()
        is_fence = text.startswith("```")
        ends = is_fence or not text or text.startswith("#") or ITEM.match(text) is not None
        if paragraph and (ends or in_code):
            height += math.ceil(paragraph / CHARACTERS) * PROSE + GAP
            paragraph = 0
        if BREAK.match(line) and not (in_code and not is_fence):
            longest, height = max(longest, height), 0.0
        elif (in_code and not is_fence) or line.startswith("    "):
            height += CODE
        elif text.startswith("#"):
            height += HEADING
        elif not is_fence:
            paragraph += len(text) + 1 if text else 0
        elif not in_code:
            height += BLOCK
        in_code ^= is_fence
    return max(longest, height) / SCREEN


def test_a_table_a_picture_and_a_diagram_end_a_stretch() -> None:
    prose = "Some words of prose.\n\n" * 50
    whole = longest_stretch(prose * 2)
    assert whole > 3
    for between in ("| a |\n|---|\n", "![A picture](a.svg)\n", "```bob\n-->\n```\n"):
        assert longest_stretch(f"{prose}\n{between}\n{prose}") == pytest.approx(whole / 2, rel=0.1)


def test_code_and_long_lines_count() -> None:
    assert longest_stretch("```json\n" + "{}\n" * 150 + "```\n") > 3
    assert longest_stretch("- " + "word " * 2500 + "\n") > 3
    assert longest_stretch("```sh\n" + "echo a | cat ![b]\n" * 150 + "```\n") > 3


@pytest.mark.parametrize("name", PAGES)
def test_a_stretch_is_three_screens_at_most(name: str) -> None:
    assert longest_stretch((CHECKOUT / name).read_text()) <= 3


def test_pages_are_looked_at() -> None:
    assert "docs/model.md" in PAGES
