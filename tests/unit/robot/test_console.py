"""What system suites record of their tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.robot.library.console import Console
from tests.runner import records

ROBOT = Path(__file__).parents[3] / "tests/robot"


def _result(status: str, message: str = "", kind: str = "TEST") -> Any:
    return SimpleNamespace(
        passed=status == "PASS", failed=status == "FAIL", skipped=status == "SKIP",
        message=message, type=kind,
        elapsed_time=SimpleNamespace(total_seconds=lambda: 1.5),
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "records.jsonl"
    monkeypatch.setenv(records.VARIABLE, str(made))
    return made


@pytest.mark.parametrize(
    ("status", "outcome"), [("PASS", "passed"), ("FAIL", "failed"), ("SKIP", "skipped")]
)
def test_a_test_is_recorded_as_it_ended(
    file: Path, capsys: pytest.CaptureFixture[str], status: str, outcome: str
) -> None:
    """And so is the setup of a suite: one that skips its tests is no failure."""
    suite = SimpleNamespace(source=ROBOT / "frr.robot", tests=[1], name="Frr")
    console = Console()
    console.end_test(SimpleNamespace(name="It Holds", parent=suite), _result(status, "why"))
    setup = _result(status, "why", "SETUP")
    of_suite = SimpleNamespace(
        setup=setup, teardown=None, elapsed_time=setup.elapsed_time, message=""
    )
    console.end_suite(suite, of_suite)
    assert [(r.id, r.outcome) for r in records.read(file)] == [
        ("tests/robot/frr.robot::It Holds", outcome),
        ("tests/robot/frr.robot::setup", outcome),
    ]
    capsys.readouterr()
    console.close()
    counted = f"{int(status == 'PASS')} passed, {int(status == 'FAIL')} failed\n"
    assert capsys.readouterr().out == counted
