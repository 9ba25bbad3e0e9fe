"""How an RPC ends when its status can't be sent."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.service import Service


class Context:
    """A call with a write under way."""

    def invocation_metadata(self) -> tuple[()]:
        return ()

    def auth_context(self) -> dict[str, Any]:
        return {}

    async def abort(self, code: grpc.StatusCode, text: str) -> None:
        raise grpc.aio.InternalError("Failed grpc_call_start_batch: 8: TOO_MANY_OPERATIONS")


class Anyone:
    def check(self, *_: object) -> None:
        return None


def test_a_status_behind_a_write_that_nobody_reads_leaves_the_stream_to_be_reset() -> None:
    service = Service.__new__(Service)
    service._readers = ThreadPoolExecutor(1)
    service._access = Anyone()  # type: ignore[assignment]

    async def stopped(user: str | None) -> None:
        raise RpcError(grpc.StatusCode.UNAVAILABLE, "srv6-gnmid: stopping")

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(service._guarded(Context(), stopped))  # type: ignore[arg-type]
