"""Redis in a thread with an event loop of its own: to work out the rows of a hundred thousand SIDs
takes seconds, for which no other event loop may be blocked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Network
from typing import Any, Protocol

from srv6mgrd.jobs import awaited
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.service import ServiceReport
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters


class Outward(Protocol):
    """``publisher.Publisher``, or ``outward.BesideSonic``."""

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None: ...

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None: ...

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None: ...

    def publish_accounting(self, found: Mapping[str, Any]) -> None: ...

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None: ...

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None: ...

    async def run(self) -> None: ...


class InThread:
    """Any thread may publish, from the making on; none waits. What is published must not change
    afterwards."""

    def __init__(self, outward: Outward) -> None:
        self._outward = outward
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._is_cancelled = False

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish, desired, statuses)

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish_counters, counters)

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish_proxies, proxies)

    def publish_accounting(self, found: Mapping[str, Any]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish_accounting, found)

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish_services, services)

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None:
        self._loop.call_soon_threadsafe(self._outward.publish_alarms, alarms)

    async def run(self) -> None:
        """Keep Redis as was published; in another event loop. Ends when it is cancelled."""
        thread = ThreadPoolExecutor(1, "redis")
        serving = asyncio.get_running_loop().run_in_executor(thread, self._serve)
        try:
            # To wait in ``shutdown`` would hold this event loop.
            await awaited(serving, self._end)
        finally:
            thread.shutdown()

    def _end(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._cancel)

    def _serve(self) -> None:
        with (
            contextlib.suppress(asyncio.CancelledError),
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
        ):
            runner.run(self._work())

    async def _work(self) -> None:
        self._task = asyncio.current_task()
        if not self._is_cancelled:
            await self._outward.run()

    def _cancel(self) -> None:
        self._is_cancelled = True
        if self._task is not None:
            self._task.cancel()


class Nowhere:
    """There is no Redis."""

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None: ...

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None: ...

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None: ...

    def publish_accounting(self, found: Mapping[str, Any]) -> None: ...

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None: ...

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None: ...

    async def run(self) -> None: ...
