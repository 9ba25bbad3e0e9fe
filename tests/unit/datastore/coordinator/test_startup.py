"""The running configuration is saved for the next start."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.datastore.connection import DatastoreError
from tests.unit.datastore.coordinator.world import ALICE, BOB, A, B, C, World


async def test_a_startup_configuration_that_can_t_be_saved_is_no_failure(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full() -> None:
        raise DatastoreError("no space left")

    monkeypatch.setattr(world.running, "save", full)
    world.running.commit(B, BOB)
    await wait_until_async(lambda: "no space left" in caplog.text)
    world.running.commit(C, BOB)


async def test_closing_waits_for_what_still_asks_the_datastore(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, done = threading.Event(), threading.Event()

    def slow() -> None:
        goes_on.wait(10)
        done.set()

    monkeypatch.setattr(world.running, "save", slow)
    world.running.commit(B, BOB)
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    await world.coordinator.close()
    assert done.is_set()


async def test_a_startup_configuration_is_saved_as_soon_as_it_can_be(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def full() -> None:
        tries.append(1)
        raise DatastoreError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(world.running, "save", full)
        world.running.commit(B, BOB)
        await wait_until_async(lambda: len(tries) > 1)
        assert "no space left" in world.problems.listed()["startup configuration"][0]
    await wait_until_async(lambda: world.running.saved == [B])
    await wait_until_async(lambda: not world.problems.listed())


async def test_what_was_committed_last_is_saved_before_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, goes_on = threading.Event(), threading.Event()

    def slow() -> None:
        tree = world.running.tree
        began.set()
        goes_on.wait(10)
        world.running.saved.append(tree)

    monkeypatch.setattr(world.running, "save", slow)
    world.running.commit(B, BOB)
    await asyncio.to_thread(began.wait, 10)
    world.running.commit(C, BOB)
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    await world.coordinator.close()
    assert world.running.saved == [B, C]


async def test_what_a_killed_process_had_not_saved_is_saved_by_the_next(world: World) -> None:
    world.running.commit(B, BOB)
    await wait_until_async(lambda: world.running.saved == [B])
    await world.kill()
    world.running.startup = A
    world.start()
    await wait_until_async(lambda: world.running.saved == [B, B])
    await world.kill()
    world.start()
    await world.coordinator.close()
    assert world.running.saved == [B, B]


async def test_what_awaits_confirmation_is_not_saved_by_a_start(world: World) -> None:
    await world.coordinator.begin(ALICE, 600, B)
    await world.kill()
    world.start()
    await world.coordinator.close()
    assert not world.running.saved


async def test_a_startup_configuration_that_can_t_be_saved_does_not_delay_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("srv6mgrd.datastore.startup.RETRY_FIRST", 60.0)

    def full() -> None:
        raise DatastoreError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(world.running, "save", full)
        world.running.commit(B, BOB)
        await wait_until_async(world.problems.listed)
        await asyncio.wait_for(world.coordinator.close(), 10)
