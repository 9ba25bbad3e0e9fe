"""What clients find out without credentials: health (grpc.health.v1) and reflection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.intake import Intake
from srv6mgrd.gnmi.rpc import Rpcs
from srv6mgrd.gnmi.workers import Caller

_ALPHA = "grpc.reflection.v1alpha"
_V1 = "grpc.reflection.v1"
REFLECTIONS = (f"{_V1}.ServerReflection", f"{_ALPHA}.ServerReflection")
HEALTH = health.SERVICE_NAME
# Their requests hold a name.
_MOST = 64 << 10


class Discovery:
    """Both services; ``names`` are the services that are served beside them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._health = health.aio.HealthServicer()
        _describe_v1()
        self._reflection = reflection.aio.ReflectionServicer((*self._names, HEALTH, *REFLECTIONS))

    async def serving(self) -> None:
        """Report all as served."""
        for name in ("", *self._names):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def handlers(self, rpcs: Rpcs) -> list[grpc.GenericRpcHandler]:
        intake = Intake(_MOST)
        check = rpcs.unary("health", health_pb2.HealthCheckRequest, intake, self._check)
        watch = rpcs.streaming("health", health_pb2.HealthCheckRequest, intake, self._watch)
        reflect = rpcs.streaming(
            "reflection", reflection_pb2.ServerReflectionRequest, intake, self._reflect
        )
        make = grpc.method_handlers_generic_handler
        return [
            make(HEALTH, {"Check": check, "Watch": watch}),
            # Both versions have the same messages.
            *(make(name, {"ServerReflectionInfo": reflect}) for name in REFLECTIONS),
        ]

    async def _check(self, request: Any, _caller: Caller) -> Any:
        return await self._health.Check(request, _Context())

    async def _watch(
        self,
        requests: AsyncIterator[Any],
        write: Callable[[Any], Awaitable[None]],
        _caller: Caller,
    ) -> None:
        request = await anext(aiter(requests))
        await self._health.Watch(request, _Context(write))

    async def _reflect(
        self,
        requests: AsyncIterator[Any],
        write: Callable[[Any], Awaitable[None]],
        _caller: Caller,
    ) -> None:
        async for answer in self._reflection.ServerReflectionInfo(requests, None):
            await write(answer)


class _Context:
    """What the health servicer wants of an RPC."""

    def __init__(self, write: Callable[[Any], Awaitable[None]] | None = None) -> None:
        self.write = write

    async def abort(self, code: grpc.StatusCode, _text: str = "") -> None:
        raise RpcError(code, "health: there is no such service; ask reflection for their names")


def _describe_v1() -> None:
    """Reflection v1 is v1alpha under another name; grpcio-reflection brings the latter alone."""
    described = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(described)
    # Names of types are absolute; "grpc/reflection/v1alpha/reflection.proto" is that of the file.
    described.name = described.name.replace("v1alpha", "v1")
    described.package = _V1
    for field in (f for message in described.message_type for f in message.field):
        if field.type_name:
            field.type_name = field.type_name.replace(f".{_ALPHA}.", f".{_V1}.")
    for method in (m for service in described.service for m in service.method):
        method.input_type = method.input_type.replace(f".{_ALPHA}.", f".{_V1}.")
        method.output_type = method.output_type.replace(f".{_ALPHA}.", f".{_V1}.")
    descriptor_pool.Default().AddSerializedFile(described.SerializeToString())
