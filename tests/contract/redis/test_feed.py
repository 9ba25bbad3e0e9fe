"""Feeding a stock orchagent: in order, once, and around its defects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.redis.feed import OrchagentFeed
from srv6mgrd.redis.outward import BesideSonic
from srv6mgrd.redis.rows import MY_SID, SID_LIST
from srv6mgrd.redis.schema import Fields, RowKey
from srv6mgrd.redis.wire import Settings
from tests.contract.redis.conftest import Server
from tests.contract.redis.stock import StockOrch
from tests.contract.redis.test_publish import A, B, declared

pytestmark = pytest.mark.contract

KEY, OTHER = "32:16:16:0:fc00:0:1:a::", "32:16:16:0:fc00:0:1:b::"
DT46 = {"action": "end.dt46", "vrf": "Vrf1"}


def sid(key: str, **fields: str) -> tuple[RowKey, Fields]:
    return RowKey("APPL_DB", f"{MY_SID.prefix}{key}"), fields


def listed(name: str, path: str, type_: str = "encaps") -> tuple[RowKey, Fields]:
    return SID_LIST.row(name, path=path, type=type_)


def route(key: str, segments: str) -> tuple[RowKey, Fields]:
    return RowKey("APPL_DB", f"ROUTE_TABLE:{key}"), {"segment": segments, "seg_src": "fc00:0:2::1"}


class World:
    def __init__(self, server: Server, settings: Settings) -> None:
        self.server, self.settings = server, settings
        self.stock = StockOrch(server.client("APPL_DB"), server.client("STATE_DB"))
        self.feed = OrchagentFeed(settings)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.feed.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled(), task.exception()

    async def want(self, *rows: tuple[RowKey, Fields]) -> None:
        self.feed.want(dict(rows))
        await self.settle()

    async def settle(self) -> None:
        """orchagent takes what comes until nothing comes any more."""

        def is_idle() -> bool:
            if not self.feed._idle.is_set():
                self.stock.drain()
            return self.feed._idle.is_set()

        await wait_until_async(is_idle)

    def in_step(self) -> None:
        """References are as many as SIDs use the VRF."""
        for vrf, count in self.stock.references.items():
            assert count == sum(s.get("vrf") == vrf for s in self.stock.sids.values())


@pytest.fixture
async def world(server: Server, settings: Settings) -> AsyncIterator[World]:
    world = World(server, settings)
    async with world.running():
        yield world
    world.in_step()


async def test_a_sid_waits_for_its_vrf(world: World) -> None:
    await world.want(sid(KEY, **DT46))
    assert world.stock.log == []
    assert world.feed.unfinished == (
        f"{MY_SID.prefix}{KEY} waits for its segment lists, or VRF Vrf1",
    )
    world.stock.add_vrf("Vrf1")
    await wait_until_async(lambda: world.stock.drain() or world.stock.sids)
    assert world.stock.sids == {KEY: DT46}


async def test_an_unchanged_sid_is_never_set_again(world: World) -> None:
    world.stock.add_vrf("Vrf1")
    await world.want(sid(KEY, **DT46))
    for _ in range(3):
        await world.want(sid(KEY, **DT46), sid(OTHER, action="un"))
    assert world.stock.log == [("set", KEY), ("set", OTHER)]
    await world.want()
    assert world.stock.sids == {}
    assert world.stock.remove_vrf("Vrf1")
    assert not world.server.client("APPL_DB").keys("*")


@pytest.mark.parametrize(
    "changed", [{"action": "end"}, {"action": "end.dt4", "vrf": "Vrf1"}, {**DT46, "vrf": "Vrf2"}]
)
async def test_another_action_is_another_sid(world: World, changed: dict[str, str]) -> None:
    world.stock.add_vrf("Vrf1")
    world.stock.add_vrf("Vrf2")
    await world.want(sid(KEY, **DT46))
    await world.want(sid(KEY, **changed))
    assert world.stock.sids == {KEY: changed}
    assert world.stock.log == [("set", KEY), ("del", KEY), ("set", KEY)]


async def test_changes_while_orchagent_is_slow(world: World) -> None:
    """It takes nothing for a while: nothing collapses, and the last wish counts."""
    world.stock.add_vrf("Vrf1")
    for fields in (DT46, {"action": "end"}, {"action": "un"}, DT46, {"action": "un"}):
        world.feed.want(dict([sid(KEY, **fields)]))
        await asyncio.sleep(0)
    await world.want(sid(KEY, action="un"))
    assert world.stock.sids == {KEY: {"action": "un"}}


async def test_segment_lists_come_first_and_go_last(world: World) -> None:
    await world.want(sid(KEY, action="un"), listed("path", "fc00::1"))
    assert world.stock.log == [("set", "path"), ("set", KEY)]
    await world.want(sid(KEY, action="un"), listed("path", "fc00::2"))
    assert world.stock.lists == {"path": "fc00::2"}
    assert world.stock.log[2:] == [("set", "path")]
    # Its type is heeded only when it is new.
    await world.want(sid(KEY, action="un"), listed("path", "fc00::2", "encaps.red"))
    assert world.stock.log[3:] == [("del", "path"), ("set", "path")]
    await world.want()
    assert world.stock.log[5:] == [("del", KEY), ("del", "path")]


async def test_steered_routes(world: World) -> None:
    steered = route("Vrf1:10.9.0.0/16", "path")
    await world.want(steered, listed("path", "fc00::1"))
    assert world.stock.log == [("set", "path")]
    world.stock.add_vrf("Vrf1")
    await world.want(steered, route("2001:db8::/32", "path"), listed("path", "fc00::1"))
    assert world.stock.routes.keys() == {"Vrf1:10.9.0.0/16", "2001:db8::/32"}
    # Another list in place; the one that nothing uses any more goes.
    await world.want(
        route("Vrf1:10.9.0.0/16", "other"),
        route("2001:db8::/32", "other"),
        listed("other", "fc00::2"),
    )
    assert {r["segment"] for r in world.stock.routes.values()} == {"other"}
    assert world.stock.lists == {"other": "fc00::2"}
    # A list that gets another type is made again, and so are its routes.
    before = len(world.stock.log)
    await world.want(route("2001:db8::/32", "other"), listed("other", "fc00::2", "encaps.red"))
    gone, anew = world.stock.log[before : before + 2], world.stock.log[before + 2 :]
    assert sorted(gone) == [("del", "2001:db8::/32"), ("del", "Vrf1:10.9.0.0/16")]
    assert anew == [("del", "other"), ("set", "other"), ("set", "2001:db8::/32")]
    await world.want()
    assert not world.stock.routes
    assert not world.stock.lists


async def test_routes_of_fpmsyncd_are_left_alone(world: World) -> None:
    appl = world.server.client("APPL_DB")
    theirs = {"nexthop": "2001:db8::1", "ifname": "Ethernet0"}
    appl.hset("ROUTE_TABLE:2001:db8::/32", mapping=theirs)
    await world.want(route("2001:db8::/32", "path"), listed("path", "fc00::1"))
    assert world.feed.unfinished == ("ROUTE_TABLE:2001:db8::/32 is another writer's",)
    await world.want()
    assert appl.hgetall("ROUTE_TABLE:2001:db8::/32") == theirs


async def test_rows_of_fpmsyncd_are_left_alone(world: World) -> None:
    appl = world.server.client("APPL_DB")
    appl.hset(f"{MY_SID.prefix}{KEY}", mapping={"action": "un"})
    await world.want(sid(KEY, action="end"), sid(OTHER, action="end"))
    assert world.stock.log == [("set", OTHER)]
    assert world.feed.unfinished == (f"{MY_SID.prefix}{KEY} is another writer's",)
    await world.want()
    assert appl.hgetall(f"{MY_SID.prefix}{KEY}") == {"action": "un"}


async def test_a_restart_feeds_nothing_again(world: World, settings: Settings) -> None:
    world.stock.add_vrf("Vrf1")
    await world.want(sid(KEY, **DT46), sid(OTHER, action="un"))
    before = list(world.stock.log)
    again = World(world.server, settings)
    again.stock = world.stock
    async with again.running():
        await again.want(sid(KEY, **DT46))
    assert world.stock.log[len(before) :] == [("del", OTHER)]


async def test_lost_connections(world: World) -> None:
    world.stock.add_vrf("Vrf1")
    await world.want(sid(KEY, **DT46))
    world.server.client("APPL_DB").client_kill_filter(_type="normal", skipme=True)
    await world.want(sid(KEY, **DT46), sid(OTHER, **DT46))
    assert world.stock.log == [("set", KEY), ("set", OTHER)]


async def test_sonics_own_tables_are_left_to_it(server: Server, settings: Settings) -> None:
    stock = StockOrch(server.client("APPL_DB"), server.client("STATE_DB"))
    stock.add_vrf("Vrf1")
    beside = BesideSonic(settings)
    task = asyncio.create_task(beside.run())
    try:
        beside.publish(*declared(A, B))
        await wait_until_async(lambda: stock.drain() or len(stock.sids) == 2)
        await beside.publisher.settled()
        keys = {k for db in ("APPL_DB", "STATE_DB") for k in server.client(db).keys("*")}
        assert not [k for k in keys if k.startswith("VRF_TABLE")]
        assert "SRV6MGR_SID|fc00:0:1:a::/64" in keys
        assert not server.client("COUNTERS_DB").keys("*")
        beside.publish(*declared(B))
        await wait_until_async(lambda: stock.drain() or len(stock.sids) == 1)
        assert stock.references == {"Vrf1": 1}
    finally:
        task.cancel()
        await asyncio.wait([task])
