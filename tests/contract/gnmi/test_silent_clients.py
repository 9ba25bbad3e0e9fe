"""Clients that say nothing, or vanish, hold up nobody and leave nothing behind."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from gnmi_pb import gnmi_pb2 as pb

from tests.contract.gnmi.client import Client, failing, subscription, updates
from tests.contract.gnmi.conftest import Server
from tests.contract.gnmi.data import TABLE
from tests.contract.gnmi.holdings import Holdings

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def test_a_stream_that_says_nothing_is_free_to_leave(unchanged: Client) -> None:
    for _ in range(20):
        with unchanged.requests() as stream:
            assert stream.quiet(0.01)
    silent = unchanged.stub.Subscribe(iter([]), timeout=10)
    code, text = failing(list, silent)
    assert code is INVALID
    assert "the first request must hold a SubscriptionList" in text


def test_a_stream_whose_client_closed_its_side_goes_on(router: Client) -> None:
    asked = pb.SubscriptionList(subscription=[subscription(TABLE)], encoding=pb.JSON_IETF)
    call = router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]), timeout=20)
    assert next(call).update.update
    assert next(call).sync_response
    router.set(update={TABLE: 101})
    assert updates(next(call).update) == {TABLE: 101}
    call.cancel()


def test_connections_that_say_nothing_hold_up_nobody(
    unchanged: Client, server: Server, holdings: Holdings
) -> None:
    with contextlib.ExitStack() as stack:
        for beginning in (b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01", b"GET / "):
            tcp = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            tcp.sendall(beginning)
            local = stack.enter_context(socket.socket(socket.AF_UNIX))
            local.connect(str(server.socket))
            local.sendall(beginning)
        unchanged.set(update={TABLE: 100})


class Wire:
    """Between a client and a UNIX socket; it can go silent without a word to either."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.cut = threading.Event()
        self.closed = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        near, _ = self._listener.accept()
        with near, socket.socket(socket.AF_UNIX) as far, selectors.DefaultSelector() as selector:
            far.connect(str(self._target))
            other = {near: far, far: near}
            for side in other:
                selector.register(side, selectors.EVENT_READ)
            while not self.closed.is_set():
                for key, _ in selector.select(0.1):
                    side: Any = key.fileobj
                    data = side.recv(65536)
                    if not data and side is far:
                        self.closed.set()
                    elif not self.cut.is_set():
                        other[side].sendall(data)

    def close(self) -> None:
        self.closed.set()
        self._thread.join()
        self._listener.close()


@pytest.fixture(scope="module")
def pinging(place: Path) -> Iterator[Server]:
    """It pings each second, waits as long for an answer, and serves one subscriber."""
    server = Server(place, "pinging", "keepalive = 1\nmax_subscribers = 1")
    yield server
    assert server.stop() == 0
    assert not server.tracebacks()


@pytest.fixture
def cable(pinging: Server) -> Iterator[Callable[[], Wire]]:
    wires: list[Wire] = []

    def make() -> Wire:
        wires.append(Wire(pinging.socket))
        return wires[-1]

    yield make
    for wire in wires:
        wire.close()


@pytest.mark.parametrize("beginning", [b"", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n"])
def test_a_connection_that_says_nothing_is_ended(pinging: Server, beginning: bytes) -> None:
    tcp = socket.create_connection(("127.0.0.1", pinging.port))
    local = socket.socket(socket.AF_UNIX)
    with tcp, local:
        local.connect(str(pinging.socket))
        for side in (tcp, local):
            side.settimeout(10)
            side.sendall(beginning)
        for side in (tcp, local):
            with contextlib.suppress(ConnectionResetError):
                while side.recv(4096):
                    pass


def test_a_client_that_vanished_is_found_out(cable: Callable[[], Wire], gnmi: Client) -> None:
    wire = cable()
    client = Client(f"127.0.0.1:{wire.port}", own_connection=True)
    with client.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
        wire.cut.set()
        assert wire.closed.wait(10)
    # Its place is free.
    again = Client(f"127.0.0.1:{cable().port}", own_connection=True)
    with again.subscribe(subscription("/srv6")) as stream:
        stream.until_sync()
    again.close()
    client.close()


def test_subscribe_and_set_leave_nothing_behind(router: Client, holdings: Holdings) -> None:
    kinds = [
        {"mode": pb.SubscriptionList.STREAM, "how": pb.ON_CHANGE},
        {"mode": pb.SubscriptionList.STREAM, "how": pb.SAMPLE},
        {"mode": pb.SubscriptionList.STREAM, "how": pb.TARGET_DEFINED},
        {"mode": pb.SubscriptionList.POLL, "how": pb.TARGET_DEFINED},
        {"mode": pb.SubscriptionList.ONCE, "how": pb.TARGET_DEFINED},
    ]

    def work(times: int) -> None:
        for n in range(times):
            kind = kinds[n % len(kinds)]
            asked = pb.SubscriptionList(
                subscription=[subscription("/srv6", kind["how"])],
                mode=kind["mode"],
                encoding=pb.JSON_IETF,
            )
            call = router.stub.Subscribe(iter([pb.SubscribeRequest(subscribe=asked)]))
            if n % 2:
                for answer in call:
                    if answer.sync_response:
                        break
            call.cancel()
            if n % 4 == 0:
                router.set(replace={TABLE: 1000 + n})
            elif n % 4 == 2:
                failing(router.set, update={TABLE: "x"})

    work(400)
    memory, held = holdings.memory(), holdings.now()
    work(1600)
    holdings.settle(held)
    assert holdings.memory() < memory + 2
