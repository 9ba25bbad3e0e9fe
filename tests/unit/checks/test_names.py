"""Old words do not come back in names; in prose and in strings they are not looked at."""

from __future__ import annotations

import pytest

from tests.checks import names
from tests.checks.names import CHECKOUT, EXCEPTIONS_IN, NAMES, TERMS, Finding


def found(file: str, text: str) -> list[str]:
    return [one.name for one in names.findings(file, text)]


def test_the_sources_have_none() -> None:
    assert names.main() == 0


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("srv6mgrd/a.py", "class RefusedAction: ...\n", "RefusedAction"),
        ("srv6mgrd/a.py", "def f(told: str) -> None: ...\n", "told"),
        ("srv6mgrd/a.py", "x = a.HTTPDoor\n", "HTTPDoor"),
        ("srv6mgrd/a.py", "from srv6mgrd.news import lost\n", "news"),
        ("srv6mgrd/a.py", "class Patience: ...\n", "Patience"),
        ("srv6mgrd/door.py", "", "door"),
        ("srv6mgrd/news/a.py", "", "news"),
        ("netconfd/a.c", "int problem_of_told(void);\n", "problem_of_told"),
        ("netconfd/blame.h", "", "blame"),
        ("redis-schema/a.lua", "local refused = 1\n", "refused"),
        ("tests/robot/refusals.robot", "", "refusals"),
    ],
)
def test_an_old_word_is_found(file: str, text: str, name: str) -> None:
    assert found(file, text) == [name]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("srv6mgrd/a.py", '"""What is refused is told."""  # at the door\nx = "news"\n'),
        ("srv6mgrd/a.py", "x = ConnectionRefusedError\n"),
        ("srv6mgrd/a.py", "indoor = rejected = bookkeeping = space = 1\n"),
        ("netconfd/a.c", '/* told */ char *x = "door"; // refused\n'),
        ("redis-schema/a.lua", "-- told\nlocal x = 'door'\n"),
        ("docs/the-door.md", "refused"),
    ],
)
def test_other_text_passes(file: str, text: str) -> None:
    assert found(file, text) == []


def test_a_finding_says_where_and_what_to_say() -> None:
    (one,) = names.findings("srv6mgrd/a.py", "\nherald = 1\n")
    assert one == Finding("srv6mgrd/a.py", 2, "herald", "notifier")
    assert str(one) == "srv6mgrd/a.py:2: 'herald': say notifier (docs/glossary.md)"


def test_exceptions_of_files_are_in_use() -> None:
    for file, name in EXCEPTIONS_IN:
        text = (CHECKOUT / file).read_text()
        assert name in {found for _, found in names.identifiers(file, text)}


def test_the_glossary_has_each_old_word() -> None:
    page = (CHECKOUT / "docs/glossary.md").read_text()
    assert {word for word in (*TERMS, *NAMES) if f"`{word}`" not in page} == set()
