"""Accepts connections: a bounded number, TLS, and an end to each."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from srv6mgrd.clients.accepted import peer_of
from srv6mgrd.clients.addresses import listen
from srv6mgrd.clients.admission import Admission, Limits, Rejected
from srv6mgrd.clients.certificate_files import CertificateFiles, files
from srv6mgrd.clients.flood import FloodLog
from srv6mgrd.clients.peer import Peer
from srv6mgrd.metrics.access import shown
from srv6mgrd.metrics.answers import Answers
from srv6mgrd.metrics.config import Config
from srv6mgrd.metrics.connection import Connection, Deadlines, Streams
from srv6mgrd.settings import SettingsError

_LOG = logging.getLogger(__name__)
_PAUSE_S = 0.2  # after accept failed: no descriptors are left, say
_LONGEST_LINE = 1 << 16
_SHUTDOWN_S = 1.0


class Tls:
    """A context whose files are read again for each connection."""

    def __init__(self, config: Config) -> None:
        """Raises SettingsError."""
        self._paths = files(config.certificate, config.key, config.state_directory)
        authorities = Path(config.client_ca) if config.client_ca else None
        self._authorities = authorities
        self._files = CertificateFiles(*self._paths, authorities)
        self._files.read()
        self._context = self._made()

    def context(self) -> ssl.SSLContext:
        """For the next connection."""
        if self._files.fresh() is not None:
            try:
                self._context = self._made()
            except SettingsError as error:  # replaced between two reads
                _LOG.error("%s; the last good certificate stays in service", error)
        return self._context

    def _made(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(*self._paths)
            if self._authorities is not None:
                context.load_verify_locations(self._authorities)
                context.verify_mode = ssl.CERT_REQUIRED
        except (OSError, ssl.SSLError) as error:
            raise SettingsError(f"{self._paths[0]}: {error}; correct it") from None
        return context


@dataclass(frozen=True, slots=True)
class Entrance:
    """A listening socket; ``tls`` is None on those without."""

    listening: socket.socket
    tls: Tls | None


def entrances(config: Config) -> list[Entrance]:
    """All that the settings name. Raises SettingsError."""
    tls = Tls(config) if config.listen else None
    made: list[Entrance] = []
    try:
        for addresses, secured in ((config.listen, tls), (config.plaintext, None)):
            for address in addresses:
                made.append(Entrance(listen(address, config.socket_group), secured))
    except SettingsError:
        for entrance in made:
            entrance.listening.close()
        raise
    return made


class Listener:
    """Serves clients until it is cancelled."""

    def __init__(self, config: Config, answers: Answers) -> None:
        self._answers = answers
        self._admission = Admission(
            Limits(
                config.max_connections,
                min(config.max_connections_per_peer, config.max_connections),
                config.authentication_timeout,
            )
        )
        self._deadlines = Deadlines(
            config.authentication_timeout, config.request_seconds, config.idle_seconds
        )
        self._last = 0
        self._open: dict[int, asyncio.Task[None]] = {}
        self._flood = FloodLog(_LOG)

    async def accept(self, entrance: Entrance) -> None:
        """Accept forever."""
        loop = asyncio.get_running_loop()
        entrance.listening.setblocking(False)
        while True:
            try:
                accepted, address = await loop.sock_accept(entrance.listening)
            except OSError as error:
                self._flood.warn(f"a connection can't be accepted: {error.strerror}")
                await asyncio.sleep(_PAUSE_S)
                continue
            self._begin(entrance, accepted, address)

    def _begin(self, entrance: Entrance, accepted: socket.socket, address: Any) -> None:
        self._last += 1
        number = self._last
        peer = peer_of(number, accepted, address)
        verdict = self._admission.arrive(
            number, peer.group, time.monotonic(), authenticated=peer.uid is not None
        )
        if isinstance(verdict, Rejected):
            self._flood.warn(f"{peer}: rejected: {verdict.reason}")
            accepted.close()
            return
        if verdict.displaced is not None:
            self._flood.warn(
                f"{peer}: an older connection that did not authenticate is closed for it"
            )
            self._open[verdict.displaced].cancel()
        serving = asyncio.get_running_loop().create_task(self._serve(entrance, accepted, peer))
        self._open[number] = serving
        serving.add_done_callback(lambda _: self._ended(number))

    async def _serve(self, entrance: Entrance, accepted: socket.socket, peer: Peer) -> None:
        try:
            streams = await self._streams(entrance, accepted)
        except (OSError, TimeoutError) as error:
            accepted.close()
            self._flood.warn(f"{peer}: {error or 'the TLS handshake took too long'}; it is closed")
            return
        except asyncio.CancelledError:
            accepted.close()
            raise
        writer = streams[1]
        client = peer, shown(_chain(writer))
        proved = partial(self._admission.authenticate, peer.connection)
        connection = Connection(streams, client, self._answers, self._deadlines, proved)
        try:
            await connection.serve()
            writer.close()
        except TimeoutError:
            self._flood.warn(f"{peer}: took too long; it is closed")
        except OSError as error:
            _LOG.debug("%s: %s", peer, error)
        finally:
            if not writer.is_closing():
                # What it does not take is not kept for it.
                writer.transport.abort()

    async def _streams(self, entrance: Entrance, accepted: socket.socket) -> Streams:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(_LONGEST_LINE, loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        if entrance.tls is None:
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted)
        else:
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol,
                accepted,
                ssl=entrance.tls.context(),
                ssl_handshake_timeout=self._deadlines.authentication,
                ssl_shutdown_timeout=_SHUTDOWN_S,
            )
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    def _ended(self, number: int) -> None:
        self._admission.leave(number)
        task = self._open.pop(number)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("a connection failed: %s", error, exc_info=error)

    async def close(self) -> None:
        """End all connections."""
        serving = list(self._open.values())
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


def _chain(writer: asyncio.StreamWriter) -> list[bytes]:
    """Certificates that the client shows, its own first."""
    secured = writer.get_extra_info("ssl_object")
    own = None if secured is None else secured.getpeercert(binary_form=True)
    if own is None:
        return []
    # Since Python 3.13; before, intermediate authorities have to be in client_ca.
    more: list[bytes] = getattr(secured, "get_unverified_chain", list)()
    return [own, *(one for one in more if one != own)]
