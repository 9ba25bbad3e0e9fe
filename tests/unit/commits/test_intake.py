"""How much of users' requests is in memory at once."""

from __future__ import annotations

import threading

import pytest

from srv6mgrd.commits.fields import MAX_MESSAGE, ProtocolError
from srv6mgrd.commits.intake import Intake

ROOT, ALICE, BOB = 0, 1000, 1001
LARGE = 1 << 20


def stays() -> bool:
    return False


def test_a_user_sends_less_at_once_than_root() -> None:
    intake = Intake(largest=LARGE)
    with intake.room(ROOT, MAX_MESSAGE, stays), intake.room(ALICE, LARGE, stays):
        pass
    with (
        pytest.raises(ProtocolError, match="exceed the limit of 1048576"),
        intake.room(ALICE, LARGE + 1, stays),
    ):
        pass


def test_a_user_waits_for_its_own_large_message() -> None:
    intake = Intake()
    entered, done = threading.Event(), threading.Event()

    def second() -> None:
        with intake.room(ALICE, LARGE, stays):
            entered.set()
        done.set()

    with intake.room(ALICE, LARGE, stays):
        thread = threading.Thread(target=second)
        thread.start()
        # Others do not wait, nor does a small message.
        with intake.room(BOB, LARGE, stays), intake.room(ALICE, 100, stays):
            assert not entered.is_set()
    assert done.wait(10)
    thread.join()


def test_all_users_together_wait_and_root_does_not() -> None:
    intake = Intake(largest=LARGE, most=LARGE)
    with intake.room(ALICE, LARGE, stays):
        with pytest.raises(ConnectionResetError), intake.room(BOB, LARGE, lambda: True):
            pass
        with intake.room(ROOT, LARGE, stays), intake.room(ROOT, LARGE, stays):
            pass
    with intake.room(BOB, LARGE, stays):
        pass


def test_connections_of_a_user_are_counted() -> None:
    intake = Intake()
    admitted = 0
    while intake.admits(ALICE):
        admitted += 1
    assert admitted == 32
    assert intake.admits(BOB)
    assert intake.admits(ROOT)
    intake.left(ALICE)
    assert intake.admits(ALICE)


def test_connections_of_all_users_leave_places_to_root() -> None:
    intake = Intake()
    admitted = sum(intake.admits(uid) for uid in range(1000, 1010) for _ in range(32))
    assert admitted == 128
    assert intake.admits(ROOT)
