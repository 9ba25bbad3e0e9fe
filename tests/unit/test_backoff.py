"""How long to wait before another try."""

from __future__ import annotations

from srv6mgrd.backoff import Backoff


def test_it_doubles_up_to_its_end_and_begins_anew_once_a_try_went_well() -> None:
    backoff = Backoff(1, 5)
    assert [backoff.delay() for _ in range(5)] == [1, 2, 4, 5, 5]
    backoff.reset()
    assert backoff.delay() == 1


async def test_it_tries_until_it_succeeds() -> None:
    tries = iter([False, False, True, True])

    async def attempt() -> bool:
        return next(tries)

    backoff = Backoff(0.0, 0.0)
    await backoff.until(attempt)
    assert list(tries) == [True]
