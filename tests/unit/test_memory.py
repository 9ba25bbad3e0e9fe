"""When the collector searches, and when memory that was freed is given back."""

import gc
import threading

import pytest

from srv6mgrd import memory
from srv6mgrd.memory import Giving

MIB = 1 << 20


@pytest.fixture(autouse=True)
def collector():
    # Commands that tests before ran in this process have no collector (cli.main).
    gc.enable()
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


def test_it_waits_for_the_last_thread():
    begun, ended = threading.Event(), threading.Event()

    def other():
        with memory.searched_later():
            begun.set()
            ended.wait(30)

    thread = threading.Thread(target=other)
    with memory.searched_later():
        thread.start()
        assert begun.wait(30)
    assert not gc.isenabled()
    ended.set()
    thread.join()
    assert gc.isenabled()


def test_a_hold_begins_and_ends_as_often_as_wanted():
    hold = memory.Hold()
    hold.end()
    assert gc.isenabled()
    for _ in range(2):
        hold.begin()
        hold.begin()
        assert not gc.isenabled()
        hold.end()
        hold.end()
        assert gc.isenabled()


def test_it_goes_on_after_a_failure_too():
    with pytest.raises(ZeroDivisionError), memory.searched_later():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_much_that_was_made_is_left_alone_and_little_is_not(monkeypatch):
    monkeypatch.setattr(memory, "_MUCH", 10_000)
    gc.unfreeze()
    gc.collect()
    try:
        with memory.searched_later():
            little = [[] for _ in range(100)]
        assert gc.get_freeze_count() == 0
        with memory.searched_later():
            much = [[] for _ in range(20_000)]
        assert gc.get_freeze_count() >= len(much) + len(little)
    finally:
        gc.unfreeze()


def test_what_is_made_to_stay_is_left_alone():
    gc.unfreeze()
    try:
        with memory.made_to_stay():
            kept = [[] for _ in range(100)]
        assert gc.get_freeze_count() >= len(kept)
        assert gc.isenabled()
    finally:
        gc.unfreeze()


class Process:
    """Its memory in MiB: what is in use, and what the C library keeps of what was freed."""

    def __init__(self):
        self.used, self.kept, self.trims = 50, 0, 0

    def trim(self, _):
        self.trims += 1
        self.kept = 0

    def resident(self):
        return (self.used + self.kept) * MIB

    def free(self, mib):
        self.used -= mib
        self.kept += mib


def test_what_is_freed_after_the_first_look_is_given_back_too():
    process = Process()
    giving = Giving(process.trim, process.resident)
    giving.look()
    process.used += 300
    process.free(100)
    giving.look()
    process.free(100)

    giving.look()

    assert process.kept == 0


def test_nothing_is_done_while_nothing_changes():
    process = Process()
    giving = Giving(process.trim, process.resident)
    for _ in range(3):
        giving.look()
    trims = process.trims

    for _ in range(10):
        giving.look()

    assert process.trims == trims


def test_a_tree_is_let_go_entry_by_entry():
    entries = [{"prefix": "fc00::/64"}]
    tree = {"srv6": {"locators": {}, "local-sids": {"sid": entries}}, "name": "x"}

    memory.let_go(tree)

    assert entries == []
