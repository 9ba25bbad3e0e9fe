"""``plan``, ``reconcile`` and ``clear-counters`` over gRPC, for clients that speak gNMI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from srv6mgrd.gnmi import operations_messages as messages
from srv6mgrd.gnmi.intake import Intake
from srv6mgrd.gnmi.rpc import Rpcs
from srv6mgrd.gnmi.workers import Caller

# An RPC of srv6mgr-operations by name, what is given to it, and the caller, who has to have the
# right to execute it (``writer.Writer.call``). Blocks; raises RejectedError or a DatastoreError.
Call = Callable[[str, Mapping[str, Any], Caller], Mapping[str, Any]]

# Their requests are short, but for a plan.
_MOST = 64 << 10
_AT_ONCE = 4


class Operations:
    """The service of ``operations.proto``."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._threads = ThreadPoolExecutor(_AT_ONCE, "operations")

    def handlers(self, rpcs: Rpcs, most_plan: int) -> grpc.GenericRpcHandler:
        """``most_plan`` bytes are the longest configuration."""
        short = Intake(_MOST)
        make = {
            "Plan": (self._plan, Intake(most_plan)),
            "Reconcile": (self._reconcile, short),
            "ClearCounters": (self._clear, short),
        }
        handlers = {
            name: rpcs.unary(name, messages.message(f"{name}Request"), intake, call, changes=True)
            for name, (call, intake) in make.items()
        }
        return grpc.method_handlers_generic_handler(messages.SERVICE, handlers)

    async def _plan(self, request: Any, caller: Caller) -> Any:
        found = await self._executed("plan", {"configuration": request.configuration}, caller)
        return _listed("PlanResponse", found)

    async def _reconcile(self, _request: Any, caller: Caller) -> Any:
        return _listed("ReconcileResponse", await self._executed("reconcile", {}, caller))

    async def _clear(self, request: Any, caller: Caller) -> Any:
        given = {"sid": request.sid} if request.sid else {}
        await self._executed("clear-counters", given, caller)
        return messages.message("ClearCountersResponse")()

    async def _executed(
        self, rpc: str, given: Mapping[str, Any], caller: Caller
    ) -> Mapping[str, Any]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._call, rpc, given, caller)

    def close(self) -> None:
        self._threads.shutdown()


def _listed(answer: str, found: Mapping[str, Any]) -> Any:
    operation = messages.message("Operation")
    fields = operation.DESCRIPTOR.fields_by_name
    return messages.message(answer)(
        operation=[
            operation(**{name: value for name, value in entry.items() if name in fields})
            for entry in found.get("operation", ())
        ]
    )
