"""Clients that take all they can: idle connections, guesses of passwords."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from lab.waiting import wait_until
from srv6mgrd.clients.passwords import hash_password
from tests.contract.gnmi.client import Client
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.test_access import user
from tests.contract.gnmi.test_server import code, secure


def idle(server: Server) -> ssl.SSLSocket:
    """A connection whose TLS is up, and that says nothing more."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=10))


def is_closed(connection: ssl.SSLSocket) -> bool:
    """Whether the server has closed it; what HTTP/2 says at the beginning is read first."""
    connection.settimeout(0.01)
    try:
        while data := connection.recv(65536):
            del data
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


@pytest.fixture(scope="module")
def besieged(place: Path) -> Iterator[Server]:
    settings = f'authentication_timeout = 4\n[users]\nalice = "{hash_password("secret")}"'
    server = Server(place, "besieged", settings)
    yield server
    assert server.stop() == 0
    assert not server.tracebacks()


def test_idle_connections_lock_nobody_out(besieged: Server) -> None:
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(idle(besieged)) for _ in range(99)]
        alice = secure(besieged, user("alice"))
        assert alice.capabilities().gNMI_version
        # The root user of this machine is another client.
        assert Client(f"unix:{besieged.socket}", own_connection=True).capabilities().gNMI_version
        # Older ones gave way to later ones; all are closed in the end, and alice's is not.
        assert sum(map(is_closed, connections)) >= 59
        wait_until(lambda: all(map(is_closed, connections)), timeout=10)
        assert alice.capabilities().gNMI_version
    assert "did not authenticate" in besieged.log.read_text()


def test_connections_of_one_client_are_limited(place: Path) -> None:
    limits = "max_connections = 6\nmax_connections_per_peer = 3"
    stored = hash_password("secret")
    server = Server(place, "counted", f'{limits}\n[users]\nalice = "{stored}"')

    def connect() -> Client:
        root = grpc.ssl_channel_credentials((server.state / "selfsigned.crt").read_bytes())
        return Client(f"127.0.0.1:{server.port}", root, user("alice"), own_connection=True)

    clients = [connect() for _ in range(4)]
    try:
        for client in clients[:3]:
            assert client.capabilities().gNMI_version
        assert code(clients[3].capabilities) is grpc.StatusCode.UNAVAILABLE
        assert Client(f"unix:{server.socket}").capabilities().gNMI_version
        assert "3 connections of it are open" in server.log.read_text()
    finally:
        for client in clients:
            client.close()
        assert server.stop() == 0


def test_guesses_are_throttled_and_delay_nobody_who_is_known(place: Path) -> None:
    server = Server(place, "guessed", f'[users]\nalice = "{hash_password("secret")}"')
    stop = threading.Event()
    codes: dict[grpc.StatusCode, int] = {}
    lock = threading.Lock()

    def guess(number: int) -> None:
        client = secure(server, user("alice", f"guess {number}"))
        while not stop.is_set():
            try:
                client.capabilities()
            except grpc.RpcError as e:
                error: Any = e
                with lock:
                    codes[error.code()] = codes.get(error.code(), 0) + 1
            stop.wait(0.05)

    alice = secure(server, user("alice"))
    assert alice.capabilities().gNMI_version
    threads = [threading.Thread(target=guess, args=(n,)) for n in range(20)]
    try:
        for thread in threads:
            thread.start()
        wait_until(lambda: codes.get(grpc.StatusCode.RESOURCE_EXHAUSTED, 0) > 40, timeout=20)
        before = time.monotonic()
        for _ in range(20):
            assert alice.capabilities().gNMI_version
        took = time.monotonic() - before
        # A check takes 50 ms and more, and behind guesses it would wait for many.
        assert took < 20 * 0.2, took
        # Free ones, and one more now and then.
        assert codes.get(grpc.StatusCode.UNAUTHENTICATED, 0) < 20, codes
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        assert server.stop() == 0
    assert not server.tracebacks()


def test_connections_are_as_many_as_the_settings_say(place: Path) -> None:
    """More than a process has descriptors for unless it asks for them."""
    limits = "max_connections = 800\nmax_connections_per_peer = 800\nauthentication_timeout = 60"
    stored = hash_password("secret")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        server = Server(place, "many", f'{limits}\n[users]\nalice = "{stored}"')
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(700):
                address = ("127.0.0.1", server.port)
                stack.enter_context(socket.create_connection(address, timeout=10))
            assert secure(server, user("alice")).capabilities().gNMI_version
        assert "can't be accepted" not in server.log.read_text()
    finally:
        assert server.stop() == 0
    assert not server.tracebacks()


def test_a_listener_that_dies_ends_the_server_in_words(place: Path) -> None:
    """The service manager starts both again."""
    server = Server(place, "halved", "")
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    (listener,) = children.read_text().split()
    os.kill(int(listener), signal.SIGKILL)
    assert server.process.wait(timeout=10) == 1
    assert "listener: its process ended with status -9" in server.log.read_text()
    assert not server.tracebacks()


def test_a_server_that_dies_takes_its_listener_along(place: Path) -> None:
    server = Server(place, "orphaned", "")
    with idle(server) as connection:
        server.process.kill()
        server.process.wait(timeout=10)
        wait_until(lambda: is_closed(connection))
    # Its address is free for the next one.
    probe = socket.socket()
    with contextlib.closing(probe):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wait_until(lambda: binds(probe, server.port))


def binds(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
