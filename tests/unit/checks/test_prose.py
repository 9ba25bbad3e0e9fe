"""The linter of prose finds what each rule is about, and passes plain sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import prose

with_vale = pytest.mark.skipif(not prose.VALE.exists(), reason="make build/bin/vale")


def test_without_the_linter_the_check_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prose, "VALE", tmp_path / "vale")
    assert prose.main() == 1
    assert "make build/bin/vale" in capsys.readouterr().out


@with_vale
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("The client is told the reason.", "Terms"),
        ("A commit through that door is refused.", "Terms"),
        ("Whoever opens a session waits.", "Terms"),
        ("The rule stands behind another one.", "Terms"),
        ("| row | it bears a mark |\n|---|---|\n| a | the news |", "Terms"),
        ("The filter shall drop it.", "Shall"),
        ("Text.\n\nWhat is declared is kept.", "Clauses"),
        ("- Whether it runs is checked every second.", "Clauses"),
    ],
)
def test_bad_prose_is_found(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}\n")
    assert any(f": {rule}: " in found for found in prose.findings(["page.md"], tmp_path))


@with_vale
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.py", '"""Clients are told why."""\n'),
        ("a.py", "count = 1  # of what stands\n"),
        ("a.c", "/* The door for others. */\nint door;\n"),
        ("a.h", "// refuses all\nint refuses(void);\n"),
    ],
)
def test_comments_and_docstrings_are_prose(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / name).write_text(code)
    assert len(list(prose.findings([name], tmp_path))) == 1


@with_vale
def test_code_is_no_prose(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('told = stands("door")  # fine\n')
    assert list(prose.findings(["a.py"], tmp_path)) == []


@with_vale
@pytest.mark.parametrize(
    "text",
    [
        "Foreign routes are never changed. What does it do?",
        "RFC 2119 says SHALL. H stands for headend.",
        "The leaf `refused-commits` counts them.",
        "```text\nthe client is told\n```",
    ],
)
def test_plain_prose_passes(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}\n")
    assert list(prose.findings(["page.md"], tmp_path)) == []
