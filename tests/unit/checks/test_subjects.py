"""The form of commit messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import subjects


@pytest.mark.parametrize(
    "message",
    [
        "frr: keep the sessions of a VRF that is renamed",
        "cli, docs: show the age of a status\n\nOperators asked how old it is.\n",
        "frr-patches: " + "x" * 59,
        "kernel: read what others added\n\n# Please enter the commit message\n#\tmodified: x\n",
        "Merge branch 'main'",
        "fixup! frr: keep the sessions of a VRF that is renamed, however long this line becomes",
        "kernel: read\n\nWhy.\n# ------------------------ >8 ------------------------\ndiff\n",
    ],
)
def test_a_message_in_form_passes(message: str) -> None:
    assert subjects.problems(message) == []


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("frr: " + "x" * 68, "73 characters"),
        ("keep the sessions of a VRF", "names no area"),
        ("Frr: keep", "names no area"),
        ("frr: keep\nbecause", "not blank"),
        ("# only a comment\n\n", "is empty"),
    ],
)
def test_another_one_is_rejected_with_the_remedy(message: str, problem: str) -> None:
    (found,) = subjects.problems(message)
    assert problem in found


def test_a_hook_passes_the_message_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text("docs: say why\n")
    assert subjects.main([str(file)]) == 0
    file.write_text("say why\n")
    assert subjects.main([str(file)]) == 1
    assert "names no area" in capsys.readouterr().err
