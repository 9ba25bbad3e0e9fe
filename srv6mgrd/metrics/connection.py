"""One connection of a client: HTTP/1.1 by h11, with a deadline for each of its parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11

from srv6mgrd.clients.certificates import AuthContext
from srv6mgrd.clients.peer import Peer
from srv6mgrd.metrics.answers import Answer, Answers, Request, problem

_LOG = logging.getLogger(__name__)
# Of a request line with its headers.
_MOST_BYTES = 16_384
_READ = 4096
# What is handed to TLS and the kernel at a time.
_WRITE = 1 << 16


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds: until the client has said who it is, for an answer, and between two requests."""

    authentication: float
    answer: float
    idle: float


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Connection:
    """Serves a client until it leaves, errs or takes too long."""

    def __init__(
        self,
        streams: Streams,
        client: tuple[Peer, AuthContext],
        answers: Answers,
        deadlines: Deadlines,
        authenticated: Callable[[], None],
    ) -> None:
        self._reader, self._writer = streams
        self._peer, self._certificates = client
        self._answers = answers
        self._deadlines = deadlines
        self._authenticated = authenticated
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_BYTES)

    async def serve(self) -> None:
        """Raises TimeoutError when the client takes too long, OSError when it left."""
        seconds = self._deadlines.authentication
        while True:
            async with asyncio.timeout(seconds):
                request = await self._request()
                if request is None:
                    return
                answer = await self._answers.denied(request, self._certificates, self._peer)
            async with asyncio.timeout(self._deadlines.answer):
                if answer is not None:
                    await self._send(answer, request.method)
                else:
                    self._authenticated()
                    seconds = self._deadlines.idle
                    async with self._answers.answer(request, self._peer) as made:
                        await self._send(made, request.method)
            if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _request(self) -> Request | None:
        """The next one; None when the client is done, or what it sent is no request that is
        served."""
        request: h11.Request | None = None
        try:
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._http.receive_data(await self._reader.read(_READ))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    raise h11.RemoteProtocolError("a request for metrics has no body")
                elif isinstance(event, h11.EndOfMessage) and request is not None:
                    return _plain(request)
                else:
                    return None
        except h11.RemoteProtocolError as error:
            await self._reject(error)
            return None

    async def _reject(self, error: h11.RemoteProtocolError) -> None:
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status = HTTPStatus(error.error_status_hint)
            await self._send(problem(status, f"request: {error}"), "GET", ("Connection", "close"))

    async def _send(self, answer: Answer, method: str, *headers: tuple[str, str]) -> None:
        fields = [*answer.headers, *headers, ("Content-Length", str(answer.size))]
        fields.append(("Cache-Control", "no-store"))
        head = h11.Response(
            status_code=answer.status, reason=answer.status.phrase.encode(), headers=fields
        )
        self._write(head)
        if method != "HEAD":
            for piece in answer.pieces:
                # No copy of what may be 30 MB; h11 takes any buffer.
                view: Any = memoryview(piece)
                for at in range(0, len(view), _WRITE):
                    self._write(h11.Data(data=view[at : at + _WRITE]))
                    # A slow reader has one piece in the kernel and one here.
                    await self._writer.drain()
        self._write(h11.EndOfMessage())
        await self._writer.drain()

    def _write(self, event: h11.Event) -> None:
        for data in self._http.send_with_data_passthrough(event) or ():
            self._writer.write(data)


def _plain(request: h11.Request) -> Request:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
    return Request(request.method.decode("ascii"), request.target.decode("ascii"), headers)
