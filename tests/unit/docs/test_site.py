"""The sources of the site: what is collected, and how it is put in form."""

from __future__ import annotations

from pathlib import Path

from docs.site.navigation import expanded
from docs.site.self_contained import foreign
from docs.site.sources import matches, title, with_lists

CHECKOUT = Path(__file__).parents[3]


def test_a_star_stops_at_a_slash() -> None:
    assert matches("docs/model.md", ["docs", "*.md"])
    assert not matches("docs/adr/0001-a.md", ["docs", "*.md"])
    assert not matches("tests/model.md", ["docs", "*.md"])


def test_a_list_is_set_apart_from_the_paragraph_before_it() -> None:
    assert with_lists("That is\n- one\n- two\n") == "That is\n\n- one\n- two\n"


def test_lines_of_a_list_stay_together() -> None:
    page = "- one\n  more\n- two\n\n1. a\n2. b\n"
    assert with_lists(page) == page


def test_blocks_stay_as_they_are() -> None:
    page = "```text\ntotal\n- 1\n```\n"
    assert with_lists(page) == page


def test_a_manual_page_is_named_with_its_section() -> None:
    assert title("gnmid.toml.5") == "gnmid.toml(5)"


def test_a_folder_in_the_navigation_is_its_pages(tmp_path: Path) -> None:
    (tmp_path / "adr").mkdir()
    for name in ("0001-a.md", "README.md"):
        (tmp_path / "adr" / name).touch()
    nav = {"Explanation": ["why.md", {"Decisions": "adr/"}]}
    assert expanded(nav, tmp_path) == {
        "Explanation": ["why.md", {"Decisions": ["adr/README.md", "adr/0001-a.md"]}]
    }


def test_a_page_that_loads_from_another_host_is_found() -> None:
    assert foreign('<script src="https://cdn.example/a.js"></script>') == [
        "https://cdn.example/a.js"
    ]
    assert foreign('<link rel="stylesheet" href="//fonts.example/a.css">') == [
        "//fonts.example/a.css"
    ]


def test_a_link_to_another_host_is_no_load() -> None:
    page = '<a href="https://www.rfc-editor.org">RFC</a><link rel="canonical" href="https://a/">'
    assert not foreign(page)
