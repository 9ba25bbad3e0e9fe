"""Many gNMI targets in one process: each has entries, and commits that await confirmation.

They know as much of gNMI as srv6net asks of a router. The user name of a request says which target
is meant.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb

from srv6mgrd.gnmi import operations_messages as operations
from srv6mgrd.gnmi import wire
from srv6mgrd.gnmi.path import text

# Seconds that a Set takes: those of the slowest target, and of the others in steps below it.
SLOWEST = 2.0
_STEPS = 10
_INSTALLED = {
    "srv6mgr-srv6:state": {"install-status": "installed"},
    "srv6mgr-srv6:service": {"remote-sids": 1_000_000},
}


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address where a process of its own serves all targets."""
    address = f"unix:{folder}/targets"
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.network_targets", address], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


class Targets:
    """All of them, by name."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Any]] = {}

    async def get(self, request: Any, context: Any) -> Any:
        entries = self._entries.setdefault(_target(context), {})
        answer = pb.GetResponse()
        for one in request.path:
            path = text(wire.read_path(one).elems)
            value = entries.get(path)
            if path.count("/") == 1:
                value = {}
            if value is None:
                await context.abort(grpc.StatusCode.NOT_FOUND, f"path {path}: no such data")
            if request.type == pb.GetRequest.STATE:
                value = _INSTALLED
            content = pb.TypedValue(json_ietf_val=json.dumps(value).encode())
            answer.notification.add().update.add(path=one, val=content)
        return answer

    async def set(self, request: Any, context: Any) -> Any:
        name = _target(context)
        entries = self._entries.setdefault(name, {})
        # In steps, so that most targets are faster than the slowest.
        step = 1 + int(name.removeprefix("pe")) % _STEPS
        if request.replace or request.delete:
            await asyncio.sleep(SLOWEST * step / _STEPS)
        for one in request.replace:
            path = text(wire.read_path(one.path).elems)
            entries[path] = json.loads(one.val.json_ietf_val)
        return pb.SetResponse()

    async def plan(self, _request: Any, _context: Any) -> Any:
        return operations.message("PlanResponse")()


def _target(context: Any) -> str:
    return str(dict(context.invocation_metadata())["username"])


def _handler(call: Any, request: Any) -> Any:
    return grpc.unary_unary_rpc_method_handler(
        call,
        request_deserializer=request.FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


async def serve(address: str) -> None:
    targets = Targets()
    server = grpc.aio.server()
    gnmi = {"Get": (targets.get, pb.GetRequest), "Set": (targets.set, pb.SetRequest)}
    plan = {"Plan": (targets.plan, operations.message("PlanRequest"))}
    for service, calls in (("gnmi.gNMI", gnmi), (operations.SERVICE, plan)):
        handlers = {name: _handler(*call) for name, call in calls.items()}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    server.add_insecure_port(address)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
