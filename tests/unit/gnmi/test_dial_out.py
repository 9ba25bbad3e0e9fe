"""Dial-out without a tunnel server: the connection, and what comes through it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from lab.waiting import wait_until_async
from srv6mgrd.clients.admission import Limits
from srv6mgrd.clients.peer import read
from srv6mgrd.gnmi.tunnel import client, messages
from srv6mgrd.gnmi.tunnel.dial import Dialed
from srv6mgrd.gnmi.tunnel.sessions import FIRST, Sessions

SERVER = ("192.0.2.9", 57401)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (TimeoutError(), "nothing answers there"),
        (ConnectionRefusedError(111, "Connect call failed ('::1', 1)"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (
            OSError("Multiple exceptions: [Errno 111] a ('::1', 1), [Errno 113] b ('::2', 1)"),
            "Connection refused, No route to host",
        ),
        (OSError("another"), "another"),
    ],
)
def test_a_failure_is_named_by_its_cause(error: OSError, cause: str) -> None:
    assert client._cause(error) == cause


@pytest.mark.parametrize(
    ("code", "details", "words"),
    [
        ("UNIMPLEMENTED", "", "no tunnel server answers there; correct tunnel_servers"),
        ("UNAVAILABLE", "x; unix:/a/b: Handshake failed", "UNAVAILABLE: Handshake failed; see"),
        ("UNAVAILABLE", "Socket closed", "UNAVAILABLE: Socket closed; see the server's log"),
        ("INTERNAL", None, "INTERNAL: it says no reason; see the server's log"),
    ],
)
def test_a_status_is_named_without_our_socket(code: str, details: str | None, words: str) -> None:
    said = client._status(grpc.StatusCode[code], details)
    assert said.startswith(words)
    assert ("tunnel_ca" in said) is ("Handshake" in said)


async def test_a_connection_is_kept_alive_by_the_kernel(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    path = tmp_path / "dialed"
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    dialed = Dialed(path, 30)
    await dialed.open("127.0.0.1", port)
    assert (dialed.address, dialed.port) == ("127.0.0.1", port)
    assert dialed._transport is not None
    made: socket.socket = dialed._transport.get_extra_info("socket")
    for option, value in (
        (socket.TCP_KEEPIDLE, 30),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 3),
        (socket.TCP_USER_TIMEOUT, 45_000),
    ):
        assert made.getsockopt(socket.IPPROTO_TCP, option) == value
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"hello"
    # It leads one client there.
    with pytest.raises(OSError, match="No such file"):
        await asyncio.open_unix_connection(str(path))
    dialed.close()
    assert await reader.read() == b""
    writer.close()
    server.close()


class Call:
    """One of the RPC Tunnel: what the tunnel server sends, and what it is sent."""

    def __init__(self) -> None:
        self.sends: asyncio.Queue[Any] = asyncio.Queue()
        self.sent: list[Any] = []
        self.cancelled = False

    async def write(self, message: Any) -> None:
        self.sent.append(message)

    async def read(self) -> Any:
        return await self.sends.get()

    async def done_writing(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


class Behind:
    """In the place of gRPC's own socket: says hello, and who it believes is there."""

    def __init__(self) -> None:
        self.peers: list[Any] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.append(read(writer.get_extra_info("peername")))
        writer.write(b"hello")
        while data := await reader.read(100):
            writer.write(data.upper())
        writer.close()


@asynccontextmanager
async def sessions(tmp_path: Path, limits: Limits) -> AsyncIterator[tuple[Sessions, Behind]]:
    behind = Behind()
    socket_of_grpc = str(tmp_path / "tls")
    server = await asyncio.start_unix_server(behind.serve, socket_of_grpc)
    found = Sessions(tmp_path, socket_of_grpc, limits)
    expiring = asyncio.create_task(found.expire())
    yield found, behind
    expiring.cancel()
    server.close()


def said(call: Call) -> bytes:
    return b"".join(message.data for message in call.sent)


async def test_a_session_is_led_to_grpc_in_the_name_of_the_server(tmp_path: Path) -> None:
    async with sessions(tmp_path, Limits(2, 2, 60)) as (found, behind):
        call = Call()
        serving = found.begin(lambda: call, 7, *SERVER)
        assert isinstance(serving, asyncio.Task)
        await wait_until_async(lambda: said(call) == b"hello")
        assert call.sent[0].tag == 7
        (peer,) = behind.peers
        # No user of this machine, although the process is one of ours.
        assert (peer.connection, peer.address, peer.port, peer.uid) == (FIRST, *SERVER, None)
        call.sends.put_nowait(messages.Data(data=b"a"))
        await wait_until_async(lambda: said(call) == b"helloA")
        call.sends.put_nowait(messages.Data(close=True))
        await serving
        assert call.cancelled


async def test_sessions_that_do_not_authenticate_give_way(tmp_path: Path) -> None:
    async with sessions(tmp_path, Limits(2, 2, 60)) as (found, _):
        calls = [Call() for _ in range(4)]
        first, second = (found.begin(lambda call=call: call, 1, *SERVER) for call in calls[:2])
        assert isinstance(first, asyncio.Task)
        assert isinstance(second, asyncio.Task)
        await wait_until_async(lambda: all(said(call) == b"hello" for call in calls[:2]))
        found.authenticated(FIRST + 1)
        third = found.begin(lambda: calls[2], 1, *SERVER)
        assert isinstance(third, asyncio.Task)
        await asyncio.wait([first])
        found.authenticated(FIRST + 2)
        assert not second.done()
        assert "2 connections of it are open" in str(found.begin(lambda: calls[3], 1, *SERVER))
        for call in calls[1:3]:
            call.sends.put_nowait(grpc.aio.EOF)
        await asyncio.wait([second, third])
        await found.drain()


async def test_a_session_that_does_not_authenticate_in_time_is_closed(tmp_path: Path) -> None:
    async with sessions(tmp_path, Limits(1, 1, 0.1)) as (found, _):
        call = Call()
        serving = found.begin(lambda: call, 1, *SERVER)
        assert isinstance(serving, asyncio.Task)
        await asyncio.wait([serving], timeout=10)
        assert call.cancelled
