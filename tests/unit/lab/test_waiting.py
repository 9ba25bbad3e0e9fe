"""Waiting ends with the condition, or with words on what there is instead."""

from __future__ import annotations

from itertools import count

import pytest

from lab.problem import LabError
from lab.waiting import wait_until, wait_until_async


def test_the_first_true_value_is_returned() -> None:
    numbers = count()
    assert wait_until(lambda: next(numbers)) == 1


def test_what_does_not_come_is_named() -> None:
    with pytest.raises(LabError, match=r"^a row: not within 0\.01 s; there is \['other'\]$"):
        wait_until(lambda: None, "a row", 0.01, seen=lambda: ["other"])


async def test_a_coroutine_waits_alike() -> None:
    numbers = count()
    assert await wait_until_async(lambda: next(numbers)) == 1
    with pytest.raises(LabError, match=r"^a row: not within 0\.01 s$"):
        await wait_until_async(lambda: None, "a row", 0.01)
