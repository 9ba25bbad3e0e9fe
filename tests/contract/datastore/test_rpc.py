"""RPCs through sysrepo, as NETCONF sends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sysrepo

from lab.waiting import wait_until, wait_until_async
from srv6mgrd.datastore.connection import PendingError
from srv6mgrd.datastore.history import Origin
from srv6mgrd.datastore.running import read
from srv6mgrd.model.rejection import Rejection
from tests.contract.datastore.coordinator_world import SID, Client, Manager, World

LONG = "a-name-of-18-chars"
LOCATORS = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "m", "prefix": "fc00::/48"}]}}}
OTHERS = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "n", "prefix": "fc01::/48"}]}}}


@pytest.fixture
async def world(place: Path) -> AsyncIterator[World]:
    made = World()
    yield made
    await asyncio.to_thread(made.running.replace, "{}", Origin("test"))
    await made.close()


@pytest.fixture
async def client(world: World) -> tuple[Client, Manager]:
    return world.client, world.manager


async def test_plan_gives_operations_as_commands(client: tuple[Client, Manager]) -> None:
    ask, manager = client
    reported = await ask.send("plan", {"configuration": json.dumps(LOCATORS)})
    (operation,) = reported["operation"]
    assert (operation["number"], operation["verb"]) == (1, "create")
    assert operation["object"] == SID.key
    assert operation["command"].startswith("ip -6 route add fcbb:0:1:64::/64")
    assert manager.trees == [LOCATORS]


async def test_what_yang_or_srv6mgrd_rejects_is_reported(client: tuple[Client, Manager]) -> None:
    ask, manager = client
    for text in ("{", '{"srv6mgr-srv6:srv6":{"nonsense":1}}'):
        with pytest.raises(sysrepo.SysrepoError):
            await ask.send("plan", {"configuration": text})
    names = [{"name": name, "table-id": n} for n, name in enumerate(["red", LONG], 1)]
    text = json.dumps({"srv6mgr-srv6:srv6": {"vrfs": {"vrf": names}}})
    with pytest.raises(sysrepo.SysrepoError, match=f"VRF {LONG}: a VRF name is .*; shorten it"):
        await ask.send("plan", {"configuration": text})
    assert not manager.trees
    manager.rejection = Rejection("SID x", "it is bad", "make it good", "bad")
    with pytest.raises(sysrepo.SysrepoError, match="SID x: it is bad; make it good"):
        await ask.send("plan", {"configuration": json.dumps(LOCATORS)})


async def test_reconcile_and_clear(client: tuple[Client, Manager]) -> None:
    ask, manager = client
    assert not await ask.send("reconcile", {})
    await ask.send("clear-counters", {})
    assert manager.cleared == [None]


async def test_a_commit_of_a_whole_configuration_is_confirmed_or_cancelled(world: World) -> None:
    given = {"configuration": json.dumps(LOCATORS), "id": "one", "timeout": 60}
    await world.client.send("commit", given)
    assert await world.read() == LOCATORS
    await world.client.send("check-commit", {"id": "one"})
    with pytest.raises(sysrepo.SysrepoError, match="that awaits"):
        await world.client.send("check-commit", {"id": "x"})
    await world.client.send("confirm", {"id": "one"})
    with pytest.raises(sysrepo.SysrepoNotFoundError):
        await world.client.send("check-commit", {"id": "one"})
    given = {"configuration": json.dumps(OTHERS), "id": "two", "timeout": 60}
    await world.client.send("commit", given)
    assert await world.read() == OTHERS
    await world.client.send("extend", {"id": "two", "timeout": 600})
    assert world.history.pending is not None
    assert world.history.pending.timeout == 600
    with pytest.raises(sysrepo.SysrepoLockedError):
        await world.client.send("commit", given)
    with pytest.raises(sysrepo.SysrepoError, match=r"commit: it is commit [0-9a-f]{8} that awaits"):
        await world.client.send("cancel", {"id": "x"})
    await world.client.send("cancel", {"id": "two"})
    assert await world.read() == LOCATORS
    with pytest.raises(sysrepo.SysrepoNotFoundError):
        await world.client.send("confirm", {"id": "two"})


async def test_edits_of_a_commit_name_it_and_others_are_rejected(world: World) -> None:
    await world.client.send("commit", {"id": "one", "commit-id": "one", "timeout": 60})
    with pytest.raises(PendingError, match="commit one: it came through rpc and awaits"):
        await world.edit(LOCATORS, "alice")
    await world.edit(LOCATORS, "alice", "one")
    newest = world.history.transactions()[0]
    assert newest.origin == Origin("door", "alice")
    assert newest.status.value == "awaiting-confirmation"
    await world.client.send("cancel", {"id": "one"})
    assert await world.read() == {}


async def test_it_is_undone_when_the_time_is_over(world: World) -> None:
    given = {"configuration": json.dumps(LOCATORS), "id": "one", "timeout": 1}
    await world.client.send("commit", given)
    await wait_until_async(lambda: world.history.pending is None)
    assert await world.read() == {}


async def test_history_is_compared_and_rolled_back_to(world: World) -> None:
    await world.edit(LOCATORS)
    await world.edit(OTHERS)
    number = world.history.transactions()[1].id
    reported = await world.client.send("compare", {"transaction": number})
    path = "/srv6mgr-srv6:srv6/locators/locator[name='{}']/{}"
    changes = {(c["path"], c.get("before"), c.get("after")) for c in reported["change"]}
    assert (path.format("m", "prefix"), "fc00::/48", None) in changes
    assert (path.format("n", "prefix"), None, "fc01::/48") in changes
    await world.client.send("rollback", {"transaction": number})
    assert await world.read() == LOCATORS
    assert not await world.client.send("compare", {"transaction": number})
    with pytest.raises(sysrepo.SysrepoError, match="transaction 99: its configuration"):
        await world.client.send("rollback", {"transaction": 99})


async def test_a_rollback_names_who_and_may_await_confirmation(world: World) -> None:
    await world.edit(LOCATORS)
    await world.edit(OTHERS)
    given = {"transaction": world.history.transactions()[1].id, "user": "alice"}
    which = {"id": "back", "commit-id": "return"}
    await world.client.send("rollback", {**given, **which, "timeout": 60})
    assert await world.read() == LOCATORS
    newest = world.history.transactions()[0]
    assert newest.origin == Origin("rpc", "alice")
    assert newest.status.value == "awaiting-confirmation"
    assert newest.commit_id == "return"
    await world.client.send("cancel", {"commit-id": "return"})
    assert await world.read() == OTHERS
    await world.client.send("rollback", given)
    assert world.history.transactions()[0].origin == Origin("rpc", "alice")


async def test_what_is_committed_is_the_startup_configuration(world: World) -> None:
    await world.edit(LOCATORS)

    await asyncio.to_thread(wait_until, lambda: "fc00::/48" in read(world.startup))
