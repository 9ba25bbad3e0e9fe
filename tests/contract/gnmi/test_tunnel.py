"""Dial-out, through the reference implementation of a tunnel server (openconfig/grpctunnel)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.gnmi.tunnel import messages
from srv6mgrd.model.tunnels import FILE, Tunnel, decode
from tests.contract.certificates import Authority, Certificate
from tests.contract.gnmi.client import Client, failing, subscription
from tests.contract.gnmi.conftest import PASSWORD, USER, Server, free_port
from tests.contract.gnmi.data import RED, SRV6, TABLE
from tests.contract.gnmi.test_gnmi_cli import CLI

PROGRAM = Path(__file__).parents[3] / "build/bin/tunnel_server"
ROOT = (("username", USER), ("password", PASSWORD))
UNAUTHENTICATED, UNAVAILABLE = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="make build/bin/tunnel_server")


class TunnelServer:
    """The reference server as a process, and what it wrote."""

    def __init__(self, certificate: Certificate, ca: str = "", port: int = 0) -> None:
        self.events: list[dict[str, Any]] = []
        command = [str(PROGRAM), str(port), str(certificate.file), str(certificate.key), ca]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        self.port = int(self.event("listening")["port"])
        self.address = f"127.0.0.1:{self.port}"

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # The library itself writes there, too.
            if line.startswith("{"):
                self.events.append(json.loads(line))

    def event(self, kind: str, number: int = 1) -> dict[str, Any]:
        """The last one of so many of a kind."""

        def found() -> dict[str, Any] | None:
            events = [event for event in self.events if event["event"] == kind]
            return events[number - 1] if len(events) >= number else None

        got = wait_until(found, f"event {kind} {number}", timeout=30, seen=lambda: self.events)
        assert got is not None
        return got

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


Start = Callable[..., Server]


@pytest.fixture(scope="module")
def authority(place: Path) -> Authority:
    return Authority(place, "tunnels")


@pytest.fixture(scope="module")
def certificate(authority: Authority) -> Certificate:
    return authority.server()


@pytest.fixture
def tunnels(certificate: Certificate) -> Iterator[Callable[..., TunnelServer]]:
    """Starts tunnel servers."""
    servers: list[TunnelServer] = []

    def start(*arguments: Any) -> TunnelServer:
        servers.append(TunnelServer(certificate, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


@pytest.fixture
def routers(place: Path, authority: Authority) -> Iterator[Start]:
    """Starts srv6-gnmid with tunnels; it listens at a UNIX socket besides."""
    servers: list[Server] = []

    def start(name: str, *addresses: str, ca: Path | None = None, **settings: Any) -> Server:
        folder = place / f"tunnels-{name}"
        folder.mkdir(exist_ok=True)
        given = {
            "listen": [],
            "plaintext": [f"unix:{folder}/gnmid.sock"],
            "tunnel_servers": list(addresses),
            "tunnel_target": name,
            "tunnel_ca": str(ca or authority.certificate.file),
            **settings,
        }
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
        users = f'[users]\n{USER} = "{hash_password(PASSWORD)}"\nalice = "{hash_password("a")}"\n'
        servers.append(Server(place, f"tunnels-{name}", f"{text}{users}"))
        return servers[-1]

    yield start
    for server in servers:
        assert server.process.poll() is not None or server.stop() == 0
        assert not server.tracebacks()


def through(server: TunnelServer, router: Server, metadata: Any = ROOT, number: int = 1) -> Client:
    """A client that connects to the router through the tunnel."""
    root = (router.state / "selfsigned.crt").read_bytes()
    port = server.event("added", number)["port"]
    credentials = grpc.ssl_channel_credentials(root)
    return Client(f"127.0.0.1:{port}", credentials, metadata, own_connection=True)


def tunnel_of(place: Path) -> Tunnel:
    (found,) = decode((place / FILE).read_text())
    return found


def is_down(place: Path, reason: str) -> Tunnel:
    def down() -> Tunnel | None:
        found = tunnel_of(place) if (place / FILE).exists() else None
        return found if found and not found.is_up and reason in found.reason else None

    got = wait_until(down, f"tunnel down: {reason}", seen=lambda: tunnel_of(place))
    assert got is not None
    return got


def test_messages_are_those_of_the_reference() -> None:
    text = subprocess.run([PROGRAM, "describe"], capture_output=True, check=True).stdout
    theirs = descriptor_pb2.FileDescriptorProto.FromString(text)
    # TargetType has names for strings that are sent.
    assert messages.GNMI in {value.name for value in theirs.enum_type.pop().value}
    theirs.ClearField("options")
    ours = messages.described()
    for file in (ours, theirs):
        file.message_type.sort(key=lambda message: message.name)
    assert ours == theirs


def test_gnmi_through_a_tunnel(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    server = tunnels()
    router = routers("pe1", server.address)
    added = server.event("added")
    assert (added["target"], added["type"]) == ("pe1", "GNMI_GNOI")
    client = through(server, router)
    client.set(update={"/srv6": SRV6})
    assert client.value(TABLE) == 100
    with client.subscribe(subscription(RED)) as stream:
        stream.until_sync()
        client.set(update={TABLE: 101})
        assert "101" in str(stream.next())
    # Much at once, in both directions.
    names = [{"name": f"v{n}", "table-id": n} for n in range(1000, 4000)]
    client.set(update={"/srv6/vrfs": {"vrf": names}})
    assert len(client.value("/srv6/vrfs")["srv6mgr-srv6:vrf"]) == 3001
    tunnel = wait_until(lambda: tunnel_of(place).is_up and tunnel_of(place), "tunnel up")
    assert (tunnel.server, tunnel.target) == (server.address, "pe1")
    assert wait_until(lambda: tunnel_of(place).sessions == 1, "one session")
    client.close()
    assert wait_until(lambda: tunnel_of(place).sessions == 0, "no session")


def test_who_comes_through_a_tunnel_authenticates(
    gnmi: Client,
    tunnels: Callable[..., TunnelServer],
    routers: Start,
    rules: Callable[..., None],
) -> None:
    server = tunnels()
    router = routers("pe1", server.address)
    wrong = through(server, router, (("username", USER), ("password", "x")))
    assert failing(wrong.capabilities)[0] is UNAUTHENTICATED
    assert failing(through(server, router, ()).capabilities)[0] is UNAUTHENTICATED
    # NACM's rules hold as for any client.
    rules()
    alice = through(server, router, (("username", "alice"), ("password", "a")))
    assert alice.capabilities().gNMI_version
    code, _ = failing(alice.set, update={"/srv6/vrfs/vrf[name=red]/table-id": 7})
    assert code is grpc.StatusCode.PERMISSION_DENIED


def test_servers_and_routers_prove_who_they_are(
    place: Path,
    gnmi: Client,
    authority: Authority,
    tunnels: Callable[..., TunnelServer],
    routers: Start,
) -> None:
    server = tunnels(str(authority.certificate.file))
    stranger = Authority(place, "stranger")
    router = routers("deceived", server.address, ca=stranger.certificate.file)
    is_down(place, "certificate")
    router.stop()
    router = routers("nameless", server.address)
    is_down(place, "tunnel_certificate")
    assert not [event for event in server.events if event["event"] == "added"]
    router.stop()
    own = authority.sign("pe1")
    files = {"tunnel_certificate": str(own.file), "tunnel_key": str(own.key)}
    router = routers("pe1", server.address, **files)
    assert through(server, router).capabilities().gNMI_version


def test_a_server_that_is_lost_is_dialed_again(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    port = free_port()
    # Of two addresses, of which the server listens at one.
    router = routers("pe1", f"localhost:{port}")
    down = is_down(place, "Connection refused; see that the tunnel server runs")
    assert f"tunnel to localhost:{port}: down: " in router.log.read_text()
    server = tunnels("", port)
    client = through(server, router)
    client.capabilities()
    assert tunnel_of(place).since >= down.since
    server.end()
    is_down(place, "")
    again = tunnels("", port)
    assert through(again, router).capabilities().gNMI_version
    assert router.process.poll() is None


def test_a_network_that_is_lost_is_noticed(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    """Nothing is sent at that time, by either side."""
    server = tunnels()
    routers("pe1", server.address, keepalive=1)
    server.event("added")
    subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
    try:
        is_down(place, "")
    finally:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    wait_until(lambda: tunnel_of(place).is_up, "tunnel up again", timeout=60)


def test_sessions_are_limited(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    server = tunnels()
    router = routers("pe1", server.address, max_tunnel_sessions=2, authentication_timeout=1)
    clients = [through(server, router) for _ in range(2)]
    for client in clients:
        assert client.capabilities().gNMI_version
    # Those that have authenticated stay.
    third = through(server, router)
    assert failing(third.capabilities)[0] is UNAVAILABLE
    assert "2 connections" in server.event("rejected")["reason"]
    for client in clients:
        assert client.capabilities().gNMI_version
    clients.pop().close()
    wait_until(lambda: tunnel_of(place).sessions == 1, "one session")
    silent = through(server, router, ())
    assert failing(silent.capabilities)[0] is UNAUTHENTICATED
    wait_until(lambda: "did not authenticate in time" in router.log.read_text(), "it is closed")
    third.close()
    assert through(server, router).capabilities().gNMI_version
    # The router itself is reached as before.
    assert Client(f"unix:{place}/tunnels-pe1/gnmid.sock").capabilities().gNMI_version


def test_a_name_that_another_router_has(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    server = tunnels()
    first = routers("pe1", server.address)
    server.event("added")
    second = routers("other", server.address, tunnel_target="pe1")
    is_down(place, "already registered")
    first.stop()
    server.event("removed")
    assert through(server, second, number=2).capabilities().gNMI_version


def test_a_server_that_stops_tells_its_subscribers(
    place: Path, gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    gnmi.set(update={"/srv6": SRV6})
    server = tunnels()
    router = routers("pe1", server.address)
    client = through(server, router)
    with client.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        assert router.stop() == 0
        with pytest.raises(grpc.RpcError) as e:
            stream.drain()
    error: Any = e.value
    assert error.code() is UNAVAILABLE
    assert "it is stopping; connect again" in error.details()
    server.event("removed")
    assert not (place / FILE).exists()


def test_a_process_that_dies_is_started_again(
    gnmi: Client, tunnels: Callable[..., TunnelServer], routers: Start
) -> None:
    server = tunnels()
    router = routers("pe1", server.address)
    server.event("added")
    children = Path(f"/proc/{router.process.pid}/task/{router.process.pid}/children")
    (dialing,) = (
        int(child)
        for child in children.read_text().split()
        if b"tunnel.process" in Path(f"/proc/{child}/cmdline").read_bytes()
    )
    os.kill(dialing, signal.SIGKILL)
    assert through(server, router, number=2).capabilities().gNMI_version


def test_openconfigs_client_comes_through_a_tunnel(
    gnmi: Client,
    authority: Authority,
    tunnels: Callable[..., TunnelServer],
    routers: Start,
    rules: Callable[..., None],
) -> None:
    if not CLI.exists():
        pytest.skip(f"{CLI} is absent: make build/bin/gnmi_cli")
    gnmi.set(update={"/srv6": SRV6})
    rules({"module-name": "*", "access-operations": "*", "action": "permit"})
    server = tunnels()
    router = routers("pe1", server.address, client_ca=str(authority.certificate.file))
    own = authority.sign("alice")
    port = server.event("added")["port"]
    command = [CLI, "-a", f"127.0.0.1:{port}", "-ca_crt", router.state / "selfsigned.crt"]
    command += ["-client_crt", own.file, "-client_key", own.key, "-logtostderr"]
    command += ["-q", TABLE, "-qt", "once"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "100" in done.stdout
