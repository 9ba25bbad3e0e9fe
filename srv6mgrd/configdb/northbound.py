"""The northbound: when rows are read, and when they are declared."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from srv6mgrd.backoff import Backoff
from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.fields import shown
from srv6mgrd.configdb.memory import Memory
from srv6mgrd.configdb.ownership import OwnershipIndex
from srv6mgrd.configdb.rejected import Reason
from srv6mgrd.configdb.rows import is_known
from srv6mgrd.configdb.running import Running
from srv6mgrd.configdb.source import Source
from srv6mgrd.configdb.surroundings import Surroundings, serves_static_sids
from srv6mgrd.configdb.verdict import Status, Verdict, not_carried_out
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.jobs import until_one_ends
from srv6mgrd.netlink.adjacencies import Neighbor
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.redis.rows import time_text
from srv6mgrd.redis.schema import Fields
from srv6mgrd.redis.wire import WireError
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger("srv6-configdbd")

# Rows are looked at this long after the first of them changed, so that a burst is one edit.
_SETTLE = 0.02
# Of more rows than that at once, the log only has the number.
_LOGGED = 20


@dataclass(frozen=True, slots=True)
class Timers:
    """Times in seconds. ``grace``: a row that is gone without anybody having heard of its removal
    may be lost, and is removed this long after; ``compare``: how often all is compared."""

    grace: float = 10.0
    compare: float = 30.0
    backoff_first: float = 0.1
    backoff_last: float = 5.0


class Kernel(Protocol):
    """The kernel's neighbors and VRFs (``netlink.adjacencies.KernelNeighbors``),
    read in a thread."""

    def read(self) -> Sequence[Neighbor]: ...

    def vrf_tables(self) -> Mapping[str, int]: ...

    def changes(self) -> AsyncIterator[None]: ...


@dataclass(frozen=True, slots=True)
class Beside:
    """What this runs beside. ``kernel`` None: nothing is known of it. With ``borrows_vrfs`` they
    are vrfmgrd's; with ``yields`` locators and SIDs are left to bgpcfgd where that runs."""

    kernel: Kernel | None = None
    borrows_vrfs: bool = False
    yields: bool = True


class Datastore(Protocol):
    """The running configuration (``writer.Writer``); every method blocks, and raises
    DatastoreError."""

    def running(self) -> Any: ...

    def write(self, changes: Sequence[Change]) -> dict[str, Reason]: ...


_ALONE = Beside()


