"""The verdict on a goal."""

from __future__ import annotations

import pytest

from bench.report import Goal, Report

# Twenty rounds, whose median has an interval from the sixth to the fifteenth.
CLOSE = [0.99 + 0.001 * n for n in range(20)]


def rounds(ours: list[float], goal: float | None, *, more: bool = True) -> Goal:
    return Goal("name", ours, [1.0] * len(ours), goal, "pps", more=more, of="rounds")


@pytest.mark.parametrize(
    ("goal", "more", "verdict"),
    [
        (0.995, True, "met"),
        (0.9955, True, "unclear"),
        (1.004, True, "unclear"),
        (1.005, True, "short"),
        (1.004, False, "met"),
        (1.0, False, "unclear"),
        (0.994, False, "short"),
    ],
)
def test_the_interval_is_on_one_side_of_the_goal(goal: float, more: bool, verdict: str) -> None:
    assert rounds(CLOSE, goal, more=more).verdict == verdict


def test_of_few_rounds_the_median_decides() -> None:
    assert rounds([0.5, 1.0, 1.0, 1.0, 1.0], 0.99).verdict == "met"
    assert rounds([0.5, 1.0, 1.0, 1.0, 1.0, 1.0], 0.99).verdict == "unclear"


def test_without_rounds_one_run_decides() -> None:
    assert Goal("name", [1.0, 3.0], [1.0], 1.0).verdict == "met"
    assert Goal("name", [2.0, 3.0], [1.0], 1.0).verdict == "short"
    assert Goal("name", [2.0], [], 1.0).verdict == "short"
    assert Goal("name", [2.0], [1.0], None).verdict == "no goal"


@pytest.mark.parametrize(("goal", "status"), [(0.995, 0), (1.0, 0), (1.005, 1)])
def test_the_bench_fails_when_it_is_sure(
    monkeypatch: pytest.MonkeyPatch, tmp_path, goal: float, status: int
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Report("name", [rounds(CLOSE, goal)], "machine").finish() == status
