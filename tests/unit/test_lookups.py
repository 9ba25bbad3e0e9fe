"""Lookups that hang hold up nobody but who needs their answer, and that one not for long."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from srv6mgrd.lookups import Lookups, NoAnswerError

SHORT = 0.2


class Directory:
    """Answers when it is let to; not at all of names in ``lost``."""

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.groups = frozenset({"operators"})
        self.asked: list[str] = []
        self.lost: set[str] = set()
        self.failure: OSError | None = None

    def __call__(self, user: str) -> frozenset[str]:
        self.asked.append(user)
        if user in self.lost:
            threading.Event().wait()
        self.answers.wait(5)
        if self.failure is not None:
            raise self.failure
        return self.groups


@pytest.fixture
def directory() -> Iterator[Directory]:
    made = Directory()
    yield made
    made.answers.set()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def lookups(directory: Directory, clock: Clock | None = None) -> Lookups[str, frozenset[str]]:
    question = "user {}: groups".format
    timer = clock or time.monotonic
    return Lookups(directory, question, "call the directory", clock=timer, timeout=SHORT)


async def test_who_is_new_waits_for_a_time(directory: Directory) -> None:
    groups = lookups(directory)
    directory.answers.clear()
    begin = time.monotonic()
    with pytest.raises(NoAnswerError) as error:
        await groups.learn("bob")
    assert SHORT / 2 < time.monotonic() - begin < 10 * SHORT
    said = "user bob: groups: no answer within 0.2 s; try again, or call the directory"
    assert str(error.value) == said
    assert groups.known("bob") is None
    # The next caller does not wait again, and the lookup is the same.
    begin = time.monotonic()
    for _ in range(100):
        with pytest.raises(NoAnswerError):
            await groups.learn("bob")
    assert time.monotonic() - begin < SHORT
    assert directory.asked == ["bob"]
    directory.answers.set()
    while groups.known("bob") is None:
        await asyncio.sleep(0.001)
    assert await groups.learn("bob") == {"operators"}


async def test_who_is_known_is_not_held_up(directory: Directory) -> None:
    clock = Clock()
    groups = lookups(directory, clock)
    assert await groups.learn("alice") == {"operators"}
    directory.answers.clear()
    clock.now = 60.0
    begin = time.monotonic()
    assert await groups.learn("alice") == {"operators"}
    clock.now = 61.0
    for answer in await asyncio.gather(*(groups.learn("alice") for _ in range(100))):
        assert answer == {"operators"}
    assert time.monotonic() - begin < 1
    assert len(directory.asked) == 2


async def test_those_who_hang_hold_up_no_other(directory: Directory) -> None:
    groups = lookups(directory)
    directory.lost = {f"lost{n}" for n in range(8)}
    lost = [asyncio.create_task(groups.learn(user)) for user in sorted(directory.lost)]
    assert await groups.learn("alice") == {"operators"}
    for task in lost:
        with pytest.raises(NoAnswerError):
            await task


async def test_the_number_of_threads_is_bounded(directory: Directory) -> None:
    clock = Clock()
    groups = lookups(directory, clock)
    await groups.learn("alice")
    directory.lost = {f"lost{n}" for n in range(100)}
    before = threading.active_count()
    asked = [groups.learn(user) for user in directory.lost]
    for outcome in await asyncio.gather(*asked, return_exceptions=True):
        assert isinstance(outcome, NoAnswerError)
    assert threading.active_count() - before <= 16
    # Nobody new is let in without an answer; who is known still is.
    with pytest.raises(NoAnswerError):
        await groups.learn("bob")
    clock.now = 2.0
    assert await groups.learn("alice") == {"operators"}


def test_asked_for_what_is_now_an_older_answer_does_not_do(directory: Directory) -> None:
    clock = Clock()
    groups = lookups(directory, clock)
    assert groups.ask("alice") == {"operators"}
    directory.answers.clear()
    assert groups.ask("alice") == {"operators"}
    clock.now = 2.0
    with pytest.raises(NoAnswerError):
        groups.ask("alice")


async def test_who_left_a_group_is_out_of_it_at_the_next_request(directory: Directory) -> None:
    clock = Clock()
    groups = lookups(directory, clock)
    await groups.learn("alice")
    directory.groups = frozenset()
    clock.now = 2.0
    assert await groups.learn("alice") == frozenset()
    assert groups.known("alice") == frozenset()


async def test_a_failure_is_no_answer(directory: Directory) -> None:
    clock = Clock()
    groups = lookups(directory, clock)
    await groups.learn("alice")
    clock.now, directory.failure = 2.0, OSError("too many open files")
    assert await groups.learn("alice") == {"operators"}
    with pytest.raises(NoAnswerError, match="user bob: groups: too many open files; try again"):
        await groups.learn("bob")
    directory.failure = None
    assert await groups.learn("bob") == {"operators"}


async def test_who_stops_waiting_cancels_it_for_nobody(directory: Directory) -> None:
    groups = lookups(directory)
    directory.answers.clear()
    leaves, stays = (asyncio.create_task(groups.learn("bob")) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    directory.answers.set()
    assert await stays == {"operators"}


def test_a_process_ends_though_a_lookup_hangs() -> None:
    program = (
        "import threading\n"
        "from srv6mgrd.lookups import Lookups, NoAnswerError\n"
        "hangs = Lookups(lambda _: threading.Event().wait(), str, 'wait', timeout=0.05)\n"
        "try:\n"
        "    hangs.ask('bob')\n"
        "except NoAnswerError:\n"
        "    print('no answer')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=20, check=True, capture_output=True, text=True
    )
    assert done.stdout == "no answer\n"
