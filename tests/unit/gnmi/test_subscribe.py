"""The beginning of a Subscribe RPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.subscribe import first_request


async def requests(*given: Any) -> AsyncIterator[Any]:
    for request in given:
        yield request


async def nothing() -> AsyncIterator[Any]:
    await asyncio.Event().wait()
    yield None


async def test_the_list_comes_first() -> None:
    asked = pb.SubscribeRequest(
        subscribe=pb.SubscriptionList(subscription=[pb.Subscription()], encoding=pb.PROTO)
    )
    assert await first_request(requests(asked)) is asked
    for given in ([], [pb.SubscribeRequest()], [pb.SubscribeRequest(poll=pb.Poll())]):
        with pytest.raises(RpcError, match="there is no subscription yet") as e:
            await first_request(requests(*given))
        assert e.value.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_who_says_nothing_is_not_waited_for() -> None:
    with pytest.raises(RpcError, match=r"no SubscriptionList came for 0\.01 s") as e:
        await first_request(nothing(), 0.01)
    assert e.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
