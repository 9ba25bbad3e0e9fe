"""Redis in a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from srv6mgrd.redis.thread import InThread


class Outward:
    """Notes in which thread it is called, and runs until it is cancelled or made to fail."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, object]] = []
        self.called = threading.Event()
        self.ended = False
        self.failing = asyncio.Event()

    def _note(self, name: str, what: object) -> None:
        self.calls.append((threading.current_thread().name, name, what))
        self.called.set()

    def publish(self, desired: Any, statuses: Mapping[Any, Any]) -> None:
        self._note("statuses", desired)

    def publish_counters(self, counters: Mapping[Any, Any]) -> None:
        self._note("counters", counters)

    def publish_proxies(self, proxies: Mapping[Any, Any]) -> None:
        self.failing.set()

    def publish_services(self, services: Mapping[Any, Any]) -> None:
        self._note("services", services)

    async def run(self) -> None:
        try:
            await self.failing.wait()
            raise ValueError("it failed")
        finally:
            self.ended = True


async def test_what_is_published_is_done_in_the_thread_in_order() -> None:
    outward = Outward()
    redis: Any = InThread(outward)
    # Before there is a thread.
    redis.publish(1, {})
    running = asyncio.create_task(redis.run())
    assert await asyncio.to_thread(outward.called.wait, 30)
    outward.called.clear()
    redis.publish_counters({"a": 2})
    assert await asyncio.to_thread(outward.called.wait, 30)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert outward.ended
    assert [(name, what) for _, name, what in outward.calls] == [
        ("statuses", 1),
        ("counters", {"a": 2}),
    ]
    assert all(thread.startswith("redis") for thread, _, _ in outward.calls)


async def test_its_failure_is_that_of_the_daemon() -> None:
    redis: Any = InThread(Outward())
    redis.publish_proxies({})

    with pytest.raises(ValueError, match="it failed"):
        await asyncio.wait_for(redis.run(), 30)


async def test_its_failure_while_it_is_stopped_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(Outward):
        async def run(self) -> None:
            try:
                await super().run()
            finally:
                raise ValueError("it failed at the end")

    outward = Failing()
    redis: Any = InThread(outward)
    redis.publish(1, {})
    running = asyncio.create_task(redis.run())
    assert await asyncio.to_thread(outward.called.wait, 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    gc.collect()  # an exception that nobody retrieved is reported then
    errors = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]
    assert errors == ["failed while it was stopped: it failed at the end"]


async def test_the_loop_turns_while_the_thread_finishes_its_work() -> None:
    outward = Outward()
    redis: Any = InThread(outward)
    may_end = threading.Event()
    redis.publish(1, {})
    running = asyncio.create_task(redis.run())
    assert await asyncio.to_thread(outward.called.wait, 30)
    redis._loop.call_soon_threadsafe(may_end.wait, 30)

    running.cancel()
    # A loop that waits for the thread does not come to this.
    asyncio.get_running_loop().call_later(0.05, may_end.set)

    with pytest.raises(asyncio.CancelledError):
        await running
    assert may_end.is_set()


async def test_it_ends_if_it_is_cancelled_before_it_begins() -> None:
    redis: Any = InThread(Outward())
    # The thread begins with this.
    redis._loop.call_soon(redis._cancel)

    await asyncio.wait_for(redis.run(), 30)
