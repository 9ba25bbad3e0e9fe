"""Waiting ends as soon as it can, and in any case."""

from __future__ import annotations

from itertools import pairwise

import pytest

from srv6mgrd.frr import waiting


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time that passes when someone sleeps, and then alone."""
    now = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[-1])
    monkeypatch.setattr(waiting.time, "sleep", lambda s: now.append(now[-1] + s))
    return now


def test_looks_are_further_and_further_apart(clock: list[float]) -> None:
    seen = list(waiting.ticks(2.0))
    gaps = [b - a for a, b in pairwise(seen)]
    assert gaps == sorted(gaps)
    assert gaps[0] == pytest.approx(0.001)
    assert gaps[-1] == pytest.approx(0.1)
    assert 1.8 < seen[-1] < 2.0


def test_what_holds_is_not_waited_for(clock: list[float]) -> None:
    assert waiting.comes_true(lambda: True, 2.0)
    assert clock == [0.0]


def test_what_comes_later_is_seen(clock: list[float]) -> None:
    assert waiting.comes_true(lambda: clock[-1] > 0.5, 2.0)
    assert clock[-1] < 0.7


def test_what_never_comes_is_given_up(clock: list[float]) -> None:
    assert not waiting.comes_true(lambda: False, 2.0)
    assert 2.0 <= clock[-1] < 2.2
