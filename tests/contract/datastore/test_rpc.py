"""RPCs through sysrepo, as NETCONF sends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import pytest
import sysrepo

from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.rpc import RpcSubscription
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.plan.actions import Action, Create
from srv6mgrd.plan.objects import SidRoute

SID = SidRoute(IPv6Network("fcbb:0:1:64::/64"), Behavior.END, 8986)
LONG = "a-name-of-18-chars"
LOCATORS = {"srv6mgr-srv6:srv6": {"locators": {"locator": [{"name": "m", "prefix": "fc00::/48"}]}}}


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


@pytest.fixture
async def door(place: Path) -> AsyncIterator[tuple[Door, Manager]]:
    manager, rpcs, connection = Manager(), RpcSubscription(), Connection(originator="test")
    rpcs.start(manager)
    yield Door(connection.session()), manager
    connection.close()
    rpcs.close()


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


async def test_what_is_not_answered_yet_is_told(door: tuple[Door, Manager]) -> None:
    ask, _ = door
    with pytest.raises(sysrepo.SysrepoError) as told:
        await ask.send("rollback", {"transaction": 1})
    assert "subscri" in str(told.value) or "not" in str(told.value).lower()
