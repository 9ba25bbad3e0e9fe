"""How sure a median is."""

from __future__ import annotations

import random

import pytest

from bench.intervals import of_median


@pytest.mark.parametrize(
    ("count", "below", "above"),
    # Ranks as in tables of the sign test.
    [(5, 0, 4), (6, 0, 5), (9, 1, 7), (20, 5, 14), (100, 39, 60)],
)
def test_ranks(count: int, below: int, above: int) -> None:
    assert of_median(range(count)) == (below, above)


def test_of_many_values() -> None:
    """Exact, and soon done: the normal distribution has the same."""
    low, high = of_median(range(50_000))
    assert (low, high) == pytest.approx((25_000 - 219, 25_000 + 219), abs=2)


def test_it_has_the_median_as_often_as_it_says() -> None:
    drawn = random.Random(1)
    inside = 0
    for _ in range(1000):
        low, high = of_median([drawn.expovariate(1) for _ in range(30)])
        # Of the exponential distribution.
        inside += low <= 0.6931 <= high
    assert 940 <= inside <= 985
