"""An RPC on its way in and out."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.clients.throttle import RateLimiter
from srv6mgrd.gnmi.budget import BudgetError, DeadlineError, Room
from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.intake import Intake
from srv6mgrd.gnmi.rpc import Rpcs, anyone
from srv6mgrd.gnmi.workers import Caller, Workers


class Context:
    """A call; ``stuck``: with a write under way."""

    def __init__(self, *, stuck: bool = False) -> None:
        self.stuck = stuck
        self.ended: tuple[grpc.StatusCode, str] | None = None

    def time_remaining(self) -> float | None:
        return None

    def peer(self) -> str:
        return "unix:"

    async def abort(self, code: grpc.StatusCode, text: str, _metadata: object = ()) -> None:
        if self.stuck:
            raise grpc.aio.InternalError("Failed grpc_call_start_batch: 8: TOO_MANY_OPERATIONS")
        self.ended = code, text

    async def read(self) -> Any:
        raise AssertionError("a byte was taken in")


async def end(context: Context, error: Exception) -> None:
    async def fails(_context: Any, _caller: Caller) -> None:
        raise error

    rpcs = Rpcs(anyone, Workers(1), Room(1))
    await rpcs._guarded("get", context, fails)


async def test_a_status_behind_a_write_that_nobody_reads_leaves_the_stream_to_be_reset() -> None:
    with pytest.raises(asyncio.CancelledError):
        await end(Context(stuck=True), RpcError(grpc.StatusCode.UNAVAILABLE, "stopping"))


async def test_no_status_is_sent_to_a_client_that_left() -> None:
    with pytest.raises(asyncio.CancelledError):
        await end(Context(), grpc.aio.InternalError("Failed grpc_call_start_batch"))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BudgetError("get: too much"), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (DeadlineError("get: too long"), grpc.StatusCode.DEADLINE_EXCEEDED),
    ],
)
async def test_who_takes_more_than_a_request_may_learns_it(
    error: Exception, code: grpc.StatusCode
) -> None:
    context = Context()
    await end(context, error)
    assert context.ended == (code, str(error))


async def test_what_fails_keeps_nothing_of_its_request() -> None:
    """A future in a frame of the traceback makes a cycle, which waits for the collector."""

    class Request:
        pass

    request = Request()
    kept = weakref.ref(request)

    async def fails(request: Request) -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            try:
                raise ValueError(f"{type(request)} can't be read")
            except ValueError as e:
                raise BudgetError(str(e)) from e

        working = loop.run_in_executor(None, work)
        await asyncio.wait({working})
        await working

    async def answer(_context: Any, _caller: Caller) -> None:
        nonlocal request
        given = request
        del request
        await fails(given)

    context = Context()
    gc.disable()
    try:
        await Rpcs(anyone, Workers(1), Room(1))._guarded("set", context, answer)
        # The thread lets go of its work when it takes up the next.
        await asyncio.get_running_loop().run_in_executor(None, str)
        assert kept() is None
    finally:
        gc.enable()
    assert context.ended is not None


@pytest.mark.parametrize("changes", [True, False])
async def test_nothing_is_taken_in_of_who_may_change_nothing(changes: bool) -> None:
    async def call(_request: Any, _caller: Caller) -> Any:
        raise AssertionError("it was carried out")

    async def may_change(_user: str | None) -> bool:
        return False

    context = Context()
    rpcs = Rpcs(anyone, Workers(1), Room(1), may_change=may_change)
    handler = rpcs.unary("set", pb.SetRequest, Intake(100), call, changes=changes)
    await handler.stream_stream(None, context)
    assert context.ended is not None
    code, text = context.ended
    denied = code is grpc.StatusCode.PERMISSION_DENIED and "ask for a NACM rule" in text
    assert denied is changes


async def test_who_is_denied_again_and_again_hears_of_it_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rpcs = Rpcs(anyone, Workers(1), Room(1), denials=RateLimiter(rate=10, free=2, longest=0.2))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def ends(code: grpc.StatusCode) -> None:
        async def fails(_context: Any, _caller: Caller) -> None:
            raise RpcError(code, "no")

        await rpcs._guarded("set", Context(), fails)

    monkeypatch.setattr("srv6mgrd.gnmi.rpc.time.monotonic", lambda: 100.0)
    monkeypatch.setattr("srv6mgrd.gnmi.rpc.asyncio.sleep", sleep)
    for _ in range(6):
        await ends(grpc.StatusCode.PERMISSION_DENIED)
    assert slept == [0, 0, *sorted(slept[2:])]
    assert 0 < slept[2] < slept[-1] == 0.2
    slept.clear()
    # Of other mistakes it hears at once.
    await ends(grpc.StatusCode.NOT_FOUND)
    assert not slept
