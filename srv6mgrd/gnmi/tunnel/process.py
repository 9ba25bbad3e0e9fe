"""The process that dials tunnel servers: ``python -m srv6mgrd.gnmi.tunnel.process``.

A process of its own, as the listener is (docs/adr/0027): bytes of sessions are moved while
srv6-gnmid computes, and nothing that a tunnel server sends reaches srv6-gnmid but as a connection.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from srv6mgrd.clients.admission import Limits
from srv6mgrd.gnmi.tunnel.client import Credentials, Options, TunnelClient
from srv6mgrd.gnmi.tunnel.sessions import Sessions
from srv6mgrd.jobs import until_one_ends
from srv6mgrd.model.tunnels import encode

_LOG = logging.getLogger("srv6-gnmid")
# Seconds between two writes of the state, at least.
_CALM_S = 0.5


class Reporter:
    """Writes the state of all tunnels to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changed = asyncio.Event()
        self.clients: list[TunnelClient] = []

    def change(self) -> None:
        self._changed.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._write()
            await asyncio.sleep(_CALM_S)
            await self._changed.wait()
            self._changed.clear()

    def _write(self) -> None:
        fresh = self._file.with_name(f"{self._file.name}.new")
        states = [replace(client.state, sessions=client.sessions) for client in self.clients]
        try:
            fresh.write_text(encode(states))
            os.chmod(fresh, 0o644)
            fresh.rename(self._file)
        except OSError as error:
            _LOG.error("%s: %s; the state of tunnels is not shown", self._file, error.strerror)


async def _obey(sessions: Sessions, control: socket.socket) -> None:
    """Hear from srv6-gnmid which sessions have authenticated, until it ends."""
    reader, writer = await asyncio.open_unix_connection(sock=control)
    while line := await reader.readline():
        sessions.authenticated(int(line))
    await sessions.drain()
    writer.close()


async def run(settings: Mapping[str, Any]) -> None:
    """Dial until srv6-gnmid ends."""
    folder = Path(settings["folder"])
    sessions = Sessions(folder, settings["behind"], Limits(**settings["limits"]))
    reporter = Reporter(Path(settings["state"]))
    credentials = Credentials(**settings["credentials"])
    options = Options(settings["target"], credentials, settings["keepalive"])
    reporter.clients = [
        TunnelClient(server, options, sessions, folder / f"dialed-{number}", reporter.change)
        for number, server in enumerate(settings["servers"])
    ]
    await until_one_ends(
        _obey(sessions, socket.socket(fileno=settings["control"])),
        sessions.expire(),
        reporter.run(),
        *(client.run() for client in reporter.clients),
    )


if __name__ == "__main__":
    # systemd signals all processes of a unit; this one ends with srv6-gnmid.
    for ignored in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    given = json.loads(sys.argv[1])
    logging.basicConfig(level=given["log_level"], format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(run(given))
