"""The northbound itself: TLS, credentials, health, reflection, start and stop."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from srv6mgrd.clients.passwords import hash_password
from tests.contract.gnmi.client import Client, subscription
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import SRV6


def secure(server: Server, metadata: object = (), **pair: bytes) -> Client:
    root = (server.state / "selfsigned.crt").read_bytes()
    credentials = grpc.ssl_channel_credentials(root, **pair)
    return Client(f"127.0.0.1:{server.port}", credentials, metadata)


def code(call: object) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as e:
        call()  # type: ignore[operator]
    found: grpc.StatusCode = e.value.code()  # type: ignore[attr-defined]
    return found


def test_a_development_certificate_is_made_and_named(server: Server) -> None:
    assert (server.state / "selfsigned.key").stat().st_mode & 0o777 == 0o600
    assert f"{server.state}/selfsigned.crt: self-signed" in server.log.read_text()
    # TLS takes it, and then nobody comes in without a name.
    assert code(secure(server).capabilities) is grpc.StatusCode.UNAUTHENTICATED


def test_plaintext_and_old_tls_are_rejected(server: Server) -> None:
    assert code(Client(f"127.0.0.1:{server.port}").capabilities) is grpc.StatusCode.UNAVAILABLE
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        assert context.wrap_socket(raw).version() in ("TLSv1.2", "TLSv1.3")
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", server.port)) as raw, pytest.raises(ssl.SSLError):
        context.wrap_socket(raw)


def test_health_and_reflection(server: Server, channel: Client) -> None:
    health = health_pb2_grpc.HealthStub(channel.channel)
    for name in ("", "gnmi.gNMI"):
        answer = health.Check(health_pb2.HealthCheckRequest(service=name))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    reflection = reflection_pb2_grpc.ServerReflectionStub(channel.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = reflection.ServerReflectionInfo(iter([request]))
    assert "gnmi.gNMI" in {s.name for s in answer.list_services_response.service}
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="gnmi.gNMI")
    (answer,) = reflection.ServerReflectionInfo(iter([request]))
    files = [
        descriptor_pb2.FileDescriptorProto.FromString(file)
        for file in answer.file_descriptor_response.file_descriptor_proto
    ]
    methods = {m.name for f in files for s in f.service if s.name == "gNMI" for m in s.method}
    assert methods == {"Capabilities", "Get", "Set", "Subscribe"}


def test_credentials_that_can_not_be_checked_are_rejected(server: Server) -> None:
    both = secure(server, (("username", "alice"), ("password", "x")))
    assert code(both.capabilities) is grpc.StatusCode.UNAUTHENTICATED
    name = secure(server, (("username", "alice"),))
    assert code(name.capabilities) is grpc.StatusCode.PERMISSION_DENIED


def test_users(place: Path, server: Server) -> None:
    users = Server(place, "users", f'[users]\nalice = "{hash_password("secret")}"')
    try:
        right = secure(users, (("username", "alice"), ("password", "secret")))
        assert right.capabilities().gNMI_version
        for metadata in ((("username", "alice"), ("password", "x")), ()):
            call = secure(users, metadata).capabilities
            assert code(call) is grpc.StatusCode.UNAUTHENTICATED
    finally:
        assert users.stop() == 0


def test_a_server_that_stops_tells_its_subscribers(place: Path, gnmi: Client) -> None:
    stopping = Server(place, "stopping", "")
    reads = Client(f"unix:{stopping.socket}", own_connection=True)
    never = Client(f"unix:{stopping.socket}", own_connection=True)
    whole = subscription("/srv6", pb.SAMPLE, sample_interval=0.1)
    asked = pb.SubscriptionList(subscription=[whole], encoding=pb.JSON_IETF)
    silent = never.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]))
    with reads.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        assert stopping.stop() == 0
        with pytest.raises(grpc.RpcError) as e:
            stream.drain()
    error: Any = e.value
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert "it is stopping; connect again" in error.details()
    assert "Traceback" not in stopping.log.read_text()
    silent.cancel()
    reads.close()
    never.close()


def test_a_server_that_stops_cuts_off_who_reads_nothing(place: Path, gnmi: Client) -> None:
    """Our words would come behind messages that the client takes no byte of (RFC 9113 sections 5.2,
    8.1), so its stream is reset."""
    sids = [f"fcbb:0:1:{n:x}::/64" for n in range(0x1000, 0x1000 + 5000)]
    entries = [{"prefix": p, "locator": "main", "behavior": "End"} for p in sids]
    gnmi.set(update={"/srv6": SRV6, "/srv6/local-sids": {"sid": entries}})
    stopping = Server(place, "stopping-too", "")
    # It takes in no more ahead than 64 kB.
    options = [("grpc.http2.bdp_probe", 0), ("grpc.use_local_subchannel_pool", 1)]
    channel = grpc.insecure_channel(f"unix:{stopping.socket}", options=options)
    asked = pb.SubscriptionList(subscription=[subscription("/srv6")], encoding=pb.JSON_IETF)
    call = stubs.gNMIStub(channel).Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]))
    # More than that is on its way.
    assert len(next(call).update.update) < len(sids)

    assert stopping.stop() == 0

    # Behind what had come before.
    with pytest.raises(grpc.RpcError):
        list(call)
    # As the reset stream or the closed connection is seen first.
    assert call.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    assert "Traceback" not in stopping.log.read_text()
    channel.close()


def test_a_new_server_finds_the_configuration(place: Path, channel: Client) -> None:
    channel.set(delete=["/"], update={"/srv6/vrfs/vrf[name=red]": {"table-id": 100}})
    another = Server(place, "another", "")
    try:
        client = Client(f"unix:{another.socket}")
        assert client.value("/srv6/vrfs/vrf[name=red]/table-id") == 100
        # And hears of what others write.
        channel.set(update={"/srv6/vrfs/vrf[name=red]/table-id": 101})
        assert client.value("/srv6/vrfs/vrf[name=red]/table-id") == 101
    finally:
        assert another.stop() == 0
