"""The northbound beside a kernel whose neighbors can't always be read."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from lab.waiting import wait_until_async
from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.memory import Memory
from srv6mgrd.configdb.northbound import Beside, Northbound, Timers
from srv6mgrd.configdb.objects import Content
from srv6mgrd.configdb.rejected import Reason
from srv6mgrd.configdb.source import Source
from srv6mgrd.netlink.adjacencies import Neighbor
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.redis.schema import Fields

ROWS: dict[str, Content] = {
    "SRV6_MY_LOCATORS|MAIN": {"prefix": "fcbb:0:1::"},
    "SRV6_MY_SIDS|MAIN|fcbb:0:1:fe00::/64": {"action": "uA", "interface": "eth0"},
}


class Rows:
    """A source in memory."""

    def __init__(self) -> None:
        self.status: dict[str, Fields] = {}
        self.held, self.feature = dict(ROWS), dict[str, str]()
        self.flushed = asyncio.Event()
        self.compares = 0

    async def changes(self) -> AsyncIterator[set[str] | None]:
        await self.flushed.wait()
        yield None
        await asyncio.Event().wait()

    async def rows(self) -> dict[str, Content]:
        self.compares += 1
        return dict(self.held)

    async def look(self, keys: Sequence[str]) -> dict[str, Content]:
        return {k: self.held[k] for k in keys if k in self.held}

    async def bgp_feature(self) -> Fields:
        return self.feature

    async def is_loaded(self) -> bool:
        return bool(self.held)

    async def reported(self) -> dict[str, Fields]:
        return {}

    async def report(self, rows: Sequence[tuple[str, Fields | None]]) -> None:
        self.status |= {row: fields for row, fields in rows if fields is not None}


class Running:
    """A running configuration that takes all."""

    def __init__(self) -> None:
        self.written: dict[str, Mapping[str, Any]] = {}
        self._srv6: dict[str, Any] = {}

    def running(self) -> Any:
        return {"srv6mgr-srv6:srv6": self._srv6}

    def write(self, changes: Sequence[Change]) -> dict[str, Reason]:
        for change in changes:
            container, name, key = change.object.kind.path
            self.written[change.row] = leaves = change.leaves or {}
            listed = self._srv6.setdefault(container, {}).setdefault(name, [])
            listed.append({key: change.object.name, **leaves})
        return {}


class Kernel:
    """Its first answers fail; it has a neighbor when somebody asks again."""

    def __init__(self) -> None:
        self.asked = 0
        self.changed = asyncio.Event()

    def read(self) -> Sequence[Neighbor]:
        # A dump of thousands takes a while.
        assert threading.current_thread() is not threading.main_thread()
        self.asked += 1
        if self.asked < 3:
            raise KernelError("neighbors", "the dump was interrupted", "it is tried again")
        return [Neighbor("fe80::1", "eth0", "02:00:00:00:00:01")] if self.changed.is_set() else []

    def vrf_tables(self) -> Mapping[str, int]:
        return {}

    async def changes(self) -> AsyncIterator[None]:
        await self.changed.wait()
        yield None
        await asyncio.Event().wait()


async def test_a_neighbor_that_comes_completes_a_ua(tmp_path: Path) -> None:
    source, running, kernel = Rows(), Running(), Kernel()
    sid = "SRV6_MY_SIDS|MAIN|fcbb:0:1:fe00::/64"

    @asynccontextmanager
    async def connect() -> AsyncIterator[Source]:
        yield cast("Source", source)

    northbound = Northbound(
        connect,
        running,
        Memory(tmp_path / "objects.json", "boot"),
        Timers(backoff_first=0.001, backoff_last=0.002),
        Beside(kernel),
    )
    task = asyncio.create_task(northbound.run())
    await wait_until_async(lambda: source.status.get(sid, {}).get("status") == "waiting")
    assert kernel.asked >= 3
    kernel.changed.set()
    await wait_until_async(lambda: source.status[sid]["status"] == "accepted")
    assert running.written[sid]["next-hop"] == "fe80::1"
    task.cancel()
    await asyncio.wait([task])


async def test_a_reload_of_config_db_does_not_take_sids_from_bgpcfgd(tmp_path: Path) -> None:
    """`config reload` empties CONFIG_DB, and FEATURE|bgp is gone with all rows."""
    source, running = Rows(), Running()
    source.feature = {"state": "enabled"}

    @asynccontextmanager
    async def connect() -> AsyncIterator[Source]:
        yield cast("Source", source)

    memory = Memory(tmp_path / "objects.json", "boot")
    northbound = Northbound(connect, running, memory, Timers(compare=0.05))
    task = asyncio.create_task(northbound.run())
    locator = "SRV6_MY_LOCATORS|MAIN"
    await wait_until_async(lambda: source.status.get(locator, {}).get("status") == "left")
    source.held, source.feature = {}, {}
    source.flushed.set()
    seen = source.compares
    await wait_until_async(lambda: source.compares > seen + 2)
    assert not running.written
    assert source.status[locator]["status"] == "left"
    task.cancel()
    await asyncio.wait([task])
