"""The claims of docs/seeds.md, and the check of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import seeds
from tests.runner.records import Record

ROBOT = """*** Settings ***
Name    Not A Case

*** Test Cases ***
One Case
    Do

*** Keywords ***
Do
    Log    done
"""
TESTS = "def test_one() -> None: ...\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in (("a.robot", ROBOT), ("test_a.py", TESTS), ("bench/a.py", "")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def row(shown: str = "`test_a.py::test_one`", verdict: str = "met", key: str = "A1") -> str:
    return f"| {key} | claim | here | {shown} | 1 | 2 | {verdict} |"


def page(*lines: str) -> str:
    head = "| | it says | here | shown by | measured | original | verdict |"
    return "\n".join((head, "|---|---|---|---|---|---|---|", *lines))


def test_the_page_is_whole() -> None:
    text = (seeds.CHECKOUT / seeds.PAGE).read_text()
    assert len(list(seeds.rows(text))) > 60
    assert list(seeds.problems(text, seeds.CHECKOUT)) == []


def test_other_tables_are_left_alone() -> None:
    assert list(seeds.rows(page(row()) + "\n\n| segments | octets |\n|---|---|\n| 1 | 64 |\n")) == [
        *seeds.rows(page(row()))
    ]


@pytest.mark.parametrize(
    "line",
    [
        row(),
        row("`a.robot::One Case`, `bench/a.py`"),
        row("nothing yet", "open"),
        row("nothing, by choice", "rejected"),
    ],
)
def test_a_row_in_form_passes(checkout: Path, line: str) -> None:
    assert list(seeds.problems(page(line), checkout)) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("| A1 | claim |  | here | 1 | 2 | met |", "empty"),
        ("| A1 | claim | met |", "empty"),
        (row(verdict="good"), "no verdict"),
        (row("nothing yet"), "name a test"),
        (row("nothing yet", "rejected"), "name a test"),
        (row("by eye"), "name a test"),
        (row("`test_b.py::test_one`"), "no test_b.py"),
        (row("`test_a.py::test_on`"), "no test_a.py::test_on"),
        (row("`test_a.py`"), "no test_a.py"),
        (row("`a.robot::Do`"), "no a.robot::Do"),
        (row("`a.robot::Name    Not A Case`"), "no a.robot"),
        (row("`bench/b.py`"), "no bench/b.py"),
        (row() + "\n" + row(), "two such rows"),
    ],
)
def test_another_one_is_reported(checkout: Path, line: str, problem: str) -> None:
    (found,) = seeds.problems(page(line), checkout)
    assert found.startswith("A1: ")
    assert problem in found


@pytest.mark.parametrize(
    ("run", "left"),
    [
        ([("test_a.py::test_one[x]", "passed"), ("test_a.py::test_one[y]", "passed")], False),
        ([("test_a.py::test_one", "unsteady")], False),
        ([("test_a.py::test_one[x]", "passed"), ("test_a.py::test_one[y]", "failed")], True),
        ([("test_a.py::test_one", "skipped")], True),
        ([("test_a.py::test_one_more", "passed")], True),
        ([], True),
    ],
)
def test_a_test_that_did_not_pass_is_listed(run: list[tuple[str, str]], *, left: bool) -> None:
    records = [Record("test", name, 0.1, outcome) for name, outcome in run]
    found = seeds.not_passed(page(row("`test_a.py::test_one`, `bench/a.py`")), records)
    assert found == ["test_a.py::test_one"] * left
