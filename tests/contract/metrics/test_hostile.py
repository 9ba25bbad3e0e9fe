"""Clients that harm, beside one that scrapes."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
from collections.abc import Iterator

import pytest

from lab.waiting import wait_until
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from tests.contract.metrics.conftest import PASSWORD, USER, Server, Start
from tests.contract.metrics.test_scrape import OverSocket, basic, connected, get

SHORT = "authentication_timeout = 2.0\nrequest_seconds = 2.0\n"


@contextlib.contextmanager
def many_sids(server: Server) -> Iterator[None]:
    """So many that the text fits in no buffer of a socket."""
    writer = StoreWriter(server.socket.with_name("store"))
    detail, installed = "End.DT46 red", InstallStatus.INSTALLED
    names = (f"fcbb:0:1:{n:x}::/64" for n in range(50_000))
    status = ObjectStatus(installed, detail=detail)
    writer.set_statuses({ObjectRef(Kind.SID, name): status for name in names})
    writer.close()
    yield


def is_closed(client: socket.socket) -> bool:
    """Whether the other end is gone, with what it sent before left out."""
    client.setblocking(False)
    try:
        while client.recv(1 << 16):
            pass
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True
    return True


def scrape_works(server: Server) -> None:
    with connected(server) as client:
        assert get(client, basic(USER, PASSWORD), "/metrics?kind=node")[0] == 200


def test_idle_connections_lock_nobody_out_and_end(start: Start) -> None:
    server = start(SHORT + "max_connections = 20\nmax_connections_per_peer = 15\n")
    with contextlib.ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            for _ in range(60)
        ]
        scrape_works(server)
        wait_until(lambda: all(map(is_closed, idle)), "the end of idle connections")


def test_a_request_that_never_ends_is_closed(start: Start) -> None:
    server = start(SHORT)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.socket))
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-A: ")
        scrape_works(server)
        wait_until(lambda: is_closed(client), "the end of a slow request")


def test_slow_readers_are_closed_and_hold_up_nobody(start: Start) -> None:
    server = start(SHORT)
    with many_sids(server), contextlib.ExitStack() as stack:
        slow = []
        for _ in range(6):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(server.socket))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            slow.append(client)
        scrape_works(server)
        # Two get an answer at once, and are closed before they took all of it.
        wait_until(lambda: "took too long" in server.log.read_text(), "the end of slow readers")
        scrape_works(server)
    assert server.peak() < 300


def test_one_client_gets_two_answers_at_once(start: Start) -> None:
    server = start("request_seconds = 20.0\n")
    with many_sids(server), contextlib.ExitStack() as stack:
        for _ in range(2):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(server.socket))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            # It is on its way.
            assert client.recv(12) == b"HTTP/1.1 200"
        third = OverSocket(server.socket)
        status, text = get(third, {})
        third.close()
        assert status == 429
        assert "take them first" in text
        # Another client is not affected.
        scrape_works(server)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00" * 100,
        b"GET /metrics HTTP/1.1\r\n\r\n",
        b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
        b"POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
        b"GET /metrics?kind=%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /metrics?" + b"vrf=a&" * 1000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET //[/metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=range(8),
)
def test_garbage_gets_an_error_or_an_end(start: Start, sent: bytes) -> None:
    server = start(SHORT)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(server.socket))
        with contextlib.suppress(OSError):
            client.sendall(sent)
        with contextlib.suppress(OSError):
            answer = client.recv(20)
            assert answer == b"" or answer.split()[1][:1] == b"4", answer
    scrape_works(server)


def test_guesses_are_throttled(start: Start) -> None:
    server = start()
    statuses = []
    for n in range(7):
        with connected(server) as client:
            statuses.append(get(client, basic(USER, f"guess {n}"))[0])
    assert statuses[:5] == [401] * 5
    assert statuses[-1] == 429
    # Over the UNIX socket the mode of the socket decides.
    client = OverSocket(server.socket)
    assert get(client, {}, "/metrics?kind=node")[0] == 200
    client.close()


def test_a_client_that_leaves_is_no_failure(start: Start) -> None:
    server = start()
    with many_sids(server):
        for _ in range(5):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(server.socket))
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                client.recv(1)
    client = http.client.HTTPConnection("localhost")
    client.close()
    scrape_works(server)
