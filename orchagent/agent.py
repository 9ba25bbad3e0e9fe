"""Rows in, operations out, their results reported. One pass serves start, change and repair."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from orchagent.asic import AsicView
from orchagent.consumer import Consumer, GuardError, Reported, guard, row_of
from orchagent.graph import Graph
from orchagent.nodes import Kind, Node, State
from srv6mgrd.backoff import Backoff
from srv6mgrd.jobs import until_one_ends
from srv6mgrd.netlink.adjacencies import Neighbor
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.redis.connection import Line, dumps, text
from srv6mgrd.redis.rows import time_text
from srv6mgrd.redis.schema import table
from srv6mgrd.redis.wire import DATABASES, Settings, WireError

_LOG = logging.getLogger("srv6-orchagent")
_NAME = "srv6-orchagent"
_STATE = table("STATE_DB", "SRV6MGR_ASIC")
_BATCH = 500
# As CRM names them.
_RESOURCES = {"srv6_my_sid_entry": Kind.SID, "srv6_nexthop": Kind.SRV6_NEXT_HOP}


@dataclass(frozen=True, slots=True)
class Timers:
    """Times in seconds."""

    compare: float = 30.0


class Neighbors(Protocol):
    """Neighbors that no row declares (``netlink.adjacencies.KernelNeighbors``)."""

    def read(self) -> Sequence[Neighbor]: ...

    def changes(self) -> AsyncIterator[None]: ...


class Agent:
    """``run`` ends by being cancelled, or with GuardError."""

    def __init__(self, redis: Settings, timers: Timers, neighbors: Neighbors | None = None) -> None:
        """``neighbors`` are seen beside those of NEIGH_TABLE."""
        self._redis, self._timers, self._neighbors = redis, timers, neighbors
        self._problem = ""

    async def run(self) -> None:
        # Before anything else: it must not be found out by taking rows from another one.
        first = True
        backoff = Backoff(self._redis.backoff_first, self._redis.backoff_last)
        while True:
            work, watch = Line(self._redis, _NAME), Line(self._redis, _NAME)
            try:
                await guard(work)
                first = False
                consumer = Consumer(work, watch)
                await consumer.begin()
                await self._serve(_Session(work, consumer, self._neighbors))
            except WireError as error:
                if not self._problem:  # it had loaded before
                    backoff.reset()
                self._note(f"Redis at {self._redis.where}: {error}; retrying")
            except KernelError as error:
                self._note(f"{error}; retrying")
            except GuardError:
                # Our own connection that was lost may not be gone yet.
                if first or not self._problem:
                    raise
            finally:
                await work.close()
                await watch.close()
            await backoff.wait()

    async def _serve(self, session: _Session) -> None:
        wake, emptied = asyncio.Event(), asyncio.Event()

        async def listen() -> None:
            async for reported in session.consumer.reported():
                if reported is Reported.EMPTIED:
                    emptied.set()
                elif reported is Reported.CONFIGURATION:
                    session.is_configured_anew = True
                wake.set()

        async def look(neighbors: Neighbors) -> None:
            async for _ in neighbors.changes():
                wake.set()

        async def work() -> None:
            while True:
                emptied.clear()
                await session.load()
                self._note("")
                due = time.monotonic() + self._timers.compare
                while time.monotonic() < due and not emptied.is_set():
                    wake.clear()
                    await session.take()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(max(0.0, due - time.monotonic())):
                            await wake.wait()
                if not await session.consumer.is_alone():
                    raise GuardError(
                        "another consumer of APPL_DB has come: stop it, or don't run srv6-orchagent"
                    )

        looking = [look(self._neighbors)] if self._neighbors is not None else []
        await until_one_ends(listen(), work(), *looking)

    def _note(self, problem: str) -> None:
        if problem and problem != self._problem:
            _LOG.warning("%s", problem)
        self._problem = problem


class _Session:
    """What is known while a connection lasts."""

    def __init__(self, work: Line, consumer: Consumer, neighbors: Neighbors | None) -> None:
        self.consumer = consumer
        self._work, self._neighbors = work, neighbors
        self.is_configured_anew = True
        self._begin()

    def _begin(self) -> None:
        self._graph, self._view = Graph(), AsicView(self._work)
        self._reported: dict[str, tuple[str, str]] = {}
        self._used: dict[str, int] = dict.fromkeys(_RESOURCES, 0)
        self.is_configured_anew = True

    async def load(self) -> None:
        """Start over from the contents of Redis."""
        self._begin()
        await self._read_reported()
        await self._view.begin()
        async for node, fields in self.consumer.rows():
            self._graph.put(node, fields)
        await self._settle()
        await self.take()
        await self._view.sweep()
        # crm show resources wants a number before there is anything.
        await self._view.report_usage({name: (now, now) for name, now in self._used.items()})
        rows = {row_of(node) for node in self._graph.rows}
        stale = [row for row in self._reported if row not in rows]
        await self._report([(row, None) for row in stale])
        await self._report([(row_of(n), self._graph.state(n)) for n in self._graph.rows])

    async def take(self) -> None:
        """Take all that waits."""
        if self.is_configured_anew:
            self.is_configured_anew = False
            self._graph.configure(await self.consumer.decap_modes())
            await self._settle()
        while popped := await self.consumer.pop():
            for node, fields in popped:
                if fields:
                    self._graph.put(node, fields)
                else:
                    self._graph.drop(node)
            await self._settle(node for node, _ in popped)
            # Others have their turn.
            await asyncio.sleep(0)
        if self._neighbors is not None:
            # In a thread: a fabric has thousands of them.
            found = await asyncio.to_thread(self._neighbors.read)
            resolved = {Node(Kind.NEIGHBOR, f"{n.address}@{n.interface}"): n.mac for n in found}
            self._graph.see({node: {"neigh": mac} for node, mac in resolved.items()})
            await self._settle()
        await self._count()

    async def _settle(self, popped: Iterable[Node] = ()) -> None:
        touched = set(popped)
        while operations := self._graph.settle():
            touched |= self._graph.concerned_rows(operations)
            for rejected in await self._view.apply(operations):
                self._graph.failed(rejected.node, rejected.reason)
                touched.add(rejected.node)
        await self._report([(row_of(n), self._graph.state(n)) for n in touched])

    async def _count(self) -> None:
        used = {name: self._graph.count(kind) for name, kind in _RESOURCES.items()}
        if used != self._used:
            await self._view.report_usage({n: (self._used[n], now) for n, now in used.items()})
            self._used = used

    async def _report(self, states: list[tuple[str, State | None]]) -> None:
        """Report the differences to the last report."""
        stamp = time_text(time.time_ns())
        notifications = [(r, s) for r, s in states if self._reported.get(r) != _shown(s)]
        for first in range(0, len(notifications), _BATCH):
            rows = {
                row: _fields(state, stamp) for row, state in notifications[first : first + _BATCH]
            }
            await self._work.evaluate(_STATE.database, "replace_rows", _STATE.prefix, dumps(rows))
        for row, state in notifications:
            if (shown := _shown(state)) is None:
                self._reported.pop(row, None)
            else:
                self._reported[row] = shown

    async def _read_reported(self) -> None:
        select = ("SELECT", DATABASES["STATE_DB"])
        keys = (await self._work.call(select, ("KEYS", f"{_STATE.prefix}*")))[-1]
        for first in range(0, len(keys), _BATCH):
            some = keys[first : first + _BATCH]
            get = [("HMGET", key, "status", "reason") for key in some]
            for key, fields in zip(some, (await self._work.call(select, *get))[1:], strict=True):
                status, reason = (text(f or b"") for f in fields)
                self._reported[text(key).removeprefix(_STATE.prefix)] = status, reason
        crm = ("HMGET", "CRM:STATS", *(f"crm_stats_{name}_used" for name in _RESOURCES))
        counts = (await self._work.call(("SELECT", DATABASES["COUNTERS_DB"]), crm))[-1]
        self._used = {
            name: int(used) if used and used.isdigit() else 0
            for name, used in zip(_RESOURCES, counts, strict=True)
        }


def _fields(state: State | None, stamp: str) -> list[str]:
    """Fields and values of a row of STATE_DB; none when there is nothing to report."""
    if state is None:
        return []
    reason = ["reason", state.reason] if state.reason else []
    return ["status", str(state.status), "since", stamp, *reason]


def _shown(state: State | None) -> tuple[str, str] | None:
    return None if state is None else (str(state.status), state.reason)
