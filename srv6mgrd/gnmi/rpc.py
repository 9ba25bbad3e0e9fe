"""Every RPC on its way in and out: the caller is known before a byte of the request is taken in,
the request has a budget, and what it fails with becomes a status."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

import grpc

from srv6mgrd.clients import peer
from srv6mgrd.clients.throttle import RateLimiter
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.budget import MOST_SECONDS, Budget, Room
from srv6mgrd.gnmi.failure import RpcError, as_status, clipped
from srv6mgrd.gnmi.intake import Intake
from srv6mgrd.gnmi.status_details import METADATA, details
from srv6mgrd.gnmi.workers import Caller, Workers
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.model.rejection import Rejection

# Denying is work, too: who is denied again and again hears of it later.
_DENIALS, _DENIED_AT_ONCE, _LONGEST_S = 5.0, 20, 5.0
_DENIED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)

# What is read within the event loop.
_AT_ONCE = 64 << 10

# Percent-encoded as grpc-message is; metadata is ASCII.
_WARNING = "srv6mgr-warning"
_READABLE = " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_MOST = 2

_LOG = logging.getLogger(__name__)

Context = Any  # grpc.aio.ServicerContext
# Who calls: raises RpcError. The user's name, None for a client without one.
Identify = Callable[[Context], Awaitable[str | None]]
# Raises RpcError when a stream has to end.
Recheck = Callable[[Context], object]
# Between two looks at the certificate of who subscribed.
_RECHECK_S = 2.0


def identified_by(access: Access, know: Callable[[str], Awaitable[None]]) -> Identify:
    """Who calls by credentials. ``know`` has its groups known; it raises NoAnswerError."""

    async def identify(context: Context) -> str:
        metadata = tuple(context.invocation_metadata() or ())
        client = peer.read(context.peer())
        try:
            user = await access.check(metadata, context.auth_context(), client)
            await know(user)
        except NoAnswerError as e:
            raise RpcError(grpc.StatusCode.UNAVAILABLE, str(e)) from None
        return user

    return identify


def certified_by(access: Access) -> Recheck:
    """Raises RpcError when the certificate of who called is not valid any more."""

    def recheck(context: Context) -> None:
        access.certified(context.auth_context())

    return recheck


async def anyone(_context: Context) -> None:
    """For RPCs that reveal nothing: health, reflection."""


async def everything(_user: str | None) -> bool:
    """For servers without rules."""
    return True


def denials() -> RateLimiter:
    """How often a client is denied at once."""
    return RateLimiter(_DENIALS, _DENIED_AT_ONCE, _LONGEST_S)


@dataclass(frozen=True, slots=True)
class Rpcs:
    """Makes the handlers of one service. gRPC's own handlers would take in a request before they
    call; those of streams don't, and on the wire an RPC with one message is the same."""

    identify: Identify
    workers: Workers
    room: Room
    seconds: float = MOST_SECONDS
    recheck: Recheck = lambda _: None
    # Whether a user may change anything at all.
    may_change: Callable[[str | None], Awaitable[bool]] = everything
    denials: RateLimiter = field(default_factory=denials)

    def unary(
        self,
        what: str,
        kind: Any,
        intake: Intake,
        call: Callable[[Any, Caller], Awaitable[Any]],
        *,
        changes: bool = False,
    ) -> grpc.RpcMethodHandler[Any, Any]:
        """One request of ``kind``, one answer. With ``changes`` it may be large, and no byte of it
        is taken in of who may change nothing."""

        async def answer(context: Context, caller: Caller) -> None:
            if changes and not await self.may_change(caller.user):
                raise RpcError(
                    grpc.StatusCode.PERMISSION_DENIED,
                    f"{what}: user {caller.user} may change nothing; ask for a NACM rule",
                )
            async with intake.request(context.read, caller.who, what) as data:
                request = await self._whole(kind, data, caller)
                answer = await call(request, caller)
            if caller.warnings:
                context.set_trailing_metadata(_trailer(caller.warnings))
            await self._write(context, wire.serialize(answer), caller)

        return self._handler(what, answer)

    def streaming(
        self,
        what: str,
        kind: Any,
        intake: Intake,
        call: Callable[
            [AsyncIterator[Any], Callable[[Any], Awaitable[None]], Caller],
            Coroutine[Any, Any, None],
        ],
    ) -> grpc.RpcMethodHandler[Any, Any]:
        """Requests of ``kind``, the first of which is taken in as a unary one is; answers are
        written by ``call``."""

        async def answer(context: Context, caller: Caller) -> None:
            async def requests() -> AsyncIterator[Any]:
                async with intake.request(context.read, caller.who, what) as data:
                    first = data
                while first is not grpc.aio.EOF:
                    yield await self._whole(kind, first, caller)
                    first = await context.read()

            async def write(message: Any) -> None:
                await context.write(wire.serialize(message))

            still = partial(self.recheck, context)
            await while_valid(still, call(requests(), write, caller))

        return self._handler(what, answer)

    def _handler(
        self, what: str, answer: Callable[[Context, Caller], Awaitable[None]]
    ) -> grpc.RpcMethodHandler[Any, Any]:
        async def handle(_requests: Any, context: Context) -> None:
            await self._guarded(what, context, answer)

        return grpc.stream_stream_rpc_method_handler(handle, None, None)

    async def _write(self, context: Context, answer: bytes, caller: Caller) -> None:
        """Its memory is not held for a client that does not read it."""
        try:
            async with asyncio.timeout(self.seconds):
                await context.write(answer)
        except TimeoutError:
            raise caller.budget.overdue() from None

    async def _whole(self, kind: Any, data: Any, caller: Caller) -> Any:
        """The request; RpcError for one that can't be read."""
        if data is grpc.aio.EOF:
            raise RpcError(
                grpc.StatusCode.INVALID_ARGUMENT, f"{caller.budget.what}: there is no request"
            )
        if len(data) <= _AT_ONCE:
            found = wire.read(kind, data)
        else:
            found = await self.workers.run(caller, wire.read, kind, data)
        if isinstance(found, wire.Unreadable):
            raise RpcError(grpc.StatusCode.INVALID_ARGUMENT, str(found))
        return found

    async def _guarded(
        self, what: str, context: Context, answer: Callable[[Context, Caller], Awaitable[None]]
    ) -> None:
        rejections: Sequence[Rejection] = ()
        try:
            user = await self.identify(context)
            left = context.time_remaining()
            seconds = self.seconds if left is None else min(left, self.seconds)
            deadline = None if left is None else time.monotonic() + left
            budget = Budget(what, seconds=seconds, room=self.room)
            client = peer.read(context.peer())
            caller = Caller(
                user, user or client.group, str(client.connection), budget, deadline, client.host
            )
            try:
                with as_status():
                    await answer(context, caller)
            finally:
                budget.release()
            return
        except RpcError as e:
            code, text, rejections = e.code, e.text, e.rejections
            _let_go(e)
        except grpc.aio.BaseError:
            # The client left while it was being written to. Returning would send a status, which
            # gRPC rejects with a traceback while that write is not done (TOO_MANY_OPERATIONS).
            raise asyncio.CancelledError from None
        except Exception as e:
            _LOG.exception("an RPC failed")
            code, text = grpc.StatusCode.INTERNAL, f"srv6-gnmid: {type(e).__name__}; see its log"
        if code in _DENIED:
            group = peer.read(context.peer()).group
            await asyncio.sleep(self.denials.wait(group, time.monotonic()))
        # Behind a write that waits for its reader no status can be sent (RFC 9113 section 5.2): the
        # stream of such a one is reset, when the server ends or its client leaves.
        try:
            text = clipped(text)
            found = details(code.value[0], text, rejections)
            await context.abort(code, text, ((METADATA, found),) if found else ())
        except grpc.aio.InternalError:
            # gRPC found that write (TOO_MANY_OPERATIONS); returning would send a status, too.
            raise asyncio.CancelledError from None


def _let_go(error: BaseException | None) -> None:
    """The request, which may be large, is in frames of what failed. A future among their variables
    has the error itself: without this they would wait for the collector of cycles."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _trailer(warnings: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Trailing metadata: the messages of gNMI have no place for them."""
    return tuple((_WARNING, clipped(quote(text, safe=_READABLE))) for text in warnings[:_MOST])


async def while_valid(
    check: Callable[[], object], work: Coroutine[Any, Any, None], seconds: float = _RECHECK_S
) -> None:
    """Do ``work`` as long as ``check`` raises no RpcError: a certificate may be revoked."""
    working = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({working}, timeout=seconds))[0]:
            check()
    finally:
        working.cancel()
        # What it raised meanwhile is not to be missed by anybody.
        await asyncio.gather(working, return_exceptions=True)
    working.result()