@one_thread()
class Northbound:
    """``run`` ends by being cancelled. All methods but ``stir`` are for one event loop."""

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Source]],
        datastore: Datastore,
        memory: Memory,
        timers: Timers,
        beside: Beside = _ALONE,
    ) -> None:
        """``memory`` is loaded here; raises its UnreadableError."""
        self._beside = beside
        self._connect, self._datastore, self._memory, self._timers = (
            connect,
            datastore,
            memory,
            timers,
        )
        self._ownership = OwnershipIndex(memory.load())
        self._first = not memory.is_of_this_boot
        # Rows that are gone, though nobody heard of their removal, and since when.
        self._lost: dict[str, float] = {}
        self._touched: set[str] = set()
        self._reported: dict[str, Fields] = {}
        self._is_bgpcfgd = False
        self._all = True
        self._wake = asyncio.Event()
        self._problem = ""

    def stir(self) -> None:
        """The running configuration has changed."""
        self._wake.set()

    async def run(self) -> None:
        backoff = self._backoff()
        while True:
            try:
                async with self._connect() as source:
                    # Changes meanwhile gave no notification.
                    self._all = True
                    kernel = self._beside.kernel
                    watching = [self._watch(kernel)] if kernel is not None else []
                    await until_one_ends(self._listen(source), self._work(source), *watching)
            except WireError as error:
                if not self._problem:
                    backoff.reset()
                self._note(f"Redis: {error}; what CONFIG_DB declared stays")
            await backoff.wait()

    def _backoff(self) -> Backoff:
        return Backoff(self._timers.backoff_first, self._timers.backoff_last)

    async def _listen(self, source: Source) -> None:
        async for keys in source.changes():
            if keys is None:
                self._all = True
            else:
                self._touched |= keys
            self._wake.set()

    async def _watch(self, kernel: Kernel) -> None:
        async for _ in kernel.changes():
            if self._ownership.follows_kernel or self._beside.borrows_vrfs:
                self._wake.set()

    async def _surroundings(self, source: Source) -> Surroundings:
        feature = await source.bgp_feature() if self._beside.yields else {}
        # It is lost with the rows when CONFIG_DB is reloaded, and bgpcfgd still runs then.
        if feature or not self._lost:
            self._is_bgpcfgd = serves_static_sids(feature)
        kernel, neighbors = self._beside.kernel, dict[str, list[tuple[str, str]]]()
        if kernel is not None and self._ownership.follows_kernel:
            for neighbor in await asyncio.to_thread(kernel.read):
                if ":" in neighbor.address:
                    found = neighbors.setdefault(neighbor.interface, [])
                    found.append((neighbor.address, neighbor.mac))
        tables: Mapping[str, int] | None = None
        if kernel is not None and self._beside.borrows_vrfs:
            tables = await asyncio.to_thread(kernel.vrf_tables)
        return Surroundings(neighbors, tables, self._is_bgpcfgd)

    async def _work(self, source: Source) -> None:
        compare_at, backoff = 0.0, self._backoff()
        while True:
            self._wake.clear()
            now = time.monotonic()
            if self._all or now >= compare_at:
                compare_at = now + self._timers.compare
            try:
                await self._round(source, now)
            except DatastoreError as error:
                self._note(f"sysrepo: {error}")
                await backoff.wait()
                continue
            except KernelError as error:
                self._note(f"the kernel's neighbors can't be read ({error})")
                await backoff.wait()
                continue
            except OSError as error:
                # No edit without a record of what is ours.
                self._note(f"the record of objects can't be written ({error.strerror}); make room")
                await backoff.wait()
                continue
            backoff.reset()
            self._note("")
            due = min([compare_at, *(t + self._timers.grace for t in self._lost.values())])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, due - time.monotonic())):
                    await self._wake.wait()
                    await asyncio.sleep(_SETTLE)
            if time.monotonic() >= compare_at:
                self._all = True

    async def _round(self, source: Source, now: float) -> None:
        await self._read(source, now)
        running = Running(await asyncio.to_thread(self._datastore.running))
        judged = self._ownership.judge(running, self._lost, await self._surroundings(source))
        verdicts = judged.verdicts
        changes = judged.changes
        if changes:
            for change in changes:
                self._ownership.begin(change)
            self._memory.save(self._ownership.owned)
            try:
                rejected = await asyncio.to_thread(self._datastore.write, changes)
            except DatastoreError as error:
                waiting = Verdict(Status.WAITING, str(error))
                verdicts.update((c.row, waiting) for c in changes)
                await self._report(source, verdicts)
                raise
            self._conclude(changes, rejected, running, verdicts)
        self._memory.save(self._ownership.owned)
        await self._report(source, verdicts)

    def _conclude(
        self,
        changes: Sequence[Change],
        rejected: dict[str, Reason],
        running: Running,
        verdicts: dict[str, Verdict],
    ) -> None:
        for change in changes:
            if (reason := rejected.get(change.row)) is None:
                self._ownership.done(change)
                if change.leaves is not None:
                    verdicts[change.row] = self._ownership.accepted(change.row)
            else:
                self._ownership.reject(change, reason, running)
                verdicts[change.row] = not_carried_out(change, reason.text)
        _LOG.info("%d changes, %d rejected", len(changes), len(rejected))

    async def _read(self, source: Source, now: float) -> None:
        """Rows as they are now."""
        ownership = self._ownership
        touched, self._touched = self._touched, set()
        if self._all:
            self._all = False
            ownership.retry_temporary()
            rows = await source.rows()
            self._reported = await source.reported()
            for row, content in rows.items():
                # After a reboot all rows are new to the running configuration.
                (ownership.write if self._first else ownership.find)(row, content)
            self._first = False
            gone = ownership.remembered - rows.keys()
            # An empty database is one that was lost: a configuration is loaded next.
            held = not rows and not await source.is_loaded()
            self._lost = {r: now if held else self._lost.get(r, now) for r in gone}
        if touched := {k for k in touched if is_known(k)}:
            found = await source.look(sorted(touched))
            for row in touched:
                self._lost.pop(row, None)
                if row in found:
                    ownership.write(row, found[row])
                else:
                    ownership.remove(row)
        for row, since in list(self._lost.items()):
            if now >= since + self._timers.grace:
                if not (ownership.rows.keys() - self._lost.keys()) and not await source.is_loaded():
                    self._lost[row] = now
                else:
                    del self._lost[row]
                    ownership.remove(row)

    async def _report(self, source: Source, verdicts: dict[str, Verdict]) -> None:
        """Report what differs from what was reported."""
        verdicts.update(self._ownership.verdicts_of_parts(verdicts))
        stamp = time_text(time.time_ns())
        notifications: list[tuple[str, Fields | None]] = []
        unlogged: list[tuple[str, Verdict]] = []
        for row, verdict in verdicts.items():
            reported = self._reported.get(row, {})
            if (reported.get("status"), reported.get("reason", "")) != (
                verdict.status,
                verdict.reason,
            ):
                fields = {"status": str(verdict.status), "since": stamp}
                notifications.append(
                    (row, fields | ({"reason": verdict.reason} if verdict.reason else {}))
                )
                if verdict.reason:
                    unlogged.append((row, verdict))
        for row, verdict in unlogged[:_LOGGED]:
            _LOG.warning("%s %s: %s", shown(row), verdict.status, verdict.reason)
        if more := unlogged[_LOGGED:]:
            _LOG.warning("%d more rows; see SRV6MGR_CONFIG in STATE_DB", len(more))
        notifications += [(row, None) for row in self._reported if row not in verdicts]
        await source.report(notifications)
        for row, fields_ in notifications:
            if fields_ is None:
                del self._reported[row]
            else:
                self._reported[row] = fields_

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            if problem:
                _LOG.warning("%s; retrying", problem)
            else:
                _LOG.info("CONFIG_DB is carried over")
        self._problem = problem
