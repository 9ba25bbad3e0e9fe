"""The gNMI service: each RPC handed to its room, failures turned into a status."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.datastore.transaction import Edit
from srv6mgrd.gnmi import get, set, subscribe, wire
from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.failure import RpcError, as_status
from srv6mgrd.gnmi.feed import Feed
from srv6mgrd.gnmi.models import Models
from srv6mgrd.gnmi.subscribe import Pace

_LOG = logging.getLogger(__name__)

Context = grpc.aio.ServicerContext
Commit = Callable[[list[Edit]], None]


class Service:
    """The servicer. ``commit`` blocks; it is called in a thread of its own, one at a time."""

    def __init__(
        self, models: Models, feed: Feed, commit: Commit, access: Access, pace: Pace
    ) -> None:
        self._models = models
        self._known = frozenset(m.name for m in models.served)
        self._feed = feed
        self._commit = commit
        self._access = access
        self._pace = pace
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
                self._unary(call), request.FromString, wire.serialize
            )
            for name, (call, request) in make.items()
        }
        handlers["Subscribe"] = grpc.stream_stream_rpc_method_handler(
            self._subscribe, pb.SubscribeRequest.FromString, wire.serialize
        )
        return grpc.method_handlers_generic_handler(wire.SERVICE, handlers)

    def _unary(self, call: Callable[[Any], Awaitable[Any]]) -> Callable[[Any, Any], Any]:
        async def handle(request: Any, context: Context[Any, Any]) -> Any:
            return await self._guarded(context, lambda: call(request))

        return handle

    async def _subscribe(self, requests: AsyncIterator[Any], context: Context[Any, Any]) -> None:
        await self._guarded(context, lambda: self.subscribe(requests, context.write))

    async def _guarded(self, context: Context[Any, Any], call: Callable[[], Awaitable[Any]]) -> Any:
        try:
            metadata = tuple(context.invocation_metadata() or ())
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._readers, self._access.check, metadata)
            return await call()
        except RpcError as e:
            code, text = e.code, e.text
        except grpc.aio.BaseError:
            return None  # the client left while it was being written to
        except Exception as e:
            _LOG.exception("an RPC failed")
            code, text = grpc.StatusCode.INTERNAL, f"srv6-gnmid: {type(e).__name__}; see its log"
        return await context.abort(code, text)

    async def capabilities(self, request: Any) -> Any:
        """3.2"""
        _check_extensions(request)
        return pb.CapabilityResponse(
            supported_models=[
                pb.ModelData(name=m.name, organization=m.organization, version=m.version)
                for m in self._models.served
            ],
            supported_encodings=wire.ENCODINGS,
            gNMI_version=wire.VERSION,
        )

    async def get(self, request: Any) -> Any:
        """3.3"""
        _check_extensions(request)
        snapshot = await self._feed.snapshot()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, get.get, request, snapshot, self._known)

    async def set(self, request: Any) -> Any:
        """3.4. The feed has the change before this returns: sysrepo waits for its subscribers."""
        _check_extensions(request)
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._set, request)

    def _set(self, request: Any) -> Any:
        operations, edits = set.edits(self._models.root, request)
        with as_status():
            self._commit(edits)
        return set.response(request, operations)

    async def subscribe(
        self, requests: AsyncIterator[Any], write: Callable[[Any], Awaitable[None]]
    ) -> None:
        """3.5"""
        asked = await subscribe.first_request(_checked(requests))
        found = subscribe.watches(self._feed.model, asked, self._known, self._pace)
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


async def _checked(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        _check_extensions(request)
        yield request


def _check_extensions(request: Any) -> None:
    """An extension that changes what a request means must not be passed over."""
    for extension in request.extension:
        what = extension.WhichOneof("ext")
        if what in ("commit", "master_arbitration", "history", "depth"):
            raise RpcError(
                grpc.StatusCode.UNIMPLEMENTED, f"extension {what}: not implemented; leave it out"
            )
