"""While the disk hangs the event loop goes on, and who waits for it is answered when it has what
was promised."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.database import Database
from srv6mgrd.datastore.history import History, Origin
from tests.unit.datastore.coordinator.world import ALICE, BOB, A, B, C, World


class Disk:
    """Writes begin, and end when they may."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._turns = threading.Event()
        self._turns.set()
        self.hanging = 0
        fsync, transaction = os.fsync, Database.transaction

        def slow_fsync(descriptor: int) -> None:
            self._wait()
            fsync(descriptor)

        @contextmanager
        def slow_transaction(database: Database) -> Iterator[object]:
            with transaction(database) as db:
                yield db
                self._wait()

        patch.setattr("srv6mgrd.datastore.pending.os.fsync", slow_fsync)
        patch.setattr(Database, "transaction", slow_transaction)

    def _wait(self) -> None:
        if not self._turns.is_set():
            self.hanging += 1
            assert self._turns.wait(10)
            self.hanging -= 1

    def hang(self) -> None:
        self._turns.clear()

    def go_on(self) -> None:
        self._turns.set()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
async def writer(world: World) -> AsyncIterator[ThreadPoolExecutor]:
    world.running.writer = ThreadPoolExecutor(1, "writer")
    yield world.running.writer
    world.running.writer.shutdown()


Call = Callable[[], Awaitable[object]]


async def hangs_with(disk: Disk, call: Call) -> None:
    """The loop goes on while the disk hangs, and ``call`` returns when it goes on."""
    disk.hang()
    called = asyncio.ensure_future(call())
    try:
        # The loop runs meanwhile, or this would see nothing.
        await wait_until_async(lambda: disk.hanging == 1)
        assert not called.done()
    finally:
        disk.go_on()
    await asyncio.wait_for(called, 10)


async def test_whatever_is_written_the_loop_goes_on(
    world: World, writer: ThreadPoolExecutor, disk: Disk
) -> None:
    loop = asyncio.get_running_loop()
    coordinator = world.coordinator
    await hangs_with(disk, lambda: loop.run_in_executor(writer, world.running.commit, C, BOB))
    await hangs_with(disk, lambda: coordinator.begin(ALICE, 60))
    await hangs_with(disk, lambda: coordinator.confirmation.extend("one", 60))
    await hangs_with(disk, lambda: loop.run_in_executor(writer, world.running.commit, B, ALICE))
    await hangs_with(disk, lambda: coordinator.confirmation.confirm("one"))
    await coordinator.begin(ALICE, 60, A)
    await hangs_with(disk, lambda: coordinator.confirmation.cancel("one"))
    assert world.running.tree == B


async def test_who_is_answered_finds_it_on_disk(
    world: World, writer: ThreadPoolExecutor, disk: Disk
) -> None:
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(writer, world.running.commit, C, BOB)
    await world.coordinator.begin(ALICE, 60, B)
    # As if srv6mgrd was killed now.
    there = History(world.file)
    assert [t.status.value for t in there.transactions()[:2]] == ["awaiting-confirmation", "done"]
    assert there.pending is not None
    assert there.pending.before == C
    there.close()
    await world.coordinator.confirmation.confirm("one")
    there = History(world.file)
    assert (there.pending, there.transactions()[0].status.value) == (None, "done")
    there.close()


async def test_its_time_does_not_run_out_while_a_confirmation_is_written(
    world: World, writer: ThreadPoolExecutor, disk: Disk
) -> None:
    await world.coordinator.begin(ALICE, 60, B)

    async def confirm() -> None:
        await world.coordinator.confirmation.confirm("one")

    disk.hang()
    confirming = asyncio.ensure_future(confirm())
    await wait_until_async(lambda: disk.hanging == 1)
    world.now += 61 * 1_000_000_000
    world.coordinator.confirmation._go_back()
    disk.go_on()
    await asyncio.wait_for(confirming, 10)
    assert world.running.tree == B
    assert world.statuses()[0] == "done"


async def test_two_confirmations_at_a_time(world: World, disk: Disk) -> None:
    await world.coordinator.begin(ALICE, 60, B)
    disk.hang()
    both = [asyncio.ensure_future(world.coordinator.confirmation.confirm("one")) for _ in range(2)]
    await wait_until_async(lambda: disk.hanging == 1)
    disk.go_on()
    first, second = await asyncio.gather(*both, return_exceptions=True)
    assert first is None
    assert "no commit awaits confirmation" in str(second)


async def test_an_edit_while_the_confirmation_is_written_does_not_bring_it_back(
    world: World, writer: ThreadPoolExecutor, disk: Disk
) -> None:
    await world.coordinator.begin(Origin("rpc", token="one"), 60)
    disk.hang()
    confirming = asyncio.ensure_future(world.coordinator.confirmation.confirm("one"))
    await wait_until_async(lambda: disk.hanging == 1)
    # The first that says whose the commit is.
    editing = asyncio.get_running_loop().run_in_executor(writer, world.running.commit, B, ALICE)
    await wait_until_async(lambda: len(world.statuses()) == 2)
    disk.go_on()
    await asyncio.wait_for(asyncio.gather(confirming, editing), 10)
    there = History(world.file)
    assert (there.pending, there.transactions()[0].status.value) == (None, "done")
    there.close()
