"""The search for the highest rate at which nearly all packets arrive."""

from __future__ import annotations

import pytest

from bench.offered_rate import HIGHEST, LOSS, LOWEST, Trial, highest_rate


def router(limit: float) -> tuple[list[float], object]:
    """What a router that takes ``limit`` packets delivers, and the rates that it was asked."""
    asked: list[float] = []

    def delivered(rate: float) -> float:
        asked.append(rate)
        return min(1.0, limit / rate)

    return asked, delivered


@pytest.mark.parametrize("guess", [20_000, 444_000, 5_000_000])
def test_finds_the_limit(guess):
    _, delivered = router(444_200)

    found = highest_rate(delivered, guess)

    # With half a percent of loss it takes that much more.
    assert found == pytest.approx(444_200 / (1 - LOSS), rel=0.005)
    assert delivered(found) >= 1 - LOSS


def test_a_good_guess_needs_few_trials():
    asked, delivered = router(444_200)

    highest_rate(delivered, 440_000)

    assert len(asked) <= 8


@pytest.mark.parametrize("limit", [0, LOWEST / 2], ids=["nothing arrives", "hardly anything"])
def test_ends_where_packets_are_lost_at_any_rate(limit):
    _, delivered = router(limit)

    with pytest.raises(RuntimeError, match="packets are lost at"):
        highest_rate(delivered, 200_000)


def test_ends_where_no_packet_is_ever_lost():
    _, delivered = router(HIGHEST * 1000)

    with pytest.raises(RuntimeError, match="no packet is lost"):
        highest_rate(delivered, 200_000)


def test_delivery_ratio():
    assert Trial(offered=200.0, throughput=150.0, stalls=0).delivered == 0.75
