"""Subscribe (gnmi-specification.md 3.5): ONCE, POLL and STREAM."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from grpc import StatusCode

from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.change import Change, select
from srv6mgrd.gnmi.failure import RpcError, check_encoding
from srv6mgrd.gnmi.feed import TelemetryFeed
from srv6mgrd.gnmi.outbox import Batch, Form, Outbox, batches, responses
from srv6mgrd.gnmi.pack import Reported, Request, Sample
from srv6mgrd.gnmi.path import Pattern, elems, text
from srv6mgrd.gnmi.rendering import Rendering, moment
from srv6mgrd.gnmi.sampling import Grant, SampleLoad, packed_cost
from srv6mgrd.gnmi.view import Snapshot
from srv6mgrd.gnmi.watch import SampleLimits, Watch, counts, origins
from srv6mgrd.gnmi.workers import Caller, Workers

# A stream without a request takes the place of another subscriber.
_TIMEOUT_S = 60.0
# What a leaf takes in memory until it is sent.
_LEAF_BYTES = 400
# Changes that wait to be compared with the paths of one subscriber.
_MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What all subscriptions share."""

    feed: TelemetryFeed
    workers: Workers
    limits: SampleLimits
    load: SampleLoad = field(default_factory=SampleLoad)


class Subscription:
    """One Subscribe RPC."""

    def __init__(
        self,
        telemetry: Telemetry,
        caller: Caller,
        asked: Any,
        found: list[Watch],
        write: Callable[[Any], Awaitable[None]],
    ) -> None:
        """``asked`` is the SubscriptionList, ``found`` what it asks for."""
        feed = telemetry.feed
        self._feed = feed
        self._workers = telemetry.workers
        self._load, self._fastest = telemetry.load, telemetry.limits.fastest
        self._asked = asked
        self._watches = found
        self._caller = caller
        self._write = write
        self._prefix = wire.read_path(asked.prefix)
        self._form = Form(asked.encoding, self._prefix, origins(found, feed.root, self._prefix))
        self._outbox = Outbox()
        self._changes: asyncio.Queue[Change] = asyncio.Queue(_MOST_WAITING)
        self._lags = False
        # Sent on change, though it is sent as it is stored; what was sent of it, and from what.
        self._followed: Watch | None = None
        self._reported = Reported()
        self._last: Sample | None = None
        # Of what is sampled, as it was made last.
        self._renderings: dict[Watch, Rendering] = {}
        # Two of our tasks must not write at once.
        self._writing = asyncio.Lock()

    def _to_follow(self) -> Watch | None:
        """Counters of all SIDs on change: leaf by leaf a hundred thousand SIDs would hold up
        everybody. Only where nothing else sends counters on change."""
        packed = [w for w in self._watches if w.is_packed]
        others = [w for w in self._watches if not (w.is_packed or w.interval)]
        if len(packed) != 1 or packed[0].interval or packed[0].heartbeat:
            return None
        return None if any(counts(w, self._feed.root) for w in others) else packed[0]

    async def once(self) -> None:
        """ONCE (3.5.1.5.1)."""
        if not self._asked.updates_only:
            await self._present()
        await self._write(wire.sync_response())

    async def _present(self, first: Snapshot | None = None) -> None:
        """What is now; counters of all SIDs once, whatever number of subscriptions names them."""
        packed = [w for w in self._watches if w.is_packed]
        rest = [w for w in self._watches if w not in packed]
        if rest:
            snapshot = first or await self._feed.snapshot()
            known = self._renderings.get(rest[0]) if len(rest) == 1 else None
            if known is not None and known.is_of(moment(rest[0], snapshot)):
                for response in known.responses(snapshot, None, 0):
                    await self._respond(response)
            else:
                await self._send(snapshot, rest)
        if len(packed) > 1:
            # They may overlap.
            await self._send(await self._feed.snapshot(), packed)
        elif packed:
            await self._pack(packed[0])

    async def poll(self, requests: AsyncIterator[Any]) -> None:
        """What is now, and again for each Poll message until the client closes its side.

        3.5.1.5.3 leaves open whether the first comes unasked; 3.5.2.3 and openconfig's own server
        say so, and gnmic and gnmi_cli wait for it before they poll.
        """
        await self.once()
        async for request in requests:
            check_poll(request)
            await self._present()
            await self._write(wire.sync_response())

    async def stream(self, requests: AsyncIterator[Any]) -> None:
        """Current values, sync_response, then changes and samples until the client leaves."""
        on_change = [w for w in self._watches if not w.interval]
        sampled = [w for w in self._watches if w.interval]
        listen = None
        if on_change:
            listen = await self._workers.run(self._caller, self._listener, on_change)
        with contextlib.ExitStack() as held:
            grants = [held.enter_context(await self._admitted(w)) for w in sampled]
            first = await self._now(*self._watches)
            # The event loop is not left in between, so no change is lost and none is sent twice;
            # one that comes during the initial updates waits in the outbox.
            if listen:
                held.callback(listen())
            if not self._asked.updates_only:
                await self._present(first)
            elif self._followed is not None:
                await self._pack(self._followed, silent=True)
            await self._write(wire.sync_response())
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(reject_more(requests))
                    tasks.create_task(self._drain())
                    if on_change:
                        tasks.create_task(self._compare(on_change))
                    if self._followed is not None:
                        tasks.create_task(self._follow(self._followed))
                    for watch, grant in zip(sampled, grants, strict=True):
                        tasks.create_task(self._sample(watch, grant, first))
                    for watch in on_change:
                        if watch.heartbeat:
                            tasks.create_task(self._beat(watch))
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None

    async def _now(self, *found: Watch) -> Snapshot:
        """What these are read from. Counters of all SIDs take long to read, and are read for those
        alone that are made from them."""
        needed = any(w.needs_counters and not w.is_packed for w in found)
        return await (self._feed.snapshot() if needed else self._feed.without_counters())

    # What changes.

    def _listener(self, on_change: list[Watch]) -> Callable[[], Callable[[], None]]:
        """What begins to listen to changes, and gives what ends it."""
        self._followed = self._to_follow()
        others = [w for w in on_change if w is not self._followed]
        counters = any(counts(w, self._feed.root) for w in others)

        def reported(change: Change) -> None:
            try:
                self._changes.put_nowait(change)
            except asyncio.QueueFull:
                self._lags = True

        return lambda: self._feed.listen(reported, counters=counters)

    async def _compare(self, on_change: list[Watch]) -> None:
        """Put into the outbox what of each change was subscribed to."""
        others = [(p, w.chosen) for w in on_change if w is not self._followed for p in w.patterns]
        followed = [(p, w.chosen) for w in on_change if w is self._followed for p in w.patterns]

        def selected(change: Change, budget: Budget) -> Batch:
            updates, deletes = select(change, others, budget)
            if followed:
                # Its values come with the next sample.
                _, gone = select(change, followed, budget)
                deletes = list(dict.fromkeys((*deletes, *gone)))
            return Batch(change.at, dict(updates), deletes)

        while True:
            change = await self._changes.get()
            if self._lags:
                raise RpcError(
                    StatusCode.RESOURCE_EXHAUSTED,
                    f"subscribe: {_MOST_WAITING} changes wait to be compared with what was"
                    " subscribed to; subscribe to fewer or narrower paths",
                )
            caller = self._caller.again()
            batch = await self._workers.run(caller, selected, change, caller.budget)
            if batch.updates or batch.deletes:
                self._outbox.put(batch)

    async def _drain(self) -> None:
        while True:
            await self._put(await self._outbox.get())

    async def _put(self, batch: Batch) -> None:
        for response in responses(batch, self._form):
            await self._respond(response)

    async def _respond(self, message: bytes) -> None:
        async with self._writing:
            await self._write(message)

    async def _send(self, snapshot: Snapshot, found: list[Watch]) -> None:
        caller = self._caller.again()
        read = replace(snapshot, budget=caller.budget)

        def encoded() -> list[bytes]:
            present = batches(leaves(read, found), read)
            return [r for batch in present for r in responses(batch, self._form)]

        try:
            for response in await self._workers.run(caller, encoded):
                await self._respond(response)
        finally:
            caller.budget.release()

    async def _beat(self, watch: Watch) -> None:
        while True:
            await asyncio.sleep(watch.heartbeat)
            await self._send(await self._feed.snapshot(), [watch])

    async def _follow(self, watch: Watch) -> None:
        """What changes from one sample to the next. A client that reads too slowly misses some."""
        while True:
            last, sample = self._last, await self._feed.next_sample(self._last)
            missed = 0 if last is None else sample.records.sample - last.records.sample - 1
            await self._pack(watch, max(0, missed), self._reported, sample)

    async def _pack(
        self,
        watch: Watch,
        missed: int = 0,
        reported: Reported | None = None,
        sample: Sample | None = None,
        *,
        silent: bool = False,
    ) -> None:
        """The counters of all SIDs, as far as ``watch`` is to have them; ``silent``: they count as
        sent."""
        if not (watch.is_packed or silent):  # since a rule differs between SIDs
            await self._send(await self._feed.snapshot(), [watch])
        sample = sample or await self._feed.sample()
        if watch is self._followed:
            reported, self._last = self._reported, sample
        if not watch.is_packed or sample is None or not sample.table.keys:
            return
        at = partial(sample.table.at, sample.table.keys[0])
        leaves = tuple(leaf for leaf in watch.packed if watch.takes(at(leaf)))
        origin = self._form.origin(at(leaves[0])) if leaves else ""
        asked = Request(leaves, self._asked.encoding, self._prefix, missed, origin=origin)
        for message in sample.messages(asked, reported) if leaves else ():
            if silent:
                continue
            await self._respond(message)

    # Samples (3.5.1.5.2).

    async def _admitted(self, watch: Watch) -> AbstractContextManager[Grant]:
        """Raises RpcError for what can't be sampled that often."""
        cost = await self._cost(watch)
        what = text(elems(watch.patterns[0])) if watch.patterns else "/"
        asked = 0.0 if watch.flexible else watch.interval
        return self._load.admitted(what, asked, cost, self._least(watch))

    def _least(self, watch: Watch) -> float:
        return watch.interval if watch.flexible else self._fastest

    async def _cost(self, watch: Watch) -> float:
        if watch.is_packed:
            sample = await self._feed.sample()
            return 0.0 if sample is None else packed_cost(sample, watch)
        rendering = await self._rendered(watch, await self._now(watch))
        self._renderings[watch] = rendering
        return rendering.cost(again=not watch.counted)

    async def _rendered(
        self, watch: Watch, snapshot: Snapshot, last: Rendering | None = None
    ) -> Rendering:
        """The leaves of a watch; ``last`` while none of them can have changed since."""
        of = moment(watch, snapshot)
        if last is not None and last.is_of(of):
            return last
        caller = self._caller.again()
        read = replace(snapshot, budget=caller.budget)

        def rendering() -> Rendering:
            return Rendering(of, leaves(read, [watch]), self._form)

        try:
            return await self._workers.run(caller, rendering)
        finally:
            caller.budget.release()

    async def _sample(self, watch: Watch, grant: Grant, first: Snapshot) -> None:
        """Every leaf once per interval, or only what changed. A client that reads too slowly
        misses samples."""
        if watch.is_packed:
            await self._sample_packed(watch, grant)
            return
        last: Rendering | None = None
        if not self._asked.updates_only:
            last = await self._rendered(watch, first, self._renderings.pop(watch, None))
        interval, due = watch.interval, time.monotonic()
        beat = due + watch.heartbeat
        while True:
            due, missed = _next(due, interval)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            snapshot = await self._now(watch)
            now = await self._rendered(watch, snapshot, last)
            alive = bool(watch.heartbeat) and due >= beat
            if alive:
                beat = due + watch.heartbeat
            since = last if watch.suppress and not alive else None
            for response in await self._of_sample(now, snapshot, since, missed):
                await self._respond(response)
            interval = self._load.interval(grant, now.cost(again=now is last), self._least(watch))
            last = now

    async def _of_sample(
        self, now: Rendering, snapshot: Snapshot, since: Rendering | None, missed: int
    ) -> Iterable[bytes]:
        """The messages of one sample; those that have to be encoded in the turn of the client."""
        if since is None and not missed:
            return now.responses(snapshot, None, 0)
        made = partial(now.responses, snapshot, since, missed)
        return await self._workers.run(self._caller.again(), lambda: list(made()))

    async def _sample_packed(self, watch: Watch, grant: Grant) -> None:
        """The same straight from the records."""
        reported = Reported() if watch.suppress else None
        interval, due = watch.interval, time.monotonic()
        beat = due + watch.heartbeat
        while True:
            due, missed = _next(due, interval)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if watch.heartbeat and due >= beat:
                beat = due + watch.heartbeat
                reported = Reported() if watch.suppress else None
            await self._pack(watch, missed, reported)
            interval = self._load.interval(grant, await self._cost(watch), self._least(watch))


