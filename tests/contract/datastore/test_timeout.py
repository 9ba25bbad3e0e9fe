"""A commit that takes longer than sysrepo waits for srv6mgrd."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.datastore import transaction
from srv6mgrd.datastore.connection import TimedOutError
from srv6mgrd.datastore.history import Origin
from tests.contract.datastore.coordinator_world import World

FIRST, SECOND, THIRD = (
    {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": name, "prefix": "fc00::/48"}]}}}
    for name in ("first", "second", "third")
)


@pytest.fixture
async def world(place: Path) -> AsyncIterator[World]:
    made = World()
    yield made
    await asyncio.to_thread(made.running.replace, "{}", Origin("test"))
    await made.close()


async def test_is_taken_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.edit(FIRST)
    manager, recorded = world.manager, len(world.history.transactions())
    manager.events.clear()
    go_on = threading.Event()

    def slow(_tree: Mapping[str, Any]) -> None:
        go_on.wait(30)

    manager.judge = slow
    with monkeypatch.context() as short:
        short.setattr(transaction, "TIMEOUT_MS", 500)
        with pytest.raises(TimedOutError, match="it took too long and is taken back"):
            await world.edit(SECOND)
    # It is still carried out.
    assert manager.events == []
    assert await world.read() == FIRST
    manager.judge = lambda _: None
    go_on.set()
    await wait_until_async(lambda: manager.events == ["changed", "aborted"], "the end of it")
    assert len(world.history.transactions()) == recorded

    await world.edit(THIRD)

    assert manager.events[2:] == ["changed", "stored"]
    assert await world.read() == THIRD
