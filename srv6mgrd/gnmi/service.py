"""The gNMI service: each RPC handed to its room, failures turned into a status."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.datastore.transaction import Edit
from srv6mgrd.gnmi import extensions, get, set, sonic, subscribe, wire
from srv6mgrd.gnmi.access import Access, certified
from srv6mgrd.gnmi.extensions import Arbitration, Confirmed, Step
from srv6mgrd.gnmi.failure import RpcError, as_status, clipped
from srv6mgrd.gnmi.feed import Feed
from srv6mgrd.gnmi.models import Models
from srv6mgrd.gnmi.rights import Permit
from srv6mgrd.gnmi.subscribe import Pace

_LOG = logging.getLogger(__name__)

Context = grpc.aio.ServicerContext
# Edits, the user who asks for them, and their part in a commit to be confirmed.
Commit = Callable[[list[Edit], str | None, Confirmed | None], None]


class Service:
    """The servicer. ``commit`` blocks; it is called in a thread of its own, one at a time."""

    def __init__(
        self,
        models: Models,
        feed: Feed,
        commit: Commit,
        access: Access,
        *,
        permit: Callable[[str | None], Permit | None],
        pace: Pace,
        most: int,
    ) -> None:
        """``permit`` gives what a user may read; ``most`` Subscribe RPCs run at once."""
        self._models = models
        self._known = frozenset(m.name for m in models.served)
        self._feed = feed
        self._commit = commit
        self._access = access
        self._permit = permit
        self._pace = pace
        self._most = most
        self._subscribers: list[asyncio.Task[None]] = []
        self._ending = False
        self._arbitration = Arbitration()
        self._writer = ThreadPoolExecutor(1, "commit")
        self._readers = ThreadPoolExecutor(2, "read")

    def handlers(self) -> grpc.GenericRpcHandler:
        """gRPC handlers whose answers may be bytes already."""
        make = {
            "Capabilities": (self.capabilities, pb.CapabilityRequest),
            "Get": (self.get, pb.GetRequest),
            "Set": (self.set, pb.SetRequest),
        }
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                self._unary(call), wire.reader(request), wire.serialize
            )
            for name, (call, request) in make.items()
        }
        handlers["Subscribe"] = grpc.stream_stream_rpc_method_handler(
            self._subscribe, wire.reader(pb.SubscribeRequest), wire.serialize
        )
        return grpc.method_handlers_generic_handler(wire.SERVICE, handlers)

    def _unary(
        self, call: Callable[[Any, str | None], Awaitable[Any]]
    ) -> Callable[[Any, Any], Any]:
        async def handle(request: Any, context: Context[Any, Any]) -> Any:
            return await self._guarded(context, lambda user: call(_whole(request), user))

        return handle

    async def _subscribe(self, requests: AsyncIterator[Any], context: Context[Any, Any]) -> None:
        whole = _Whole(requests)
        await self._guarded(context, lambda user: self._subscriber(whole, context.write, user))

    async def _guarded(
        self, context: Context[Any, Any], call: Callable[[str | None], Awaitable[Any]]
    ) -> Any:
        try:
            metadata = tuple(context.invocation_metadata() or ())
            name = certified(context.auth_context())
            loop = asyncio.get_running_loop()
            user = await loop.run_in_executor(self._readers, self._access.check, metadata, name)
            return await call(user)
        except RpcError as e:
            code, text = e.code, e.text
        except grpc.aio.BaseError:
            return None  # the client left while it was being written to
        except Exception as e:
            _LOG.exception("an RPC failed")
            code, text = grpc.StatusCode.INTERNAL, f"srv6-gnmid: {type(e).__name__}; see its log"
        # Behind a write that waits for its reader no status can be sent (RFC 9113 section 5.2): the
        # stream of such a one is reset, when the server ends or its client leaves.
        try:
            return await context.abort(code, clipped(text))
        except grpc.aio.InternalError:
            # gRPC found that write (TOO_MANY_OPERATIONS); returning would send a status, too.
            raise asyncio.CancelledError from None

    async def capabilities(self, request: Any, _user: str | None) -> Any:
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

    async def get(self, request: Any, user: str | None) -> Any:
        """3.3"""
        depth = extensions.read(request, extensions.GET).depth
        run = partial(asyncio.get_running_loop().run_in_executor, self._readers)
        permit, model = self._permit(user), self._feed.model
        if sonic.concerns(request):
            return await run(sonic.get, request, await self._feed.snapshot(), permit)
        asked = await run(get.read, request, model, self._known, permit, depth)
        packs = get.packs(asked, model)
        if packs is not None and (sample := await self._feed.sample()) is not None:
            answer = await run(get.packed, asked, packs, sample)
            if answer is not None:
                return answer
        return await run(get.get, asked, await self._feed.snapshot())

    async def set(self, request: Any, user: str | None) -> Any:
        """3.4. The feed has the change before this returns: sysrepo waits for its subscribers."""
        write = partial(self._set, request, user)
        return await asyncio.get_running_loop().run_in_executor(self._writer, write)

    def _set(self, request: Any, user: str | None) -> Any:
        # Here, where one Set follows the other: none of an older master may slip in between.
        asked = extensions.read(request, extensions.SET)
        self._arbitration.check(asked.election)
        operations, edits = set.edits(self._models.root, request)
        if operations and asked.confirmed is not None and asked.confirmed.step is not Step.BEGIN:
            raise RpcError(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"extension commit: {asked.confirmed.step.value} stands alone; send the"
                " operations in another Set",
            )
        with as_status():
            self._commit(edits, user, asked.confirmed)
        return set.response(request, operations)

    async def _subscriber(
        self,
        requests: AsyncIterator[Any],
        write: Callable[[Any], Awaitable[None]],
        user: str | None,
    ) -> None:
        if self._ending:
            raise _stopped()
        if len(self._subscribers) >= self._most:
            raise RpcError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"subscribe: {self._most} Subscribe RPCs are open; end one, or raise"
                " max_subscribers",
            )
        serving = asyncio.create_task(self.subscribe(requests, write, user))
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

    async def subscribe(
        self,
        requests: AsyncIterator[Any],
        write: Callable[[Any], Awaitable[None]],
        user: str | None,
    ) -> None:
        """3.5"""
        request = await subscribe.first_request(requests)
        depth = extensions.read(request, extensions.SUBSCRIBE).depth
        asked = request.subscribe
        if sonic.concerns(asked):
            permit = self._permit(user)
            await sonic.Subscription(self._feed, asked, permit, self._pace, write).serve(requests)
            return
        found = subscribe.watches(
            self._feed.model,
            asked,
            self._known,
            self._pace,
            permit=self._permit(user),
            depth=depth,
        )
        rpc = subscribe.Subscription(self._feed, self._readers, asked, found, write)
        if asked.mode == pb.SubscriptionList.ONCE:
            await rpc.once()
        elif asked.mode == pb.SubscriptionList.POLL:
            await rpc.poll(requests)
        else:
            await rpc.stream(requests)

    def close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()


def _stopped() -> RpcError:
    return RpcError(grpc.StatusCode.UNAVAILABLE, "srv6-gnmid: it is stopping; connect again")


def _whole(request: Any) -> Any:
    """The request, or RpcError for one that can't be read."""
    if isinstance(request, wire.Unreadable):
        raise RpcError(grpc.StatusCode.INVALID_ARGUMENT, str(request))
    return request


class _Whole:
    """Requests of a stream, each as ``_whole`` gives it."""

    def __init__(self, requests: AsyncIterator[Any]) -> None:
        self._requests = requests

    def __aiter__(self) -> _Whole:
        return self

    async def __anext__(self) -> Any:
        # aiter gives the same iterator each time; nobody may ever ask for its first.
        return _whole(await anext(aiter(self._requests)))
