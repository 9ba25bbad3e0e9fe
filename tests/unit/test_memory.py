"""When the collector searches."""

import gc

import pytest

from srv6mgrd import memory


@pytest.fixture(autouse=True)
def collector():
    yield
    gc.enable()


def test_the_collector_waits_and_goes_on():
    with memory.searched_later():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_inner_one_does_not_end_the_outer_one():
    with memory.searched_later():
        with memory.searched_later():
            pass
        assert not gc.isenabled()


def test_it_goes_on_after_a_failure_too():
    with pytest.raises(ZeroDivisionError), memory.searched_later():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_is_made_to_stay_is_left_alone():
    gc.unfreeze()
    try:
        with memory.made_to_stay():
            kept = [[] for _ in range(100)]
        assert gc.get_freeze_count() >= len(kept)
        assert gc.isenabled()
    finally:
        gc.unfreeze()
