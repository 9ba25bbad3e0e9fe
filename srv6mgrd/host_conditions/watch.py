"""Looks at the host every few seconds, and reports what is wrong. In a thread, since a disk or
Redis may take its time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

from srv6mgrd.host_conditions import daemons, disks, judge, tunnels
from srv6mgrd.host_conditions.certificates import Certificates
from srv6mgrd.host_conditions.clock import Clock
from srv6mgrd.model.condition import Condition
from srv6mgrd.settings import Settings
from srv6mgrd.storage import Problems

_LOG = logging.getLogger(__name__)

SOURCE = "host"
# Seconds between looks.
_LOOK = 2.0
_TIMEOUT = 1.0


class Alarms(Protocol):
    """Where conditions go (``alarms.keeper.Alarms``)."""

    def report(self, source: str, conditions: Iterable[Condition]) -> None: ...


class HostWatch:
    """Gathers what is judged. Its state is used by one look at a time."""

    def __init__(
        self,
        settings: Settings,
        alarms: Alarms,
        problems: Problems,
        pending: Callable[[], Mapping[str, str]],
    ) -> None:
        """``pending`` is the commit that awaits confirmation, with its ``problem``."""
        self._settings = settings
        self._alarms = alarms
        self._problems = problems
        self._pending = pending
        self._runtime = Path(settings.runtime_directory)
        self._certificates = Certificates()
        self._clock = Clock()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                self._alarms.report(SOURCE, await asyncio.to_thread(self.look))
            except Exception:
                # Nothing here is worth a daemon that ends.
                _LOG.exception("conditions of the host")
            await asyncio.sleep(_LOOK)

    def look(self) -> list[Condition]:
        """All that is wrong now."""
        pending = self._pending()
        return [
            *judge.files(self._problems.listed()),
            *judge.rollback(pending.get("id", ""), pending.get("problem", "")),
            *judge.disks(disks.found(self._settings)),
            *judge.certificates(self._certificates.found(), time.time()),
            *judge.daemons(_daemons(self._runtime)),
            *judge.redis(self._settings.redis_socket, self._redis()),
            *judge.tunnels(tunnels.found(self._runtime), time.time()),
            *judge.clock(self._clock.problem()),
        ]

    def _redis(self) -> str:
        """Why it does not answer; a server that loads its data, or wants a password, does."""
        if not self._settings.redis_socket:
            return ""
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(_TIMEOUT)
                client.connect(self._settings.redis_socket)
                client.sendall(b"PING\r\n")
                return "" if client.recv(64) else "it closed the connection"
        except OSError as error:
            return error.strerror or str(error)


def _daemons(runtime: Path) -> list[judge.Daemon]:
    with contextlib.suppress(OSError):
        return daemons.found(runtime)
    return []
