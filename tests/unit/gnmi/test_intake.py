"""How many requests are taken in at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from grpc import StatusCode

from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.intake import Intake

LARGE = bytes(2 << 20)


class Client:
    """One that sends when the test says so."""

    def __init__(self, name: str, message: bytes = b"x", connection: str = "") -> None:
        self.name, self.message, self.connection = name, message, connection
        self.asked, self.sends, self.done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def read(self) -> Any:
        self.asked.set()
        await self.sends.wait()
        return self.message

    async def request(self, intake: Intake) -> None:
        async with intake.request(self.read, (self.name, self.connection), "set"):
            await self.done.wait()


async def test_large_requests_keep_their_place_and_small_ones_do_not() -> None:
    intake = Intake(1 << 30, prompt=1, slow=0)
    large, small, last = Client("a", LARGE), Client("b"), Client("c")
    async with asyncio.TaskGroup() as tasks:
        for client in (large, small, last):
            client.sends.set()
            tasks.create_task(client.request(intake))
        await large.asked.wait()
        await asyncio.sleep(0)
        assert not small.asked.is_set()
        large.done.set()
        await last.asked.wait()
        assert not small.done.is_set()
        small.done.set()
        last.done.set()


async def test_places_go_round_the_connections() -> None:
    intake = Intake(1 << 30, prompt=1, slow=0)
    many = [Client("many", LARGE) for _ in range(3)]
    one = Client("one", LARGE)
    order: list[str] = []
    async with asyncio.TaskGroup() as tasks:
        for client in (*many, one):
            client.sends.set()
            task = tasks.create_task(client.request(intake))
            task.add_done_callback(lambda _, name=client.name: order.append(name))  # type: ignore[misc]
            client.done.set()
    assert order == ["many", "many", "one", "many"]


async def test_one_that_does_not_send_holds_up_nobody() -> None:
    intake = Intake(1 << 30, prompt=1, slow=1, seconds=0.01)
    slow, late, other = Client("slow"), Client("late"), Client("other")
    other.sends.set()
    other.done.set()
    results = await asyncio.gather(
        *(client.request(intake) for client in (slow, late, other)), return_exceptions=True
    )
    for result in results[:2]:
        assert isinstance(result, RpcError)
        assert result.code is StatusCode.DEADLINE_EXCEEDED
    assert results[2] is None


async def test_one_client_leaves_a_place_to_others() -> None:
    intake = Intake(1 << 30, prompt=3, slow=0)
    silent = [Client("silent", connection=str(n)) for n in range(9)]
    other = Client("other")
    other.sends.set()
    other.done.set()
    tasks = [asyncio.create_task(client.request(intake)) for client in silent]
    await silent[1].asked.wait()
    await asyncio.wait_for(other.request(intake), 0.2)  # sooner than any of them gives up
    assert sum(client.asked.is_set() for client in silent) == 2
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_place_goes_to_who_may_have_it() -> None:
    intake = Intake(1 << 30, prompt=2, slow=0)
    first, same, other = Client("a", LARGE), Client("a", LARGE), Client("b", LARGE)
    for client in (first, same, other):
        client.sends.set()
    tasks = [asyncio.create_task(client.request(intake)) for client in (first, same, other)]
    await first.asked.wait()
    await other.asked.wait()
    assert not same.asked.is_set()
    other.done.set()
    await tasks[2]
    assert not same.asked.is_set()
    first.done.set()
    await asyncio.wait_for(same.asked.wait(), 1)
    same.done.set()
    await asyncio.gather(*tasks)


async def test_who_leaves_while_it_waits_takes_no_place() -> None:
    intake = Intake(1 << 30, prompt=1, slow=0)
    first, leaves, last = Client("a", LARGE), Client("b"), Client("c")
    tasks = [asyncio.create_task(client.request(intake)) for client in (first, leaves, last)]
    first.sends.set()
    await first.asked.wait()
    tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    last.sends.set()
    last.done.set()
    first.done.set()
    await asyncio.gather(tasks[0], tasks[2])
    assert not leaves.asked.is_set()


async def test_a_request_that_is_too_long_is_rejected() -> None:
    client = Client("a", LARGE)
    client.sends.set()
    with pytest.raises(RpcError, match="2097152 bytes, 1048576 are taken"):
        await client.request(Intake(1 << 20))
