"""RPCs through sysrepo, as NETCONF sends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import pytest
import sysrepo

from srv6mgrd.datastore.clock import CommitClock
from srv6mgrd.datastore.connection import Connection, PendingError
from srv6mgrd.datastore.history import History, Origin
from srv6mgrd.datastore.rpc import RpcSubscription
from srv6mgrd.datastore.running import MODULE, TREE, Running, read
from srv6mgrd.datastore.subscription import ConfigSubscription
from srv6mgrd.datastore.transaction import Edit, Op, commit
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.news import News
from srv6mgrd.plan.actions import Action, Create
from srv6mgrd.plan.objects import SidRoute

SID = SidRoute(IPv6Network("fcbb:0:1:64::/64"), Behavior.END, 8986)
LONG = "a-name-of-18-chars"
LOCATORS = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "m", "prefix": "fc00::/48"}]}}}
OTHERS = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "n", "prefix": "fc01::/48"}]}}}


class Manager:
    def __init__(self) -> None:
        self.trees: list[Mapping[str, Any]] = []
        self.cleared: list[str | None] = []
        self.refusal: Refusal | None = None

    def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        self.trees.append(tree)
        if self.refusal is not None:
            raise RefusedError([self.refusal])
        return [Create(SID)]

    def reconcile(self) -> list[Action]:
        return []

    def clear_counters(self, sid: str | None = None) -> None:
        self.cleared.append(sid)

    def change(self, tree: Mapping[str, Any]) -> int:
        return 1

    def stored(self) -> None: ...

    def aborted(self) -> None: ...


class Door:
    """Sends RPCs from a thread, as another process would."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def send(self, name: str, given: dict[str, Any]) -> Any:
        path = f"/srv6mgr-operations:{name}"
        try:
            return await asyncio.to_thread(self._session.rpc_send, path, given)
        except sysrepo.SysrepoInternalError as error:
            # What the binding makes of an answer without output.
            if "returned NULL" in str(error):
                return None
            raise


class Silent:
    """Nobody is told."""

    def show(self, member: str, data: Mapping[str, Any]) -> None: ...

    def put(self, news: Iterable[News]) -> None: ...


class World:
    """RPCs, commits and the clock between them, in one event loop, as in srv6mgrd."""

    def __init__(self) -> None:
        self.manager = Manager()
        self.running, self.history = Running(), History(None)
        self.clock = CommitClock(self.history, self.manager, self.running, Silent(), Silent())
        self._subscription, self._rpcs = ConfigSubscription(), RpcSubscription()
        self._subscription.start(self.clock.change, self.clock.stored, self.clock.aborted)
        self.clock.start(self._subscription.text())
        self._rpcs.start(self.manager, self.clock)
        self._connection = Connection(originator="test")
        self.door = Door(self._connection.session())
        self.startup = self._connection.session("startup")

    async def edit(self, tree: Mapping[str, Any], *data: str) -> None:
        """What another door does."""

        def replace() -> None:
            with self._connection.session_of("door", *data) as session:
                commit(session, (MODULE,), [Edit(Op.REPLACE, TREE, json.dumps(tree).encode())])

        await asyncio.to_thread(replace)

    async def read(self) -> Any:
        return json.loads(await asyncio.to_thread(self.running.read))

    async def close(self) -> None:
        await self.clock.close()
        self._connection.close()
        self._rpcs.close()
        self._subscription.close()
        self.running.close()


@pytest.fixture
async def world(place: Path) -> AsyncIterator[World]:
    made = World()
    yield made
    await asyncio.to_thread(made.running.replace, "{}", Origin("test"))
    await made.close()


@pytest.fixture
async def door(world: World) -> tuple[Door, Manager]:
    return world.door, world.manager


async def test_plan_gives_operations_as_commands(door: tuple[Door, Manager]) -> None:
    ask, manager = door
    told = await ask.send("plan", {"configuration": json.dumps(LOCATORS)})
    (operation,) = told["operation"]
    assert (operation["number"], operation["verb"]) == (1, "create")
    assert operation["object"] == SID.key
    assert operation["command"].startswith("ip -6 route add fcbb:0:1:64::/64")
    assert manager.trees == [LOCATORS]


