"""Beside SONiC: its orchagent is fed, its own rows are left to it (mode ``sonic``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv6Network
from typing import Any

from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.service import ServiceReport
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.redis.feed import OrchagentFeed
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.rows import fed
from srv6mgrd.redis.warm_restart import WarmRestart
from srv6mgrd.redis.wire import Settings


class BesideSonic:
    """Statuses go to our own tables, SIDs and segment lists to orchagent. Counters stay where they
    are: on SONiC they are the ASIC's."""

    def __init__(
        self, settings: Settings, *, is_writing: Callable[[], bool] = lambda: False
    ) -> None:
        """``is_writing`` as in Publisher."""
        self.publisher = Publisher(settings, alone=False, is_writing=is_writing)
        self.feed = OrchagentFeed(settings)
        self._warm_restart = WarmRestart(settings, self._reconciled)

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None:
        self.publisher.publish(desired, statuses)
        self.feed.want(fed(desired, statuses))

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None:
        pass

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None:
        self.publisher.publish_proxies(proxies)

    def publish_accounting(self, found: Mapping[str, Any]) -> None:
        self.publisher.publish_accounting(found)

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None:
        self.publisher.publish_services(services)

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None:
        self.publisher.publish_alarms(alarms)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.publisher.run())
            group.create_task(self.feed.run())
            group.create_task(self._warm_restart.run())

    async def _reconciled(self) -> None:
        await self.publisher.settled()
        await self.feed.settled()
