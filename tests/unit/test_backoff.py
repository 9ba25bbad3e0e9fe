"""How long to wait before another try."""

from __future__ import annotations

from srv6mgrd.backoff import Backoff


def test_it_doubles_up_to_its_end_and_begins_anew_once_a_try_went_well() -> None:
    backoff = Backoff(1, 5)
    assert [backoff.delay() for _ in range(5)] == [1, 2, 4, 5, 5]
    backoff.reset()
    assert backoff.delay() == 1
