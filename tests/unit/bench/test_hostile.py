"""What the p99 of the hostile bench rests on."""

from __future__ import annotations

import pytest

from bench.hostile import GOAL, LEAST, SAMPLES, Found, goals_of, p99s

QUIET = [0.1] * SAMPLES


def test_each_round_with_enough_waits_has_a_p99() -> None:
    slow = [*[1.0] * (SAMPLES - 2), 3.0, 9.0]
    assert p99s([slow, QUIET]) == [3.0, 0.1]


def test_rounds_with_few_waits_are_put_together() -> None:
    """Else each p99 would be the longest wait of its round."""
    few = [*[1.0] * (SAMPLES // 2 - 1), 9.0]
    assert p99s([few, [1.0] * len(few)]) == [1.0]
    assert p99s([few]) == [9.0]
    # The rest belongs to the part before it.
    assert p99s([QUIET, few]) == [1.0]


def test_nobody_notices_less_and_no_answer_is_the_longest_wait() -> None:
    assert p99s([[0.001] * SAMPLES]) == [LEAST]
    assert p99s([[]])[0] > 1


def test_a_round_in_which_the_machine_did_something_else_does_not_decide() -> None:
    busy = [5.0] * SAMPLES
    quiet, hostile = Found(), Found()
    quiet.waits["Get"] = [QUIET, QUIET, QUIET]
    hostile.waits["Get"] = [QUIET, busy, QUIET]
    (goal, dead) = goals_of("all", quiet, hostile, GOAL)
    assert (goal.ratio, goal.verdict, dead.verdict) == (1.0, "met", "met")
    assert f"p99 of {3 * SAMPLES}, or of {3 * SAMPLES} without" in goal.name


def test_without_an_answer_in_quiet_times_there_is_nothing_to_compare_with() -> None:
    quiet, hostile = Found(), Found()
    quiet.waits["Get"], hostile.waits["Get"] = [QUIET, []], [QUIET, QUIET]
    with pytest.raises(RuntimeError, match="no answer to Get though nobody attacks"):
        goals_of("all", quiet, hostile, GOAL)
