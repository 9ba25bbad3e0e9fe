"""Answers to requests: access, query, text. HTTP itself is in ``connection``."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import Metric

from srv6mgrd.clients.certificates import AuthContext
from srv6mgrd.clients.denied import NotAuthenticatedError, ThrottledError
from srv6mgrd.clients.peer import Peer
from srv6mgrd.counters.store_file import StoreError
from srv6mgrd.metrics import exposition
from srv6mgrd.metrics.access import Access, NoReaderError
from srv6mgrd.metrics.exposition import Format
from srv6mgrd.metrics.query import NoSuchPageError, Query, QueryError, parse
from srv6mgrd.metrics.state import State

_LOG = logging.getLogger(__name__)
# Answers in the making or on their way: all of them, and those of one client. One of a hundred
# thousand SIDs is 30 MB.
_MOST, _MOST_OF_PEER = 8, 2
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """``headers`` by their names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """``pieces`` are the body."""

    status: HTTPStatus
    headers: Sequence[tuple[str, str]]
    pieces: Sequence[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces))


def problem(status: HTTPStatus, text: str, *headers: tuple[str, str]) -> Answer:
    """An answer that says in one line why there is no other."""
    return Answer(status, (("Content-Type", _TEXT), *headers), (f"{text}\n".encode(),))


class Answers:
    """Makes answers, a few at a time."""

    def __init__(self, access: Access, read: Callable[[Query], State]) -> None:
        """``read`` blocks, and raises StoreError."""
        self._access = access
        self._read = read
        self._process = ProcessCollector(registry=None)
        self._turns = asyncio.Semaphore(_MOST)
        self._of_peer: Counter[str] = Counter()
        # To encode takes a CPU: one after the other.
        self._encoding = asyncio.Lock()

    async def denied(
        self, request: Request, certificates: AuthContext, peer: Peer
    ) -> Answer | None:
        """Why the client may not read; None: it may."""
        try:
            await self._access.check(request.headers.get("authorization", ""), certificates, peer)
        except NotAuthenticatedError as error:
            challenge = ("WWW-Authenticate", 'Basic realm="srv6mgr", charset="UTF-8"')
            return problem(HTTPStatus.UNAUTHORIZED, str(error), challenge)
        except ThrottledError as error:
            return problem(HTTPStatus.TOO_MANY_REQUESTS, str(error))
        except NoReaderError as error:
            return problem(HTTPStatus.FORBIDDEN, str(error))
        return None

    @asynccontextmanager
    async def answer(self, request: Request, peer: Peer) -> AsyncIterator[Answer]:
        """To a client that may read; its memory counts until the block ends."""
        if request.method not in ("GET", "HEAD"):
            text = f"method {request.method}: metrics are only read; use GET"
            yield problem(HTTPStatus.METHOD_NOT_ALLOWED, text, ("Allow", "GET, HEAD"))
            return
        try:
            query = parse(request.target)
        except QueryError as error:
            yield problem(HTTPStatus.BAD_REQUEST, str(error))
            return
        except NoSuchPageError as error:
            yield problem(HTTPStatus.NOT_FOUND, str(error))
            return
        group = peer.group
        if self._of_peer[group] >= _MOST_OF_PEER:
            text = f"{_MOST_OF_PEER} answers to {group} are on their way; take them first"
            yield problem(HTTPStatus.TOO_MANY_REQUESTS, text)
            return
        self._of_peer[group] += 1
        try:
            async with self._turns:
                yield await self._metrics(request, query)
        finally:
            self._of_peer[group] -= 1
            if not self._of_peer[group]:
                del self._of_peer[group]

    async def _metrics(self, request: Request, query: Query) -> Answer:
        written = Format.wanted(request.headers.get("accept", ""))
        packed = _takes_gzip(request.headers.get("accept-encoding", ""))
        try:
            async with self._encoding:
                pieces = await asyncio.to_thread(self._made, query, written, packed)
        except StoreError as error:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        headers = [("Content-Type", written.content_type), ("Vary", "Accept, Accept-Encoding")]
        if packed:
            headers.append(("Content-Encoding", "gzip"))
        return Answer(HTTPStatus.OK, headers, pieces)

    def _made(self, query: Query, written: Format, packed: bool) -> list[bytes]:
        pieces = exposition.body(self._read(query), query, written, self._own())
        return exposition.compressed(pieces) if packed else pieces

    def _own(self) -> Iterable[Metric]:
        """CPU and memory of this process."""
        return self._process.collect()


def _takes_gzip(accepted: str) -> bool:
    """Of the header Accept-Encoding (RFC 9110 section 12.5.3)."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
