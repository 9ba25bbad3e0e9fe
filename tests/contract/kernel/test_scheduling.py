"""Threads that take short slices."""

from __future__ import annotations

import ctypes
import threading

import pytest

from srv6mgrd import scheduling


def _slice_of_this_thread() -> int:
    attributes = scheduling._Attributes()
    size = ctypes.sizeof(attributes)
    if ctypes.CDLL(None).sched_getattr(0, ctypes.byref(attributes), size, 0) != 0:
        pytest.fail("sched_getattr")
    return int(attributes.runtime)


def test_a_thread_that_takes_short_slices_hands_them_on() -> None:
    found = list[int]()

    def run() -> None:
        assert scheduling.take_short_slices()
        found.append(_slice_of_this_thread())
        child = threading.Thread(target=lambda: found.append(_slice_of_this_thread()))
        child.start()
        child.join()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [100_000, 100_000]
