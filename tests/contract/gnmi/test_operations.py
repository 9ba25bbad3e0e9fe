"""plan, reconcile and clear-counters over gRPC, by a client that knows reflection alone."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_reflection.v1alpha import reflection_pb2

from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.datastore.coordinator import CommitCoordinator
from srv6mgrd.datastore.rpc import Manager, RpcSubscription
from tests.contract.gnmi.client import Client
from tests.contract.gnmi.conftest import OPERATION, Server
from tests.contract.gnmi.data import SRV6
from tests.contract.gnmi.rich_status import violations
from tests.contract.rejections import MISTAKES, Mistake, judge

SERVICE = "srv6mgr.operations.v1.Operations"


class Reflected:
    """A client of any service, by what reflection (v1 or v1alpha) says of it."""

    def __init__(self, channel: grpc.Channel, version: str = "v1", metadata: Any = ()) -> None:
        self._channel, self._metadata = channel, metadata
        self._ask = channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        self._pool = descriptor_pool.DescriptorPool()

    def services(self) -> set[str]:
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = self._ask(iter([request]), timeout=10)
        return {s.name for s in answer.list_services_response.service}

    def describe(self, symbol: str) -> Any:
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
        (answer,) = self._ask(iter([request]), timeout=10)
        files = answer.file_descriptor_response.file_descriptor_proto
        for file in reversed(files):
            self._pool.AddSerializedFile(file)
        return [descriptor_pb2.FileDescriptorProto.FromString(file) for file in files]

    def call(self, method: str, **given: Any) -> Any:
        found = self._pool.FindServiceByName(SERVICE).methods_by_name[method]
        request, answer = map(
            message_factory.GetMessageClass, (found.input_type, found.output_type)
        )
        call = self._channel.unary_unary(
            f"/{SERVICE}/{method}", request.SerializeToString, answer.FromString
        )
        return call(request(**given), timeout=10, metadata=self._metadata)


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_describes_every_service(channel: Client, version: str) -> None:
    reflected = Reflected(channel.channel, version)
    assert reflected.services() >= {
        "gnmi.gNMI",
        SERVICE,
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    for name in reflected.services():
        package, _, service = name.rpartition(".")
        files = reflected.describe(name)
        assert any(f.package == package and service in {s.name for s in f.service} for f in files)


def test_operations_of_srv6mgrd_are_called(gnmi: Client, asked: list[tuple[str, Any]]) -> None:
    gnmi.set(update={"/srv6": SRV6})
    client = Reflected(gnmi.channel)
    client.describe(SERVICE)
    (operation,) = client.call("Plan", configuration=json.dumps({"a": 1})).operation
    assert {f.name: v for f, v in operation.ListFields()} == OPERATION
    assert len(client.call("Reconcile").operation) == 1
    client.call("ClearCounters")
    assert asked == [
        ("plan", {"configuration": '{"a": 1}'}),
        ("reconcile", {}),
        ("clear-counters", {}),
    ]


def test_errors_have_a_status_and_a_text(gnmi: Client) -> None:
    client = Reflected(gnmi.channel)
    client.describe(SERVICE)
    with pytest.raises(grpc.RpcError) as e:
        client.call("ClearCounters", sid="fcbb:0:1:dead::/64")
    error: Any = e.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "fcbb:0:1:dead::/64" in error.details()


@pytest.fixture
def judged() -> Iterator[None]:
    """srv6mgrd's RPCs, which judge a configuration and know neither kernel nor history."""

    class Judge:
        async def plan(self, tree: Mapping[str, Any]) -> list[Any]:
            judge(tree)
            return []

    class Coordinator:
        async def now_running(self) -> str:
            return "{}"

    loop, rpcs = asyncio.new_event_loop(), RpcSubscription()

    async def start() -> None:
        rpcs.start(cast(Manager, Judge()), cast(CommitCoordinator, Coordinator()))

    async def stop() -> None:
        rpcs.close()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(10)

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        run(start())
        yield
        run(stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_plan_rejects_as_the_edit_would_be(gnmi: Client, judged: None, mistake: Mistake) -> None:
    client = Reflected(gnmi.channel)
    client.describe(SERVICE)
    with pytest.raises(grpc.RpcError) as raised:
        client.call("Plan", configuration=mistake.document())
    error: Any = raised.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.details() == mistake.message
    assert violations(error) == [(mistake.path, mistake.message, mistake.app_tag)]


def test_a_user_needs_the_right_to_execute_them(
    place: Path, gnmi: Client, asked: list[tuple[str, Any]], rules: Callable[..., None]
) -> None:
    plaintext = f'listen = []\nplaintext = ["unix:{place}/operators.sock"]\n'
    users = f'[users]\nalice = "{hash_password("secret")}"'
    server = Server(place, "operators", plaintext + users)
    try:
        channel = grpc.insecure_channel(f"unix:{place}/operators.sock")
        alice = Reflected(channel, metadata=(("username", "alice"), ("password", "secret")))
        alice.describe(SERVICE)
        rpc = {"module-name": "srv6mgr-operations", "access-operations": "exec"}
        rules(
            {**rpc, "rpc-name": "reconcile", "action": "deny"},
            {**rpc, "rpc-name": "clear-counters", "action": "permit"},
        )
        with pytest.raises(grpc.RpcError) as e:
            alice.call("Reconcile")
        error: Any = e.value
        assert error.code() is grpc.StatusCode.PERMISSION_DENIED, error.details()
        assert asked == []
        alice.call("ClearCounters")
        assert asked == [("clear-counters", {})]
        channel.close()
    finally:
        assert server.stop() == 0
