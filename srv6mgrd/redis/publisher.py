"""Keeps the desired rows in Redis, whatever happens to Redis, and never makes anyone wait."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from ipaddress import IPv6Network
from typing import Any, TypeVar

from srv6mgrd import memory
from srv6mgrd.backoff import Backoff
from srv6mgrd.jobs import until_one_ends
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.proxy_state import ProxyState
from srv6mgrd.model.service import ServiceReport
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.redis.accounted import accounting_rows
from srv6mgrd.redis.counterpoll import POLL_ROW, Poll, poll
from srv6mgrd.redis.diff import BATCH, DATABASES, Change
from srv6mgrd.redis.row_cache import NAME_ROW, RowCache
from srv6mgrd.redis.rows import (
    Projector,
    alarm_rows,
    proxy_rows,
    service_rows,
)
from srv6mgrd.redis.schema import Fields, RowKey
from srv6mgrd.redis.wire import Settings, Wire, WireError
from srv6mgrd.threads import one_thread

log = logging.getLogger(__name__)

T = TypeVar("T")
Connect = Callable[[Settings], AbstractAsyncContextManager[Wire]]

# Seconds that all rows together, and each batch of them, wait for a commit or a repair at most;
# and from look to look whether it has ended.
_ALL_LATE, _BATCH_LATE, _LOOK = 5.0, 0.5, 0.02
# Seconds after which an answer of Redis is late: thousands of rows take less.
_SLOW = 0.25


@contextlib.asynccontextmanager
async def _redis(settings: Settings) -> AsyncIterator[Wire]:
    # Importing redis-py takes as long as thousands of SIDs, and nobody waits for Redis.
    library = await asyncio.to_thread(importlib.import_module, "srv6mgrd.redis.connection")
    async with library.connect(settings) as wire:
        yield wire


@one_thread()
class Publisher:
    """``publish`` and ``publish_counters`` say at once what is desired; ``run`` makes it so.

    Nothing is removed from Redis before the first ``publish``. All methods are for one event
    loop; ``run`` ends by being cancelled, and leaves the rows where they are.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        connect: Connect = _redis,
        *,
        alone: bool = True,
        is_writing: Callable[[], bool] = lambda: False,
    ) -> None:
        """``alone`` as in Projector. While ``is_writing``, a commit or a repair is carried out,
        which somebody waits for: rows give way to it."""
        self._is_writing = is_writing
        self._settings = settings or Settings()
        self._connect = connect
        self._row_cache = RowCache()
        self._alone = alone
        self._projector = Projector(alone=alone)
        self._declared: tuple[Desired, Mapping[ObjectRef, ObjectStatus]] | None = None
        # What was declared when it was absorbed; None when that has to be done again.
        self._absorbed: object = None
        self._sample: Mapping[str, SidCounters] | None = None
        self._sample_due = self._states_due = 0.0
        self._poll = Poll()
        self._proxies: Mapping[IPv6Network, ProxyState] = {}
        self._proxies_shown: object = self._proxies
        self._accounting: Mapping[str, Any] = {}
        self._accounting_shown: object = self._accounting
        self._services: Mapping[ObjectRef, ServiceReport] = {}
        self._services_shown: object = self._services
        self._alarms: Sequence[ActiveAlarm] = ()
        self._alarms_shown: object = self._alarms
        self._touched: set[str] = set()
        self._compare_due = 0.0
        self._hold = memory.Hold()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._problem: str | None = "not connected yet"
        self._writes = 0

    @property
    def writes(self) -> int:
        """How many rows, or fields of shared rows, were written or removed so far."""
        return self._writes

    @property
    def problem(self) -> str | None:
        """Why Redis can't be kept up to date; None while it is."""
        return self._problem

    @property
    def foreign(self) -> frozenset[RowKey]:
        """Desired rows that are left alone, in whole or part: another writer made them."""
        return frozenset(key for key, _ in self._row_cache.foreign)

    def publish(self, desired: Desired, statuses: Mapping[ObjectRef, ObjectStatus]) -> None:
        """Make these the rows; what we published before and isn't among them goes. The statuses
        must not change afterwards."""
        self._declared = desired, statuses
        self._stir()

    def publish_counters(self, counters: Mapping[str, SidCounters]) -> None:
        """What SIDs have counted, by prefix. Only the latest of each is written, at most once per
        interval; a SID that is left out keeps its counters. The mapping must not change
        afterwards."""
        self._sample = {**self._sample, **counters} if self._sample else counters
        self._stir()

    def publish_proxies(self, proxies: Mapping[IPv6Network, ProxyState]) -> None:
        """The proxies that exist; only the latest is written, at most once per interval. The
        mapping must not change afterwards."""
        if proxies != self._proxies:
            self._proxies = proxies
            self._stir()

    def publish_accounting(self, found: Mapping[str, Any]) -> None:
        """The container ``accounting/statistics``, and beside it ``drops``; only the latest is
        written, at most once per interval. It must not change afterwards."""
        self._accounting = found
        self._stir()

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None:
        """The state of services; only the latest is written, at most once per interval. The
        mapping must not change afterwards."""
        self._services = services
        self._stir()

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None:
        """The active alarms; only the latest are written, at most once per interval. The sequence
        must not change afterwards."""
        self._alarms = alarms
        self._stir()

    async def settled(self) -> None:
        """Return once Redis holds all that was published, ``foreign`` aside."""
        await self._idle.wait()

    async def run(self) -> None:
        backoff = Backoff(self._settings.backoff_first, self._settings.backoff_last)
        while True:
            try:
                async with self._connect(self._settings) as wire:
                    await self._serve(wire)
            except WireError as e:
                if self._problem is None:  # it was up to date before
                    backoff.reset()
                self._lost(str(e))
            await backoff.wait()

    async def _serve(self, wire: Wire) -> None:
        """Listen and write until one of both fails."""
        self._compare_due = 0.0
        await until_one_ends(self._listen(wire), self._write(wire))

    def _stir(self) -> None:
        self._idle.clear()
        self._wake.set()

    def _lost(self, reason: str) -> None:
        self._idle.clear()
        if reason != self._problem:
            log.warning("Redis at %s: %s; retrying", self._settings.where, reason)
        self._problem = reason

    async def _listen(self, wire: Wire) -> None:
        """Hear of changes by others, FLUSHALL included."""
        async for keys in wire.changes():
            if keys is None:
                self._compare_due = 0.0
            else:
                self._touched.update(keys)
            self._stir()

    async def _write(self, wire: Wire) -> None:
        while True:
            self._wake.clear()
            if self._declared is not None:
                await self._round(wire)
                if self._problem is not None:
                    log.info("Redis at %s: up to date", self._settings.where)
                    self._problem = None
            if self._nothing_left():
                self._idle.set()
            await self._pause()

    def _nothing_left(self) -> bool:
        return (
            self._declared is not None
            and self._declared is self._absorbed
            and not self._has_states
            and self._sample is None
            and not self._touched
            and self._compare_due > 0
        )

    @property
    def _has_states(self) -> bool:
        """Whether there are states of proxies or services, rows of accounting, or alarms, that are
        not written yet."""
        return (
            self._proxies is not self._proxies_shown
            or self._services is not self._services_shown
            or self._accounting is not self._accounting_shown
            or self._alarms is not self._alarms_shown
        )

    async def _pause(self) -> None:
        """Wait for something to do."""
        if self._declared is None:
            await self._wake.wait()
            return
        due = self._compare_due
        if self._has_states:
            due = min(due, self._states_due)
        if self._sample is not None:
            due = min(due, self._sample_due)
        # Not wait_for: before Python 3.12 it may swallow a cancellation.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, due - time.monotonic())):
                await self._wake.wait()

    async def _give_way(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._is_writing() and time.monotonic() < until:
            await asyncio.sleep(_LOOK)

    async def _round(self, wire: Wire) -> None:
        await self._give_way(_ALL_LATE)
        self._hold.begin()
        try:
            await self._make_so(wire)
        finally:
            self._hold.end()

    async def _answer(self, coming: Awaitable[T]) -> T:
        """An answer of Redis. The collector does not wait for one that takes long."""
        late = asyncio.get_running_loop().call_later(_SLOW, self._hold.end)
        try:
            return await coming
        finally:
            late.cancel()
            self._hold.begin()

    async def _make_so(self, wire: Wire) -> None:
        row_cache, now = self._row_cache, time.monotonic()
        if now >= self._compare_due:
            # Set before reading: what changes meanwhile is read again.
            self._compare_due = now + self._settings.compare_interval
            self._touched.clear()
            await self._adopt(wire)
            await self._read_poll(wire)
            self._absorbed = None
        elif self._touched:
            touched, self._touched = self._touched, set()
            if POLL_ROW.key in touched:
                await self._read_poll(wire)
            row_cache.reread(await self._read(wire, row_cache.concerns(touched)))
        declared = self._declared
        if declared is not None and declared is not self._absorbed:
            changes = self._projector.project(*declared)
            try:
                if names := row_cache.unnamed(changes):
                    allocated = wire.allocate(len(names), row_cache.highest_index)
                    row_cache.name(names, await self._answer(allocated))
                row_cache.absorb(changes)
            except BaseException:
                self._projector.again()
                raise
            self._absorbed = declared
        interval = self._settings.counter_interval
        if now >= self._states_due and self._has_states:
            self._states_due = now + interval
            self._proxies_shown, self._services_shown = self._proxies, self._services
            self._accounting_shown, self._alarms_shown = self._accounting, self._alarms
            row_cache.states(
                {
                    **proxy_rows(self._proxies),
                    **service_rows(self._services),
                    **accounting_rows(self._accounting, alone=self._alone),
                    **alarm_rows(self._alarms),
                }
            )
        await self._carry_out(wire, row_cache.changes())
        if now >= self._sample_due and (sample := self._sample) is not None:
            self._sample_due = now + (self._poll.interval or interval)
            for prefixes, lines in row_cache.sample(sample):
                await self._answer(wire.count(lines))
                self._writes += len(lines)
                row_cache.counted(prefixes)
            await self._carry_out(wire, row_cache.changes())
            if self._sample is sample:
                self._sample = None

    async def _read_poll(self, wire: Wire) -> None:
        """Whether counters are wanted, and how often."""
        before, self._poll = self._poll, poll((await self._read(wire, [POLL_ROW]))[POLL_ROW])
        if before.interval != self._poll.interval:
            self._sample_due = 0.0
        if before.is_enabled != self._poll.is_enabled:
            self._projector.count(is_enabled=self._poll.is_enabled)
            self._absorbed = None

    async def _carry_out(self, wire: Wire, batches: Iterable[tuple[str, list[Change]]]) -> None:
        for db, batch in batches:
            await self._give_way(_BATCH_LATE)
            written = wire.write(db, [operation for _, operation in batch])
            rejected = await self._answer(written)
            self._writes += len(batch) - len(rejected)
            for key in self._row_cache.done(batch, rejected):
                log.warning("%s %s: made by another writer, left alone", key.db, key.key)

    async def _adopt(self, wire: Wire) -> None:
        keys = {db: await self._answer(wire.owned(db)) for db in DATABASES}
        names = await self._read(wire, [NAME_ROW])
        self._row_cache.adopt(await self._rows(wire, keys), names[NAME_ROW])

    async def _read(self, wire: Wire, keys: Iterable[RowKey]) -> dict[RowKey, Fields]:
        by_database: dict[str, list[str]] = {}
        for key in keys:
            by_database.setdefault(key.db, []).append(key.key)
        return await self._rows(wire, by_database)

    async def _rows(self, wire: Wire, keys: Mapping[str, list[str]]) -> dict[RowKey, Fields]:
        rows: dict[RowKey, Fields] = {}
        for db, texts in keys.items():
            for first in range(0, len(texts), BATCH):
                found = await self._answer(wire.read(db, texts[first : first + BATCH]))
                rows.update((RowKey(db, key), fields) for key, fields in found.items())
        return rows
