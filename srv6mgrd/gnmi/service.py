"""The gNMI service: each RPC handed to its room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.datastore.transaction import Edit
from srv6mgrd.gnmi import extensions, get, set, sonic, subscribe, wire
from srv6mgrd.gnmi.extensions import Arbitration, Confirmed, Step
from srv6mgrd.gnmi.failure import RpcError, as_status
from srv6mgrd.gnmi.intake import Intake
from srv6mgrd.gnmi.models import Models
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.rpc import Rpcs
from srv6mgrd.gnmi.subscribe import Telemetry
from srv6mgrd.gnmi.watch import watches
from srv6mgrd.gnmi.workers import Caller
from srv6mgrd.gnmi.writer import time_to_begin

Write = Callable[[Any], Awaitable[None]]
# Edits, who asks for them, and their part in a commit to be confirmed.
Commit = Callable[[list[Edit], Caller, Confirmed | None], None]
# Of any request but a Set, which may hold all of a configuration.
_MOST = 4 << 20
# Sets that wait for the one that is being carried out.
_MOST_SETS = 256


class Service:
    """The servicer. ``commit`` blocks; it is called in a thread of its own, one at a time."""

    def __init__(
        self,
        models: Models,
        telemetry: Telemetry,
        commit: Commit,
        *,
        permit: Callable[[str | None], Permit],
        most: int,
    ) -> None:
        """``permit`` gives what a user may read; ``most`` Subscribe RPCs run at once."""
        self._models = models
        self._known = frozenset(m.name for m in models.served)
        self._telemetry = telemetry
        self._commit = commit
        self._permit = permit
        self._most = most
        self._subscribers: list[asyncio.Task[None]] = []
        self._ending = False
        self._arbitration = Arbitration()
        self._sets = 0
        self._writer = ThreadPoolExecutor(1, "commit")

    def handlers(self, rpcs: Rpcs, most_set: int) -> grpc.GenericRpcHandler:
        """``most_set`` bytes are the longest Set."""
        reads = Intake(_MOST)
        return grpc.method_handlers_generic_handler(
            wire.SERVICE,
            {
                "Capabilities": rpcs.unary(
                    "capabilities", pb.CapabilityRequest, reads, self.capabilities
                ),
                "Get": rpcs.unary("get", pb.GetRequest, reads, self.get),
                "Set": rpcs.unary("set", pb.SetRequest, Intake(most_set), self.set, changes=True),
                "Subscribe": rpcs.streaming(
                    "subscribe",
                    pb.SubscribeRequest,
                    Intake(_MOST, prompt=3, slow=4, seconds=60),
                    self._subscriber,
                ),
            },
        )

    async def capabilities(self, request: Any, _caller: Caller) -> Any:
        """3.2"""
        extensions.read(request, extensions.CAPABILITIES)
        return pb.CapabilityResponse(
            supported_models=[
                pb.ModelData(name=m.name, organization=m.organization, version=m.version)
                for m in self._models.served
            ],
            supported_encodings=wire.ENCODINGS,
            gNMI_version=wire.VERSION,
        )

    async def get(self, request: Any, caller: Caller) -> Any:
        """3.3"""
        depth = extensions.read(request, extensions.GET).depth
        run, budget = self._telemetry.workers.run, caller.budget
        permit, feed = self._permit(caller.user), self._telemetry.feed
        if sonic.concerns(request):
            snapshot = replace(await feed.snapshot(), budget=budget)
            return await run(caller, sonic.get, request, snapshot, permit)
        known = feed.at_once()
        asked, packs, answer = await run(
            caller,
            get.prepared,
            request,
            feed.model,
            self._known,
            permit,
            depth,
            budget=budget,
            snapshot=known and replace(known, budget=budget),
        )
        if answer is not None:
            return answer
        if packs is not None and (sample := await feed.sample()) is not None:
            answer = await run(caller, get.packed, asked, packs, sample, budget)
            if answer is not None:
                return answer
        snapshot = replace(await feed.snapshot(), budget=budget)
        return await run(caller, get.get, asked, snapshot)

    async def set(self, request: Any, caller: Caller) -> Any:
        """3.4. The feed has the change before this returns: sysrepo waits for its subscribers."""
        if self._sets >= _MOST_SETS:
            raise RpcError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"set: {_MOST_SETS} others wait; try again when they are done",
            )
        write = partial(self._set, request, caller)
        self._sets += 1
        try:
            return await self._in_turn(write, caller)
        finally:
            self._sets -= 1

    async def _in_turn(self, write: Callable[[], Any], caller: Caller) -> Any:
        """``write`` when those before it are done; it is not begun behind the client's deadline."""
        writing = self._writer.submit(write)
        waiting = asyncio.wrap_future(writing)
        try:
            await asyncio.wait({waiting}, timeout=time_to_begin(caller))
        except asyncio.CancelledError:
            waiting.cancel()
            raise
        if not waiting.done() and writing.cancel():
            raise RpcError(
                grpc.StatusCode.DEADLINE_EXCEEDED,
                "set: it waited behind others until its deadline and nothing was changed; try"
                " again",
            )
        return await waiting

    def _set(self, request: Any, caller: Caller) -> Any:
        # Here, where one Set follows the other: none of an older master may slip in between.
        asked = extensions.read(request, extensions.SET)
        self._arbitration.check(asked.election)
        operations, edits = set.edits(self._models.root, request)
        if operations and asked.confirmed is not None and asked.confirmed.step is not Step.BEGIN:
            raise RpcError(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"extension commit: {asked.confirmed.step.value} must be alone; send the"
                " operations in another Set",
            )
        with as_status():
            self._commit(edits, caller, asked.confirmed)
        return set.response(request, operations)

    async def _subscriber(self, requests: AsyncIterator[Any], write: Write, caller: Caller) -> None:
        if self._ending:
            raise _stopped()
        if len(self._subscribers) >= self._most:
            raise RpcError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"subscribe: {self._most} Subscribe RPCs are open; end one, or raise"
                " max_subscribers",
            )
        serving = asyncio.create_task(self.subscribe(requests, write, caller))
        self._subscribers.append(serving)
        try:
            await serving
        except asyncio.CancelledError:
            if self._ending:
                raise _stopped() from None
            raise  # the client left
        finally:
            self._subscribers.remove(serving)

    def end(self) -> None:
        """End every Subscribe RPC in words; none is taken any more."""
        self._ending = True
        for serving in self._subscribers:
            serving.cancel()

    async def subscribe(self, requests: AsyncIterator[Any], write: Write, caller: Caller) -> None:
        """3.5"""
        request = await subscribe.first_request(requests)
        depth = extensions.read(request, extensions.SUBSCRIBE).depth
        asked, permit = request.subscribe, self._permit(caller.user)
        caller = caller.again()
        telemetry = self._telemetry
        if sonic.concerns(asked):
            await sonic.Subscription(telemetry, caller, asked, permit, write).serve(requests)
            return
        found = await telemetry.workers.run(
            caller,
            watches,
            telemetry.feed.model,
            asked,
            self._known,
            telemetry.limits,
            permit=permit,
            depth=depth,
            budget=caller.budget,
        )
        rpc = subscribe.Subscription(telemetry, caller, asked, found, write)
        if asked.mode == pb.SubscriptionList.ONCE:
            await rpc.once()
        elif asked.mode == pb.SubscriptionList.POLL:
            await rpc.poll(requests)
        else:
            await rpc.stream(requests)

    def close(self) -> None:
        self._writer.shutdown()
        self._telemetry.workers.close()


def _stopped() -> RpcError:
    return RpcError(grpc.StatusCode.UNAVAILABLE, "srv6-gnmid: it is stopping; connect again")
