"""Work of many clients side by side."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lab.waiting import wait_until
from srv6mgrd.gnmi.budget import Budget, ClientLeftError, DeadlineError
from srv6mgrd.gnmi.turns import Turns, rest
from srv6mgrd.gnmi.workers import Caller, Workers


async def test_work_ends_when_its_client_leaves() -> None:
    workers = Workers(2)
    caller, begun, ended = Caller(client="a"), threading.Event(), threading.Event()

    def endless() -> None:
        begun.set()
        try:
            while True:
                caller.budget.spend(0)
                caller.budget.check()
        except ClientLeftError:
            ended.set()
            raise

    task = asyncio.create_task(workers.run(caller, endless))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 5)


async def test_work_that_takes_too_long_is_ended() -> None:
    workers = Workers(2)
    caller = Caller(client="a", budget=Budget("get", seconds=0.05))

    def endless() -> None:
        while True:
            caller.budget.spend(1)

    with pytest.raises(DeadlineError, match="get: its time is over"):
        await workers.run(caller, endless)


async def test_a_short_piece_of_work_does_not_wait_for_long_ones() -> None:
    """It comes next, whatever number of long ones wait: each of those has had more."""
    workers = Workers(20)
    longs = [
        Caller(client="all", connection=f"long{n}", budget=Budget(steps=10**9)) for n in range(10)
    ]

    def endless(caller: Caller) -> None:
        caller.budget.spend(1)
        while True:
            caller.budget.spend(1)

    tasks = [asyncio.create_task(workers.run(c, endless, c)) for c in longs]
    for _ in range(20):
        await workers.run(Caller(client="all", connection="short"), sum, (1, 2))
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_turns_go_to_who_had_least() -> None:
    """By a clock that stops but for the one who has computed."""
    now = 0.0
    turns = Turns(lambda: now)
    order: list[str] = []
    first = threading.Event()

    def work(client: str, slices: int) -> None:
        nonlocal now
        budget = Budget(steps=10**9, clock=lambda: 0.0)
        with turns.turn(client, client, budget):
            first.wait()
            for _ in range(slices):
                order.append(client)
                now += 1
                budget.spend(3000)

    threads = [threading.Thread(target=work, args=given) for given in (("a", 6), ("b", 2))]
    for thread in threads:
        thread.start()
        wait_until(lambda: turns._current and (thread is threads[0] or turns._waiting))  # noqa: B023
    first.set()
    for thread in threads:
        thread.join(5)
    assert order == ["a", "b", "a", "b", "a", "a", "a", "a"]


def test_who_asks_for_much_computes_a_part_of_the_time_beside_others() -> None:
    now = 0.0
    turns = Turns(lambda: now)
    for n in range(4):  # four requests at a time for two seconds each
        turns._asked.note("many", 2.0, now)
        turns._asked.note("few", 2.0 if n == 0 else 0.0, now)

    def budget() -> Budget:
        return Budget(steps=10**9, clock=lambda: 0.0)

    with turns.turn("few", "few", budget()):
        pass
    with turns.turn("many", "many", budget()):
        now += 0.1
    # The others may come again: it waits for nine times what it had.
    ended = threading.Event()

    def again() -> None:
        with turns.turn("many", "many", budget()):
            ended.set()

    thread = threading.Thread(target=again)
    thread.start()
    assert not ended.wait(0.3)
    with turns.turn("few", "few", budget()):
        assert not ended.is_set()
    now += 0.95
    assert ended.wait(5)
    thread.join(5)


def test_who_asks_for_much_has_all_of_the_time_where_nobody_else_comes() -> None:
    now = 0.0
    turns = Turns(lambda: now)
    turns._asked.note("many", 9.0, now)
    for _ in range(3):
        with turns.turn("many", "many", Budget(steps=10**9, clock=lambda: 0.0)):
            now += 0.1


def test_one_request_at_a_time_is_not_much() -> None:
    now = 0.0
    turns = Turns(lambda: now)
    for _ in range(20):
        with turns.turn("one", "one", Budget(steps=10**9, clock=lambda: 0.0)):
            now += 1.0
    assert not turns._asked.is_much("one", now)


async def test_who_computes_rests() -> None:
    """Without a look at a budget."""
    workers, begun, end = Workers(2), threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        while not end.is_set():
            rest()

    task = asyncio.create_task(workers.run(Caller(client="a", connection="a"), long))
    await asyncio.to_thread(begun.wait)
    assert await workers.run(Caller(client="b", connection="b"), sum, (1, 2)) == 3
    end.set()
    await task
