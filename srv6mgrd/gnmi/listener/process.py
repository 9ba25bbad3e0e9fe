"""The process that accepts connections for gRPC: ``python -m srv6mgrd.gnmi.listener.process``.

gRPC for Python counts connections and no more: idle ones of a single client lock all others out.
Here they are counted by client, and one that does not authenticate in time is closed. A process of
its own keeps that going whatever srv6-gnmid is at, and keeps a flood of connections away from it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from srv6mgrd.clients.accepted import peer_of
from srv6mgrd.clients.admission import Admission, Limits, Rejected
from srv6mgrd.clients.flood import FloodLog
from srv6mgrd.clients.peer import Peer
from srv6mgrd.gnmi.listener.behind import connect
from srv6mgrd.gnmi.listener.relay import DRAIN_S, Side

_LOG = logging.getLogger("srv6-gnmid")
_PAUSE_S = 0.2  # after accept failed: no descriptors are left, say
_EXPIRY_S = 0.25


@dataclass(frozen=True, slots=True)
class Entrance:
    """A listening socket, and gRPC's own socket behind it."""

    listening: socket.socket
    behind: str


class Listener:
    """Accepts connections and relays them, each under the name of its client."""

    def __init__(self, folder: Path, limits: Limits, unanswered_ms: int) -> None:
        """``folder`` is private. A client that acknowledges nothing for ``unanswered_ms`` is
        gone."""
        self._folder = folder
        self._admission = Admission(limits)
        self._unanswered_ms = unanswered_ms
        self._open: dict[int, tuple[Side, ...]] = {}
        self._last = 0
        self._starting: set[asyncio.Task[None]] = set()
        self._flood = FloodLog(_LOG, "listen: ")

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
            starting = loop.create_task(self._begin(entrance, accepted, address))
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def _begin(self, entrance: Entrance, accepted: socket.socket, address: object) -> None:
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
            self._end(verdict.displaced)
        self._open[number] = ()
        try:
            await self._relay(entrance, accepted, peer)
        except (OSError, TimeoutError) as error:
            self._flood.warn(f"{peer}: {error or 'srv6-gnmid does not answer'}; it is closed")
            accepted.close()
            self._end(number)

    async def _relay(self, entrance: Entrance, accepted: socket.socket, peer: Peer) -> None:
        loop = asyncio.get_running_loop()
        number = peer.connection
        if accepted.family != socket.AF_UNIX:
            # gRPC's pings find a client that vanished; this ends what is left to be sent to it.
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, self._unanswered_ms)
        behind = await connect(self._folder, entrance.behind, peer)
        near, far = (Side(lambda: self._end(number)) for _ in range(2))
        near.other, far.other = far, near
        if number not in self._open:  # it was displaced meanwhile
            behind.close()
            accepted.close()
            return
        self._open[number] = (near, far)
        await loop.create_unix_connection(lambda: far, sock=behind)
        await loop.connect_accepted_socket(lambda: near, accepted)

    def _end(self, number: int) -> None:
        self._admission.leave(number)
        for side in self._open.pop(number, ()):
            side.close()

    def authenticated(self, number: int) -> None:
        self._admission.authenticate(number)

    async def expire(self) -> None:
        """Close connections whose clients do not authenticate."""
        while True:
            for number in self._admission.overdue(time.monotonic()):
                self._flood.warn("a connection is closed whose client did not authenticate in time")
                self._end(number)
            await asyncio.sleep(_EXPIRY_S)

    async def drain(self) -> None:
        """Give clients a moment to take what gRPC sent before it ended."""
        end = time.monotonic() + DRAIN_S
        while self._open and time.monotonic() < end:
            await asyncio.sleep(0.02)


async def _obey(listener: Listener, control: socket.socket) -> None:
    """Hear from srv6-gnmid which connections have authenticated, until it ends."""
    reader, writer = await asyncio.open_unix_connection(sock=control)
    while line := await reader.readline():
        listener.authenticated(int(line))
    writer.close()


async def run(settings: Mapping[str, Any]) -> None:
    """Listen until srv6-gnmid ends."""
    listener = Listener(
        Path(settings["folder"]), Limits(**settings["limits"]), settings["unanswered_ms"]
    )
    entrances = [Entrance(socket.socket(fileno=fd), path) for fd, path in settings["entrances"]]
    jobs = [asyncio.create_task(listener.accept(entrance)) for entrance in entrances]
    jobs.append(asyncio.create_task(listener.expire()))
    await _obey(listener, socket.socket(fileno=settings["control"]))
    for job in jobs:
        job.cancel()
    for entrance in entrances:
        entrance.listening.close()
    await listener.drain()


if __name__ == "__main__":
    # systemd signals all processes of a unit; this one has to outlive what gRPC still sends.
    for ignored in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    given = json.loads(sys.argv[1])
    logging.basicConfig(level=given["log_level"], format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(run(given))
