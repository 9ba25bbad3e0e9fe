"""How much of a build is done, and how much longer it takes."""

from __future__ import annotations

import io
import re

import pytest

from lab import forecast
from lab.forecast import Forecast, Part
from lab.progress import Progress


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"root": Part(100, 10), "kernel": Part(300, 1000)}
    monkeypatch.setattr(forecast, "PARTS", parts)


def built(kinds: list[str], lines: int) -> Forecast:
    """The first kind complete, the second as far as so many lines."""
    made = Forecast(kinds)
    made.begin(kinds[0])
    made.end()
    made.begin(kinds[1])
    for _ in range(lines):
        made.line()
    return made


def test_a_build_begins_with_the_times_that_others_took() -> None:
    assert Forecast(["root", "kernel"]).describe(0) == "  0 %, about 7 min left"


def test_lines_of_output_are_progress() -> None:
    assert built(["root", "kernel"], 500).describe(250) == " 62 %, about 3 min left"


def test_a_slower_machine_needs_longer_for_the_rest() -> None:
    assert built(["root", "kernel"], 500).describe(750) == " 62 %, about 7 min left"


def test_a_part_with_more_lines_than_foreseen_is_never_complete_by_itself() -> None:
    made = built(["root", "kernel"], 5000)
    assert made.describe(400) == " 99 %, less than a minute left"
    made.end()
    assert made.describe(400) == "100 %, less than a minute left"


def test_a_part_that_nobody_announced_counts_for_nothing() -> None:
    made = Forecast(["kernel"])
    made.begin("frrsource")
    made.line()
    made.end()
    assert made.describe(0) == "  0 %, about 5 min left"


def test_an_announced_build_shows_no_output_of_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.progress.PLAIN_PERIOD", 0.001)
    shown = io.StringIO()
    progress = Progress(shown)
    progress.expect(["root"])
    with progress.part("root"):
        for _ in range(5):
            progress.line()
        while "left" not in shown.getvalue():
            pass
    lines = shown.getvalue().splitlines()
    assert lines[0] == "root ..."
    assert re.fullmatch(r"root: +\d+ %, (about \d+ min|less than a minute) left", lines[1])
    assert lines[-1].startswith("root: done, ")


def test_waiting_for_another_build_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.progress.PLAIN_PERIOD", 0.001)
    shown = io.StringIO()
    progress = Progress(shown)
    progress.expect(["root"])
    with progress.step("wait for another build"):
        while "0 s" not in shown.getvalue():
            pass
    assert "left" not in shown.getvalue()
