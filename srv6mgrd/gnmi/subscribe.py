"""Subscribe (gnmi-specification.md 3.5): ONCE, POLL and STREAM."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.change import Change, select
from srv6mgrd.gnmi.failure import RpcError, as_status, check_encoding
from srv6mgrd.gnmi.feed import Feed
from srv6mgrd.gnmi.get import want_models
from srv6mgrd.gnmi.outbox import Batch, Outbox, responses
from srv6mgrd.gnmi.pack import Request, Sample, Told, counts_all, named
from srv6mgrd.gnmi.path import Path, Pattern, UnknownPathError, absolute, resolve
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.schema import Node
from srv6mgrd.gnmi.view import Model, Selection, Snapshot, is_counter

_NS = 1_000_000_000
MOST_PATHS = 1000
# Whoever opens a stream and says nothing takes the place of another subscriber.
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """``fastest`` sampling that a client may ask for; ``counters`` when we choose. Seconds."""

    fastest: float = 0.1
    counters: float = 5.0


@dataclass(frozen=True, slots=True)
class Watch:
    """One subscription, resolved: sampled when it has an interval, else told on change."""

    patterns: tuple[Pattern, ...]
    chosen: Selection
    interval: float = 0.0
    suppress: bool = False
    heartbeat: float = 0.0
    # Counters of every SID that it names; when these are all, they are sent as they are stored.
    packed: tuple[Node, ...] = ()
    only_packed: bool = False

    @property
    def is_packed(self) -> bool:
        """Rules that tell one SID from another take the long way."""
        permit = self.chosen.permit
        return self.only_packed and (permit is None or not permit.is_keyed)

    def takes(self, at: Pattern) -> bool:
        """Whether one of its paths gives this leaf."""
        return any(
            counts_all(p, at[-1].node) and self.chosen.takes(at, len(p)) for p in self.patterns
        )


def check_list(asked: Any) -> None:
    """RpcError for a SubscriptionList that nobody can serve, whatever its paths name."""
    if not asked.subscription:
        raise RpcError(StatusCode.INVALID_ARGUMENT, "subscribe: there is no subscription")
    for what, given, known_modes in (
        ("mode", [asked.mode], pb.SubscriptionList.Mode),
        ("subscription mode", [s.mode for s in asked.subscription], pb.SubscriptionMode),
    ):
        if unknown := set(given).difference(known_modes.values()):
            raise RpcError(
                StatusCode.INVALID_ARGUMENT,
                f"subscribe: {what} {min(unknown)} is unknown; use one of gnmi.proto",
            )
    if len(asked.subscription) > MOST_PATHS:
        raise RpcError(
            StatusCode.RESOURCE_EXHAUSTED,
            f"subscribe: {len(asked.subscription)} subscriptions in one list, {MOST_PATHS} are"
            " taken; use wildcards",
        )


def watches(
    model: Model,
    asked: Any,
    known: frozenset[str],
    pace: Pace,
    *,
    permit: Permit | None = None,
    depth: int = 0,
) -> list[Watch]:
    """The subscriptions of a SubscriptionList, of what ``permit`` lets through; TARGET_DEFINED
    becomes two of them."""
    check_list(asked)
    want = want_models(lambda _: True, asked.use_models, known)
    chosen = Selection(want, permit, depth)
    told = replace(chosen, want=lambda n: want(n) and not is_counter(n))
    counted = replace(chosen, want=lambda n: want(n) and is_counter(n))
    out: list[Watch] = []
    with as_status():
        prefix = wire.read_path(asked.prefix)
        for item in asked.subscription:
            path = absolute(prefix, wire.read_path(item.path))
            try:
                patterns = tuple(resolve(model.root, path, model.views))
            except UnknownPathError as e:
                raise RpcError(StatusCode.UNIMPLEMENTED, str(e)) from e  # 3.5.2.4
            out += (
                _with_packed(model, watch)
                for watch in (
                    _by_target(item, path, patterns, (told, counted), pace)
                    if item.mode == pb.TARGET_DEFINED
                    else [_watch(item, path, patterns, chosen, pace)]
                )
            )
    return _joined(out)


def _with_packed(model: Model, watch: Watch) -> Watch:
    packed, only = named(model.root, watch.patterns, watch.chosen.want)
    return replace(watch, packed=packed, only_packed=only)


def _watch(
    item: Any, path: Path, patterns: tuple[Pattern, ...], chosen: Selection, pace: Pace
) -> Watch:
    interval, heartbeat = paced(item, path, pace)
    suppress = item.suppress_redundant and item.mode == pb.SAMPLE
    return Watch(patterns, chosen, interval, suppress, heartbeat)


def _by_target(
    item: Any,
    path: Path,
    patterns: tuple[Pattern, ...],
    chosen: tuple[Selection, Selection],
    pace: Pace,
) -> list[Watch]:
    """What is told on change, and the counters, which are sampled."""
    told, counted = chosen
    interval, heartbeat = paced(item, path, pace)
    return [
        Watch(patterns, told, heartbeat=heartbeat),
        Watch(patterns, counted, interval, heartbeat=heartbeat),
    ]


def _joined(found: list[Watch]) -> list[Watch]:
    """Counters of every SID as one Watch where they differ in nothing but the path: each leaf a
    path of its own is how collectors ask for them."""
    out: list[Watch] = []
    alike: dict[tuple[Any, ...], int] = {}
    for watch in found:
        kind = (watch.chosen, watch.interval, watch.suppress, watch.heartbeat)
        at = alike.setdefault(kind, len(out)) if watch.only_packed else len(out)
        if at == len(out):
            out.append(watch)
            continue
        first = out[at]
        packed = tuple(dict.fromkeys((*first.packed, *watch.packed)))
        out[at] = replace(first, patterns=(*first.patterns, *watch.patterns), packed=packed)
    return out


def paced(item: Any, path: Path, pace: Pace) -> tuple[float, float]:
    """Seconds between samples, of counters if the mode is TARGET_DEFINED (0: told on change), and
    between heartbeats (0: none)."""
    heartbeat, interval = item.heartbeat_interval / _NS, item.sample_interval / _NS
    if heartbeat and heartbeat < pace.fastest:
        raise _too_fast(path, "heartbeat_interval", pace)
    if item.mode == pb.ON_CHANGE:
        return 0.0, heartbeat
    if item.mode == pb.SAMPLE:
        if interval and interval < pace.fastest:
            raise _too_fast(path, "sample_interval", pace)
        return interval or pace.fastest, heartbeat
    if interval:
        raise RpcError(
            StatusCode.INVALID_ARGUMENT,
            f"path {path}: TARGET_DEFINED takes no sample_interval; leave it out or use SAMPLE",
        )
    return pace.counters, heartbeat


def _too_fast(path: Path, what: str, pace: Pace) -> RpcError:
    return RpcError(
        StatusCode.INVALID_ARGUMENT,
        f"path {path}: {what} is too short; {pace.fastest:g} s is the shortest",
    )


class Subscription:
    """One Subscribe RPC."""

    def __init__(
        self,
        feed: Feed,
        pool: Executor,
        asked: Any,
        found: list[Watch],
        write: Callable[[Any], Awaitable[None]],
    ) -> None:
        self._feed = feed
        self._pool = pool
        self._asked = asked
        self._watches = found
        self._write = write
        self._prefix = wire.read_path(asked.prefix)
        self._outbox = Outbox()
        # Told on change, though it is sent as it is stored; what was told of it, and from what.
        self._followed: Watch | None = None
        self._told = Told()
        self._last: Sample | None = None
        # Two of our tasks must not write at once.
        self._writing = asyncio.Lock()

    def _to_follow(self) -> Watch | None:
        """Counters of all SIDs on change: leaf by leaf a hundred thousand SIDs would hold up
        everybody. Only where nothing else tells counters on change."""
        packed = [w for w in self._watches if w.is_packed]
        others = [w for w in self._watches if not (w.is_packed or w.interval)]
        if len(packed) != 1 or packed[0].interval or packed[0].heartbeat:
            return None
        return None if any(self._counts(w) for w in others) else packed[0]

    def _counts(self, watch: Watch) -> bool:
        """Whether it names counters."""
        return any(
            is_counter(node) and watch.chosen.want(node)
            for pattern in watch.patterns
            for node in (pattern[-1].node if pattern else self._feed.root).descendants()
        )

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
            await self._send(first or await self._feed.snapshot(), rest)
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
        self._followed = self._to_follow()
        on_change = [w for w in self._watches if not w.interval]
        sampled = [w for w in self._watches if w.interval]
        packed = all(w.is_packed for w in self._watches)
        first = await (self._feed.without_counters() if packed else self._feed.snapshot())
        # The event loop is not left in between, so no change is lost and none is told twice;
        # one that comes during the initial updates waits in the outbox.
        end = self._listen(on_change) if on_change else None
        try:
            if not self._asked.updates_only:
                await self._present(first)
            elif self._followed is not None:
                await self._pack(self._followed, silent=True)
            await self._write(wire.sync_response())
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(refuse_more(requests))
                tasks.create_task(self._drain())
                if self._followed is not None:
                    tasks.create_task(self._follow(self._followed))
                for watch in sampled:
                    tasks.create_task(self._sample(watch, first))
                for watch in on_change:
                    if watch.heartbeat:
                        tasks.create_task(self._beat(watch))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        finally:
            if end is not None:
                end()

    def _listen(self, on_change: list[Watch]) -> Callable[[], None]:
        others = [w for w in on_change if w is not self._followed]
        subscribed = [(p, w.chosen) for w in others for p in w.patterns]
        followed = [(p, w.chosen) for w in on_change if w not in others for p in w.patterns]
        counters = any(self._counts(w) for w in others)

        def told(change: Change) -> None:
            updates, deletes = select(change, subscribed)
            if followed:
                # Its values come with the next sample.
                _, gone = select(change, followed)
                deletes = list(dict.fromkeys((*deletes, *gone)))
            if updates or deletes:
                self._outbox.put(Batch(change.at, dict(updates), deletes))

        return self._feed.listen(told, counters=counters)

    async def _drain(self) -> None:
        while True:
            await self._put(await self._outbox.get())

    async def _put(self, batch: Batch) -> None:
        for response in responses(batch, self._prefix, self._asked.encoding):
            async with self._writing:
                await self._write(response)

    async def _send(self, snapshot: Snapshot, found: list[Watch]) -> None:
        for batch in batches(await self._leaves(snapshot, found), snapshot):
            await self._put(batch)

    async def _follow(self, watch: Watch) -> None:
        """What changes from one sample to the next. A client that reads too slowly misses some."""
        while True:
            last, sample = self._last, await self._feed.next_sample(self._last)
            missed = 0 if last is None else sample.records.sample - last.records.sample - 1
            await self._pack(watch, max(0, missed), self._told, sample)

    async def _pack(
        self,
        watch: Watch,
        missed: int = 0,
        told: Told | None = None,
        sample: Sample | None = None,
        *,
        silent: bool = False,
    ) -> None:
        """The counters of all SIDs, as far as ``watch`` is to have them; ``silent``: they count as
        told."""
        if not (watch.is_packed or silent):  # since a rule tells one SID from another
            await self._send(await self._feed.snapshot(), [watch])
        sample = sample or await self._feed.sample()
        if watch is self._followed:
            told, self._last = self._told, sample
        if not watch.is_packed or sample is None or not sample.table.keys:
            return
        at = partial(sample.table.at, sample.table.keys[0])
        leaves = tuple(leaf for leaf in watch.packed if watch.takes(at(leaf)))
        asked = Request(leaves, self._asked.encoding, self._prefix, missed)
        for message in sample.messages(asked, told) if leaves else ():
            if silent:
                continue
            async with self._writing:
                await self._write(message)

    async def _leaves(self, snapshot: Snapshot, found: list[Watch]) -> dict[Pattern, Any]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, leaves, snapshot, found)

    async def _sample(self, watch: Watch, first: Snapshot) -> None:
        """3.5.1.5.2 SAMPLE: every leaf once per interval, or only what changed."""
        if watch.is_packed:
            await self._sample_packed(watch)
            return
        last: dict[Pattern, Any] = {}
        if watch.suppress and not self._asked.updates_only:
            last = await self._leaves(first, [watch])
        due = time.monotonic()
        beat = due + watch.heartbeat
        while True:
            due = max(due + watch.interval, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            snapshot = await self._feed.snapshot()
            now = await self._leaves(snapshot, [watch])
            send = now
            if watch.suppress:
                alive = bool(watch.heartbeat) and due >= beat
                if alive:
                    beat = due + watch.heartbeat
                else:
                    send = {p: v for p, v in now.items() if last.get(p, watch) != v}
                last = now
            for batch in batches(send, snapshot):
                self._outbox.put(batch)

    async def _sample_packed(self, watch: Watch) -> None:
        """The same straight from the records. A client that reads too slowly misses samples."""
        told = Told() if watch.suppress else None
        due = time.monotonic()
        beat = due + watch.heartbeat
        while True:
            due += watch.interval
            missed = max(0, int((time.monotonic() - due) / watch.interval))
            due += missed * watch.interval
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if watch.heartbeat and due >= beat:
                beat = due + watch.heartbeat
                told = Told() if watch.suppress else None
            await self._pack(watch, missed, told)

    async def _beat(self, watch: Watch) -> None:
        while True:
            await asyncio.sleep(watch.heartbeat)
            snapshot = await self._feed.snapshot()
            for batch in batches(await self._leaves(snapshot, [watch]), snapshot):
                self._outbox.put(batch)


def leaves(snapshot: Snapshot, found: list[Watch]) -> dict[Pattern, Any]:
    """Every leaf that one of the subscriptions names, once."""
    return {
        path: value
        for watch in found
        for pattern in watch.patterns
        for at, data in snapshot.find(pattern)
        for path, value in snapshot.leaves(at, data, watch.chosen)
    }


def batches(values: dict[Pattern, Any], snapshot: Snapshot) -> list[Batch]:
    """Counters carry the time of their sample (3.5.2.1), everything else is known now."""
    now = time.time_ns()
    counted = {p: v for p, v in values.items() if is_counter(p[-1].node)}
    other = {p: v for p, v in values.items() if p not in counted} if counted else values
    return [
        Batch(at, part)
        for at, part in ((now, other), (snapshot.sampled_at or now, counted))
        if part
    ]


def check_poll(request: Any) -> None:
    """RpcError for anything but a Poll message."""
    if request.WhichOneof("request") != "poll":
        _refuse(request)


async def refuse_more(requests: AsyncIterator[Any]) -> None:
    """A STREAM takes no further request; that the client closes its side ends nothing."""
    async for request in requests:
        _refuse(request)


def _refuse(request: Any) -> None:
    what = request.WhichOneof("request")
    text = {
        "subscribe": "subscribe: a subscription can't be changed; open another RPC",
        "poll": "poll: the subscription is not of mode POLL",
    }.get(what, "subscribe: the request is empty")
    raise RpcError(StatusCode.INVALID_ARGUMENT, text)


async def first_request(requests: AsyncIterator[Any], patience: float = _PATIENCE_S) -> Any:
    """The request with the SubscriptionList that every Subscribe begins with (3.5.1.1)."""
    try:
        async with asyncio.timeout(patience):
            request = await anext(requests, None)
    except TimeoutError:
        raise RpcError(
            StatusCode.DEADLINE_EXCEEDED,
            f"subscribe: no SubscriptionList came for {patience:g} s; send it at once",
        ) from None
    if request is not None and request.WhichOneof("request") == "subscribe":
        check_encoding(request.subscribe.encoding)
        return request
    raise RpcError(
        StatusCode.INVALID_ARGUMENT,
        "subscribe: the first request must hold a SubscriptionList; there is no subscription yet",
    )
