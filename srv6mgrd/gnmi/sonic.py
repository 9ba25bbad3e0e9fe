"""Counters of SIDs as sonic-gnmi serves them (sonic_data_client/virtual_db.go).

A request whose prefix has the target COUNTERS_DB, or whose path begins with COUNTERS_DB and
localhost under the origin sonic-db, names ``COUNTERS/SID*`` or ``COUNTERS/SID:NAME``. The answer
is one JSON object at the path that was asked for, not leaves of a schema: so this has a room of
its own beside the trees.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnmi_pb import gnmi_pb2 as pb
from grpc import StatusCode

from srv6mgrd.counters import sonic
from srv6mgrd.gnmi import encode, wire
from srv6mgrd.gnmi.budget import Budget
from srv6mgrd.gnmi.failure import RpcError, as_status, check_number
from srv6mgrd.gnmi.path import Path, parse, resolve
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.sampling import PER_LEAF, Grant
from srv6mgrd.gnmi.subscribe import Telemetry, check_poll, reject_more
from srv6mgrd.gnmi.turns import rest, restful
from srv6mgrd.gnmi.view import Snapshot
from srv6mgrd.gnmi.watch import SampleLimits, check_list, intervals
from srv6mgrd.gnmi.workers import Caller
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.model.status import Kind as Object

ORIGIN = "sonic-db"
_ABOVE = (sonic.DATABASE, "localhost")
_LOCATORS = ("srv6mgr-srv6:srv6", "locators", "locator")

Values = Mapping[str, Mapping[str, str]]


def concerns(request: Any) -> bool:
    """Whether a GetRequest or SubscriptionList asks for this."""
    prefix = request.prefix
    if isinstance(request, pb.GetRequest):
        paths = list(request.path)
    else:
        paths = [subscription.path for subscription in request.subscription]
    origins = {prefix.origin, *(p.origin for p in paths)}
    return prefix.target == sonic.DATABASE or ORIGIN in origins


def get(request: Any, snapshot: Snapshot, permit: Permit | None) -> bytes:
    """The GetResponse."""
    _check_encoding(request.encoding)
    check_number(len(request.path), "get")
    prefix = _read(request.prefix)
    asked = [(path, _name(prefix, path)) for path in restful(request.path, every=20)]
    values = counters(snapshot, permit)
    encoder = _Encoder(values, request.encoding, snapshot.budget)
    out = []
    for path, name in asked:
        if name is not None and name not in values:
            raise RpcError(
                StatusCode.NOT_FOUND, f"SID:{name}: no such SID counts; see COUNTERS/SID*"
            )
        at = snapshot.sampled_at or time.time_ns()
        reported = wire.notification(at, prefix, [encoder.update(path, name)])
        out.append(wire.serialize(pb.GetResponse(notification=[reported])))
    # Several are one with all of their notifications.
    return b"".join(out)


def counters(snapshot: Snapshot, permit: Permit | None) -> dict[str, Mapping[str, str]]:
    """Fields of every SID that is installed and counts, by its name; as far as ``permit`` lets
    its packets be read."""
    locators: Any = snapshot.config
    for member in _LOCATORS:
        locators = locators.get(member, {})
    (sids,) = resolve(snapshot.model.root, Path(parse("/srv6/local-sids/sid/prefix")))
    (packets,) = resolve(
        snapshot.model.root, Path(parse("/srv6/local-sids/sid/state/counters/in-pkts"))
    )
    out = {}
    for at, prefix in snapshot.find(sids):
        sid = snapshot.shown(Object.SID, prefix)
        if sid is None or sid.status.status is not InstallStatus.INSTALLED:
            continue
        if sid.config.get("counters") is False:
            continue
        if permit is not None and not permit((*at[:-1], *packets[len(at) - 1 :])):
            continue
        lengths = locators[sid.config["locator"],]
        name = sonic.name(
            prefix, *(int(lengths[f"{part}-length"]) for part in ("block", "node", "function"))
        )
        out[name] = sonic.fields(sid.counters)
    return out


class _Encoder:
    """Writes counters as updates. Those that several paths name are encoded once."""

    def __init__(self, values: Values, encoding: int, budget: Budget | None) -> None:
        self._values, self._budget = values, budget
        self._field = "json_val" if encoding == wire.JSON else "json_ietf_val"
        self._known: dict[str | None, Any] = {}

    def update(self, path: Any, name: str | None) -> Any:
        """Raises BudgetError."""
        if name not in self._known:
            text = encode.dumps(_value(self._values, name))
            self._known[name] = pb.TypedValue(**{self._field: text})
        found = pb.Update(path=path, val=self._known[name])
        if self._budget is not None:
            self._budget.hold(found.ByteSize())
        rest()
        return found


@dataclass(slots=True)
class _Watch:
    """One subscription. ``interval`` 0: sent on change."""

    path: Any
    name: str | None
    interval: float
    suppress: bool
    heartbeat: float
    # The client left the interval to us.
    flexible: bool = False
    last: Any = None


class Subscription:
    """One Subscribe RPC."""

    def __init__(
        self,
        telemetry: Telemetry,
        caller: Caller,
        asked: Any,
        permit: Permit | None,
        write: Callable[[Any], Awaitable[None]],
    ) -> None:
        """``asked`` is the SubscriptionList."""
        check_list(asked)
        _check_encoding(asked.encoding)
        self._feed, self._workers = telemetry.feed, telemetry.workers
        self._load, self._limits = telemetry.load, telemetry.limits
        self._caller, self._permit, self._write = caller, permit, write
        self._asked = asked
        self._prefix = _read(asked.prefix)
        self._watches = [_watch(self._prefix, item, self._limits) for item in asked.subscription]

    async def serve(self, requests: AsyncIterator[Any]) -> None:
        with contextlib.ExitStack() as held:
            await self._serve(requests, [await self._admitted(w, held) for w in self._watches])

    async def _admitted(self, watch: _Watch, held: contextlib.ExitStack) -> Grant | None:
        """None for what is not sampled. Raises RpcError."""
        if not watch.interval or self._asked.mode != pb.SubscriptionList.STREAM:
            return None
        cost = len(await self._counters(await self._feed.snapshot())) * PER_LEAF
        asked = 0.0 if watch.flexible else watch.interval
        what = f"COUNTERS/SID{'*' if watch.name is None else f':{watch.name}'}"
        return held.enter_context(self._load.admitted(what, asked, cost, self._least(watch)))

    async def _counters(self, snapshot: Snapshot) -> dict[str, Mapping[str, str]]:
        caller = self._caller.again()
        read = replace(snapshot, budget=caller.budget)
        return await self._workers.run(caller, counters, read, self._permit)

    async def _serve(self, requests: AsyncIterator[Any], grants: Sequence[Grant | None]) -> None:
        if not self._asked.updates_only:
            await self._report(self._watches)
        await self._write(wire.sync_response())
        if self._asked.mode == pb.SubscriptionList.POLL:
            async for request in requests:
                check_poll(request)
                await self._report(self._watches)
                await self._write(wire.sync_response())
        elif self._asked.mode == pb.SubscriptionList.STREAM:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(reject_more(requests))
                for watch, grant in zip(self._watches, grants, strict=True):
                    task = self._follow(watch) if grant is None else self._sample(watch, grant)
                    tasks.create_task(task)

    def _least(self, watch: _Watch) -> float:
        return watch.interval if watch.flexible else self._limits.fastest

    async def _sample(self, watch: _Watch, grant: Grant) -> None:
        due = beat = time.monotonic()
        interval = watch.interval
        while True:
            # A client that reads too slowly misses samples.
            due = max(due + interval, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            again = bool(watch.heartbeat) and due >= beat + watch.heartbeat
            beat = due if again else beat
            read = await self._report([watch], changed=watch.suppress and not again)
            interval = self._load.interval(grant, read * PER_LEAF, self._least(watch))

    async def _follow(self, watch: _Watch) -> None:
        moved = asyncio.Event()
        end = self._feed.listen(lambda _: moved.set(), counters=True)
        try:
            while True:
                try:
                    async with asyncio.timeout(watch.heartbeat or None):
                        await moved.wait()
                except TimeoutError:
                    await self._report([watch])
                    continue
                moved.clear()
                await self._report([watch], changed=True)
        finally:
            end()

    async def _report(self, watches: list[_Watch], *, changed: bool = False) -> int:
        """The values now; with ``changed`` only those not sent last. How many SIDs were read."""
        caller = self._caller.again()
        snapshot = replace(await self._feed.snapshot(), budget=caller.budget)
        try:
            run = self._workers.run
            sids, message = await run(caller, self._response, snapshot, watches, changed=changed)
            if message:
                await self._write(message)
        finally:
            caller.budget.release()
        return sids

    def _response(
        self, snapshot: Snapshot, watches: list[_Watch], *, changed: bool
    ) -> tuple[int, bytes]:
        """How many SIDs were read, and the SubscribeResponse; empty when there is nothing new.
        In a thread beside the event loop: of many SIDs it takes long."""
        values = counters(snapshot, self._permit)
        encoder = _Encoder(values, self._asked.encoding, snapshot.budget)
        updates, deletes = [], []
        for watch in watches:
            value = _value(values, watch.name)
            if changed and value == watch.last:
                continue
            if value is not None:
                updates.append(encoder.update(watch.path, watch.name))
            elif watch.last is not None:
                deletes.append(watch.path)
            watch.last = value
        if not (updates or deletes):
            return len(values), b""
        at = snapshot.sampled_at or time.time_ns()
        message = wire.notification(at, self._prefix, updates, deletes)
        return len(values), wire.serialize(pb.SubscribeResponse(update=message))


def _watch(prefix: Path, item: Any, limits: SampleLimits) -> _Watch:
    name = _name(prefix, item.path)
    interval, heartbeat = intervals(item, _read(item.path), limits)
    flexible = item.mode != pb.ON_CHANGE and not item.sample_interval
    return _Watch(item.path, name, interval, item.suppress_redundant, heartbeat, flexible)


def _read(path: Any) -> Path:
    with as_status():
        return wire.read_path(path)


def _name(prefix: Path, path: Any) -> str | None:
    """The SID that a path names, None for all of them. RpcError for any other path."""
    own = _read(path)
    names = [elem.name for elem in (*prefix.elems, *own.elems)]
    if ORIGIN in (prefix.origin, own.origin):
        if tuple(names[:2]) != _ABOVE:
            raise RpcError(
                StatusCode.UNIMPLEMENTED,
                f"origin {ORIGIN}: of SONiC's databases only {'/'.join(_ABOVE)} is served; ask"
                " Redis for others",
            )
        names = names[2:]
    match names:
        # As in sonic-gnmi (sonic_data_client/virtual_db.go), whatever is in front of the asterisk.
        case ["COUNTERS", name] if name.startswith("SID") and name.endswith("*"):
            return None
        case ["COUNTERS", name] if name.startswith("SID:"):
            return name.removeprefix("SID:")
    raise RpcError(
        StatusCode.UNIMPLEMENTED,
        f"{sonic.DATABASE}/{'/'.join(names)}: COUNTERS/SID* and COUNTERS/SID:NAME are served; ask"
        " Redis for others",
    )


def _value(values: Values, name: str | None) -> Any:
    return values if name is None else values.get(name)


def _check_encoding(encoding: int) -> None:
    if encoding not in (wire.JSON, wire.JSON_IETF):
        raise RpcError(
            StatusCode.UNIMPLEMENTED,
            f"encoding {wire.encoding_name(encoding)}: {sonic.DATABASE} is told as JSON objects;"
            " use JSON_IETF or JSON",
        )
