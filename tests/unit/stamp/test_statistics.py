"""Measurement intervals of a session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.stamp.statistics import (
    REPLY_TIMEOUT,
    Delay,
    Jitter,
    Measurement,
    Statistics,
    first_end,
    percentile,
)

MS, S = 1_000_000, 1_000_000_000
LENGTH = 10 * S
# Wall clock less the monotonic one.
WALL = 1_700_000_000 * S


def close(statistics: Statistics, now: int) -> Measurement | None:
    return statistics.close(now, WALL + now)


def test_delay_jitter_and_loss_of_an_interval() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    for number, delay in enumerate((4, 6, None, 10, 10)):
        at = number * S
        statistics.sent(number, at)
        if delay is not None:
            assert statistics.answered(number, delay * MS, at + delay * MS)
    # An answer may still come.
    assert close(statistics, LENGTH + REPLY_TIMEOUT) is None
    found = close(statistics, LENGTH + REPLY_TIMEOUT + 1)
    assert found == Measurement(
        ended=WALL + LENGTH,
        sent=5,
        received=4,
        delay=Delay(4 * MS, 6 * MS, 10 * MS, 10 * MS),
        # Between packets 0 and 1, 3 and 4; the lost one parts 1 from 3.
        jitter=Jitter(0, 2 * MS),
    )
    assert f"{found.loss:.0%}" == "20%"


def test_answers_belong_to_the_interval_of_their_packet() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    statistics.sent(1, LENGTH - 1)
    statistics.sent(2, LENGTH)
    assert statistics.answered(2, MS, LENGTH + MS)
    assert statistics.answered(1, S, LENGTH + S)
    first = close(statistics, LENGTH + REPLY_TIMEOUT + 1)
    assert first is not None
    assert (first.sent, first.received, first.ended) == (1, 1, WALL + LENGTH)
    second = close(statistics, 2 * LENGTH + REPLY_TIMEOUT + 1)
    assert second is not None
    assert (second.sent, second.received, second.ended) == (1, 1, WALL + 2 * LENGTH)


def test_late_double_and_unknown_answers_do_not_count() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    statistics.sent(1, 0)
    statistics.sent(2, 0)
    assert not statistics.answered(1, S, REPLY_TIMEOUT + 1)
    assert statistics.answered(2, MS, MS)
    assert not statistics.answered(2, MS, MS)
    assert not statistics.answered(3, MS, MS)
    found = close(statistics, 2 * LENGTH)
    assert found is not None
    assert (found.sent, found.received) == (2, 1)


def test_a_clock_that_was_set_takes_the_delay_but_not_the_packet() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    for number, delay in ((1, -S), (2, 3600 * S), (3, MS)):
        statistics.sent(number, 0)
        assert statistics.answered(number, delay, 2 * MS)
    found = close(statistics, 2 * LENGTH)
    assert found is not None
    assert (found.sent, found.received) == (3, 3)
    assert found.delay == Delay(MS, MS, MS, MS)


def test_after_a_long_gap_the_grid_of_intervals_is_the_same() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    statistics.sent(1, 0)
    found = close(statistics, 7 * LENGTH + S)
    assert found is not None
    assert found.ended == WALL + LENGTH
    statistics.sent(2, 7 * LENGTH + 2 * S)
    found = close(statistics, 8 * LENGTH + REPLY_TIMEOUT + 1)
    assert found is not None
    assert (found.sent, found.ended) == (1, WALL + 8 * LENGTH)


@pytest.mark.parametrize(
    ("wall", "ends"), [(0, 10), (1, 10), (5, 10), (6, 20), (9, 20), (1_700_000_003, 1_700_000_010)]
)
def test_intervals_end_at_multiples_of_their_length(wall: int, ends: int) -> None:
    assert first_end(77 * S, wall * S, LENGTH) - 77 * S == (ends - wall) * S


def test_packets_that_never_left_are_lost() -> None:
    statistics = Statistics(LENGTH, LENGTH)
    statistics.sent(1, 0)
    statistics.unsent(1)
    found = close(statistics, 2 * LENGTH)
    assert found is not None
    assert (found.sent, found.received, found.delay, found.jitter) == (1, 0, None, None)
    assert f"{found.loss:.0%}" == "100%"


@given(st.lists(st.integers(), min_size=1), st.floats(0, 1))
def test_percentiles_are_values_that_enough_others_do_not_exceed(
    values: list[int], share: float
) -> None:
    found = percentile(sorted(values), share)
    assert found in values
    assert sum(one <= found for one in values) >= share * len(values)


@given(st.lists(st.tuples(st.integers(0, 3 * S), st.none() | st.integers(0, 3 * S)), max_size=200))
def test_every_packet_is_counted_once(packets: list[tuple[int, int | None]]) -> None:
    statistics, now, found, answered = Statistics(LENGTH, LENGTH), 0, [], 0
    for number, (gap, delay) in enumerate(packets):
        now += gap
        statistics.sent(number, now)
        if delay is not None:
            now += delay
            answered += statistics.answered(number, delay, now)
        found.append(close(statistics, now))
    end = (now // LENGTH + 1) * LENGTH
    found.append(close(statistics, end + REPLY_TIMEOUT + 1))
    results = [one for one in found if one is not None]
    assert all(one.received <= one.sent for one in results)
    # Those of intervals that ended between two looks more than the timeout ago are not reported.
    assert sum(one.sent for one in results) <= len(packets)
    assert sum(one.received for one in results) <= answered
