"""The event loop goes on while many SIDs or VRFs are committed, compared and published.

No thread may hold the interpreter for long in one operation. The time of the CPU is measured, since
a busy machine makes everything wait, and beside it that of a loop which always does the same: a CPU
that is shared with other machines is slower, and its time is counted all the same. The best of a
few runs counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench import vrfs
from srv6mgrd.in_loop import InLoop
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.thread import InThread
from srv6mgrd.redis.wire import Settings
from srv6mgrd.scheduling import take_short_turns
from tests.unit.manager.world import World
from tests.unit.redis.fake import FakeRedis

SIDS = 30_000
# Times the loop: usual are 0.8 to 2.1; the collector, when it searched all of them, took 7.
MOST = 3.0
TRIES = 4


def loop_seconds() -> float:
    """Of a CPU, for a loop that takes 0.011 s where nobody disturbs it."""
    before = time.process_time()
    for _ in range(1_000_000):
        pass
    return time.process_time() - before


@pytest.fixture
def undisturbed() -> Iterator[None]:
    """By other processes, where we may, and by what other tests have left for the collector."""
    interval, nice = sys.getswitchinterval(), os.getpriority(os.PRIO_PROCESS, 0)
    take_short_turns()
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    sys.setswitchinterval(interval)


def configuration(count: int) -> dict[str, Any]:
    sids = [
        {"prefix": f"fcbb:0:1:{n:x}::/64", "locator": "MAIN", "behavior": "End"}
        for n in range(1, count + 1)
    ]
    locator = {"name": "MAIN", "prefix": "fcbb:0:1::/48"}
    return {"srv6mgr-srv6:srv6": {"locators": {"locator": [locator]}, "local-sids": {"sid": sids}}}


class Ticks:
    """The most of a CPU that others used between two turns of the event loop."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        while True:
            before = time.process_time()
            await asyncio.sleep(0.002)
            self.longest = max(self.longest, time.process_time() - before)


async def longest(folder: Path, many: dict[str, Any], one: dict[str, Any]) -> float:
    """Of a commit of all, a compare and a commit of one, with Redis following."""
    loop = asyncio.get_running_loop()
    writer, state = ThreadPoolExecutor(1, "writer"), ThreadPoolExecutor(1, "state")
    world = World(folder / "store", writer, state, InLoop(loop))
    publisher = Publisher(Settings(counter_interval=0.01), FakeRedis().connect)
    redis = InThread(publisher)
    world.outward.publish = redis.publish
    world.outward.publish_counters = redis.publish_counters
    ticks = Ticks()
    jobs = [asyncio.create_task(job) for job in (redis.run(), ticks.run())]
    for config in (many, one):
        await loop.run_in_executor(writer, world.commit, config)
        await loop.run_in_executor(state, world.manager.sampling.beat)
        await world.manager.reconcile()
        settled = asyncio.run_coroutine_threadsafe(publisher.settled(), redis._loop)
        await asyncio.wrap_future(settled)
    for job in jobs:
        job.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await job
    for thread in (writer, state):
        thread.shutdown()
    return ticks.longest


@pytest.mark.parametrize(
    ("make", "count"), [(configuration, SIDS), (vrfs.config, vrfs.VRFS)], ids=["sids", "vrfs"]
)
def test_no_operation_on_many_holds_the_event_loop(
    tmp_path: Path, undisturbed: None, make: Callable[[int], dict[str, Any]], count: int
) -> None:
    found: list[float] = []
    while len(found) < TRIES and min(found, default=2 * MOST) > MOST:
        (folder := tmp_path / str(len(found))).mkdir()
        before = loop_seconds()
        seconds = asyncio.run(longest(folder, make(count), make(1)))
        found.append(seconds / max(before, loop_seconds()))
    assert min(found) <= MOST, found