async def test_what_yang_or_srv6mgrd_refuses_is_told(door: tuple[Door, Manager]) -> None:
    ask, manager = door
    for text in ("{", '{"srv6mgr-srv6:srv6":{"nonsense":1}}'):
        with pytest.raises(sysrepo.SysrepoError):
            await ask.send("plan", {"configuration": text})
    names = [{"name": name, "table-id": n} for n, name in enumerate(["red", LONG], 1)]
    text = json.dumps({"srv6mgr-srv6:srv6": {"vrfs": {"vrf": names}}})
    with pytest.raises(sysrepo.SysrepoError, match=f"VRF {LONG}: a VRF name is .*; shorten it"):
        await ask.send("plan", {"configuration": text})
    assert not manager.trees
    manager.refusal = Refusal("SID x", "it is bad", "make it good", "bad")
    with pytest.raises(sysrepo.SysrepoError, match="SID x: it is bad; make it good"):
        await ask.send("plan", {"configuration": json.dumps(LOCATORS)})


async def test_reconcile_and_clear(door: tuple[Door, Manager]) -> None:
    ask, manager = door
    assert not await ask.send("reconcile", {})
    await ask.send("clear-counters", {})
    assert manager.cleared == [None]


async def test_a_commit_of_a_whole_configuration_is_confirmed_or_cancelled(world: World) -> None:
    given = {"configuration": json.dumps(LOCATORS), "id": "one", "timeout": 60}
    await world.door.send("commit", given)
    assert await world.read() == LOCATORS
    await world.door.send("confirm", {"id": "one"})
    given = {"configuration": json.dumps(OTHERS), "id": "two", "timeout": 60}
    await world.door.send("commit", given)
    assert await world.read() == OTHERS
    with pytest.raises(sysrepo.SysrepoError, match="commit x: no such commit awaits confirmation"):
        await world.door.send("cancel", {"id": "x"})
    await world.door.send("cancel", {"id": "two"})
    assert await world.read() == LOCATORS


async def test_edits_of_a_commit_name_it_and_others_are_refused(world: World) -> None:
    await world.door.send("commit", {"id": "one", "timeout": 60})
    with pytest.raises(PendingError, match="commit one: it came through rpc and awaits"):
        await world.edit(LOCATORS, "alice")
    await world.edit(LOCATORS, "alice", "one")
    newest = world.history.transactions()[0]
    assert newest.origin == Origin("door", "alice", "one")
    assert newest.status.value == "awaiting-confirmation"
    await world.door.send("cancel", {"id": "one"})
    assert await world.read() == {}


async def test_it_is_undone_when_the_time_is_over(world: World) -> None:
    given = {"configuration": json.dumps(LOCATORS), "id": "one", "timeout": 1}
    await world.door.send("commit", given)
    async with asyncio.timeout(20):
        while world.history.pending is not None:
            await asyncio.sleep(0.02)
    assert await world.read() == {}


async def test_history_is_compared_and_rolled_back_to(world: World) -> None:
    await world.edit(LOCATORS)
    await world.edit(OTHERS)
    number = world.history.transactions()[1].id
    told = await world.door.send("compare", {"transaction": number})
    path = "/srv6mgr-srv6:srv6/locators/locator[name='{}']/{}"
    changes = {(c["path"], c.get("before"), c.get("after")) for c in told["change"]}
    assert (path.format("m", "prefix"), "fc00::/48", None) in changes
    assert (path.format("n", "prefix"), None, "fc01::/48") in changes
    await world.door.send("rollback", {"transaction": number})
    assert await world.read() == LOCATORS
    assert not await world.door.send("compare", {"transaction": number})
    with pytest.raises(sysrepo.SysrepoError, match="transaction 99: its configuration"):
        await world.door.send("rollback", {"transaction": 99})


async def test_what_is_committed_is_the_startup_configuration(world: World) -> None:
    await world.edit(LOCATORS)

    async with asyncio.timeout(10):
        while "fc00::/48" not in await asyncio.to_thread(read, world.startup):
            await asyncio.sleep(0.02)
