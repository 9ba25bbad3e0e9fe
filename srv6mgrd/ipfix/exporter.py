"""Sends flow records to a collector over UDP, one export after each interval."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from srv6mgrd.ipfix import flows
from srv6mgrd.ipfix.flows import Members, Reading
from srv6mgrd.ipfix.messages import Messages

_LOG = logging.getLogger(__name__)
# Datagrams that are sent at once, and the pause after them: buffers on the way are small.
_BURST, _PAUSE_S = 32, 0.01
# After so many exports in a row another failure is worth a line.
_WELL = 10


@dataclass(frozen=True, slots=True)
class Target:
    """``host:port`` of a collector, seconds between two exports, and the observation domain."""

    collector: str
    interval: float
    domain: int


class Exporter:
    """Each export begins with the templates, as a collector may have missed them (RFC 7011 section
    8.4)."""

    def __init__(self, target: Target, read: Callable[[], Members]) -> None:
        """``read`` gives what the file of accounting holds; it blocks."""
        self._target = target
        self._read = read
        self._messages = Messages(target.domain)
        self._before: Reading | None = None
        self._sending: socket.socket | None = None
        self._problem = ""
        # Exports since the last one that failed.
        self._well = 0

    async def run(self) -> None:
        """Forever. What was counted before it began is not exported."""
        due = time.monotonic()
        while True:
            try:
                await self._export()
            except OSError as error:
                self._report(f"{error.strerror or error}; see whether it runs and can be reached")
            else:
                self._well += 1
            due = max(due + self._target.interval, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _export(self) -> None:
        messages = await asyncio.to_thread(self._made)
        if messages:
            await self._send(messages)

    def _made(self) -> list[bytes]:
        """The messages of what was counted since the last time."""
        found = flows.reading(self._read(), time.time_ns())
        before, self._before = self._before, found
        now = found.at // 1_000_000_000
        if before is None:
            return [self._messages.templates(flows.TEMPLATES, now)]
        data = self._messages.data(flows.records(before, found), now)
        return [self._messages.templates(flows.TEMPLATES, now), *data]

    async def _send(self, messages: Iterable[bytes]) -> None:
        """Raises OSError."""
        loop = asyncio.get_running_loop()
        if self._sending is None:
            self._sending = await self._connected()
        try:
            for number, message in enumerate(messages, 1):
                await loop.sock_sendall(self._sending, message)
                if number % _BURST == 0:
                    await asyncio.sleep(_PAUSE_S)
        except OSError:
            # The name of the collector may have another address by now.
            self._sending.close()
            self._sending = None
            raise

    async def _connected(self) -> socket.socket:
        """It stays from export to export: a closed port is reported with the next datagram."""
        host, _, port = self._target.collector.rpartition(":")
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        try:
            made.connect(address)
        except OSError:
            made.close()
            raise
        return made

    def _report(self, problem: str) -> None:
        """Once, not for each export: of a closed port every other one fails."""
        if problem != self._problem or self._well >= _WELL:
            _LOG.warning("ipfix_collector %s: %s", self._target.collector, problem)
        self._problem, self._well = problem, 0
