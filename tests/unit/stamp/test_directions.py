"""Loss of each direction, from what both ends count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srv6mgrd.stamp.directions import Counters, DirectionCount
from srv6mgrd.stamp.session_counts import SessionCounts
from srv6mgrd.stamp.statistics import REPLY_TIMEOUT, Statistics

S = 1_000_000_000
WRAP = 1 << 32
PEER = ("2001:db8::1", 862, 0, 0)


@given(st.lists(st.sampled_from(["arrives", "forward", "backward"]), max_size=60), st.integers(0))
def test_each_lost_packet_has_its_direction(fates: list[str], start: int) -> None:
    base = Counters(start % WRAP, (start * 3) % WRAP, (start * 3) % WRAP)
    # The last one arrives: what is lost behind it is not known yet.
    count, received = DirectionCount(base), 0
    for sent, fate in enumerate([*fates, "arrives"], 1):
        received += fate != "forward"
        if fate == "arrives":
            sums = zip(base, (sent, received, received), strict=True)
            count.add(Counters(*((one + more) % WRAP for one, more in sums)))
    found = count.result()
    assert found is not None
    assert found.sent - found.reflected == fates.count("forward")
    assert found.answers - found.arrived == fates.count("backward")


def test_the_first_answer_is_where_counting_begins() -> None:
    count = DirectionCount()
    assert count.result() is None
    count.add(Counters(5, 5, 5))
    assert count.result() is None
    count.add(Counters(7, 6, 6))
    found = count.result()
    assert found is not None
    assert (found.forward_loss, found.backward_loss) == (0.5, 0.0)


@pytest.mark.parametrize(
    "counters", [Counters(20, 2, 2), Counters(20, 40, 40), Counters(20, 12, 13)]
)
def test_a_reflector_that_does_not_count_on(counters: Counters) -> None:
    count = DirectionCount(Counters(10, 10, 10))
    count.add(counters)
    assert count.result() is None


def test_intervals_go_on_from_each_other() -> None:
    """The answer to the last packet of an interval comes when the next one has begun."""
    statistics = Statistics(S, S)
    for number in range(20):
        statistics.sent(number, number * S // 10)
        if number:
            arrived = statistics.answered(
                number - 1, 0, number * S // 10, Counters(number, number, number)
            )
            assert arrived
    first = statistics.close(S + REPLY_TIMEOUT + 1, 0)
    assert first is not None
    assert first.directions is not None
    assert (first.directions.sent, first.directions.arrived) == (9, 9)
    second = statistics.close(2 * S + REPLY_TIMEOUT + 1, 0)
    assert second is not None
    assert second.directions is not None
    assert (second.directions.sent, second.directions.arrived) == (9, 9)
    assert second.directions.backward_loss == 0


def test_a_reflector_counts_each_session() -> None:
    counts = SessionCounts()
    assert counts.received(PEER, 1) == (1, 1)
    counts.answered(PEER, 1)
    # This one's answer could not be sent.
    assert counts.received(PEER, 1) == (2, 2)
    assert counts.received(PEER, 1) == (3, 2)
    assert counts.received(PEER, 2) == (1, 1)