def _next(due: float, interval: float) -> tuple[float, int]:
    """When the next sample is due, and how many are missed."""
    due += interval
    missed = max(0, int((time.monotonic() - due) / interval))
    return due + missed * interval, missed


def leaves(snapshot: Snapshot, found: list[Watch]) -> dict[Pattern, Any]:
    """Every leaf that one of the subscriptions names, once."""
    out: dict[Pattern, Any] = {}
    for watch in found:
        for pattern in watch.patterns:
            for at, data in snapshot.find(pattern):
                for path, value in snapshot.leaves(at, data, watch.chosen):
                    if path not in out and snapshot.budget is not None:
                        snapshot.budget.hold(_LEAF_BYTES)
                    out[path] = value
    return out


def check_poll(request: Any) -> None:
    """RpcError for anything but a Poll message."""
    if request.WhichOneof("request") != "poll":
        _reject(request)


async def reject_more(requests: AsyncIterator[Any]) -> None:
    """A STREAM takes no further request; that the client closes its side ends nothing."""
    async for request in requests:
        _reject(request)


def _reject(request: Any) -> None:
    what = request.WhichOneof("request")
    text = {
        "subscribe": "subscribe: a subscription can't be changed; open another RPC",
        "poll": "poll: the subscription is not of mode POLL",
    }.get(what, "subscribe: the request is empty")
    raise RpcError(StatusCode.INVALID_ARGUMENT, text)


async def first_request(requests: AsyncIterator[Any], timeout: float = _TIMEOUT_S) -> Any:
    """The request with the SubscriptionList that every Subscribe begins with (3.5.1.1)."""
    try:
        async with asyncio.timeout(timeout):
            request = await anext(requests, None)
    except TimeoutError:
        raise RpcError(
            StatusCode.DEADLINE_EXCEEDED,
            f"subscribe: no SubscriptionList came for {timeout:g} s; send it at once",
        ) from None
    if request is not None and request.WhichOneof("request") == "subscribe":
        check_encoding(request.subscribe.encoding)
        return request
    raise RpcError(
        StatusCode.INVALID_ARGUMENT,
        "subscribe: the first request must hold a SubscriptionList; there is no subscription yet",
    )
