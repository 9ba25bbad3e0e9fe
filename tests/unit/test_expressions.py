"""Expressions match all of a text, within bounds."""

from __future__ import annotations

import time

import pytest

from srv6mgrd.expressions import matches_all_of


@pytest.mark.parametrize(
    ("expression", "text", "found"),
    [
        (".*", "", True),
        ("eth[0-9]+", "eth12", True),
        ("eth", "eth12", False),
        ("th12", "eth12", False),
        ("eth|lo", "lo", True),
        (r"\p{L}+", "Zürich", True),
        ("(", "(", False),
        ("/var(/.*)?", "/var/lib/srv6mgr", True),
    ],
)
def test_all_of_a_text(expression: str, text: str, found: bool) -> None:
    assert matches_all_of(expression, text) is found


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|aa)+b", "(.*)*(.*)*(.*)*b"])
def test_an_expression_that_takes_too_many_steps_is_given_up(expression: str) -> None:
    """Python's re takes days for this."""
    began = time.thread_time()
    assert not matches_all_of(expression, "a" * 60)
    assert time.thread_time() - began < 1
