"""Looks at the host every few seconds, and reports what is wrong. In a thread, since a disk or
Redis may take its time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from srv6mgrd.host_conditions import daemons, judge
from srv6mgrd.host_conditions.clock import Clock
from srv6mgrd.host_conditions.judge import Certificate, Disk
from srv6mgrd.host_conditions.validity import not_after
from srv6mgrd.model.condition import Condition
from srv6mgrd.settings import Settings, SettingsError, table
from srv6mgrd.storage import Problems, read_text

_LOG = logging.getLogger(__name__)

SOURCE = "host"
# Seconds between looks.
_LOOK = 2.0
_TIMEOUT = 1.0
_GNMI = Path("/etc/srv6mgr/gnmid.toml")
_GNMI_STATE = "/var/lib/srv6mgr/gnmid"
_NETCONF_TLS = Path("/etc/srv6mgr/netconf-tls.conf")
_SHARED_MEMORY = Path("/dev/shm")


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
        self._directories = (Path(settings.state_directory), self._runtime, _SHARED_MEMORY)
        self._clock = Clock()
        # By file: its version, and what was read.
        self._read: dict[str, tuple[tuple[int, int], Certificate]] = {}

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
            *judge.disks(self._disks()),
            *judge.certificates(self._certificates(), time.time()),
            *judge.daemons(_daemons(self._runtime)),
            *judge.redis(self._settings.redis_socket, self._redis()),
            *judge.clock(self._clock.problem()),
        ]

    def _disks(self) -> Iterator[Disk]:
        seen = set()
        for directory in self._directories:
            with contextlib.suppress(OSError):
                found, device = os.statvfs(directory), os.stat(directory).st_dev
                if device not in seen:
                    seen.add(device)
                    size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
                    yield Disk(str(directory), size, free)

    def _certificates(self) -> list[Certificate]:
        wanted = {**_of_gnmi(), **_of_netconf()}
        read = {}
        for file, northbound in wanted.items():
            version = _version(file)
            known = self._read.get(file)
            if known is None or known[0] != version or known[1].problem:
                known = version, _certificate(file, northbound)
            read[file] = known
        self._read = read
        return [certificate for _, certificate in read.values()]

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


def _version(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def _certificate(file: str, northbound: str) -> Certificate:
    try:
        return Certificate(file, northbound, not_after(read_text(Path(file))))
    except OSError as error:
        return Certificate(file, northbound, problem=error.strerror or str(error))
    except ValueError as error:
        return Certificate(file, northbound, problem=str(error))


def _of_gnmi() -> dict[str, str]:
    """The one that is named; else the one that srv6-gnmid made, which it does not renew."""
    try:
        settings = table(None, _GNMI)
    except (SettingsError, OSError):
        return {}
    if file := settings.get("certificate", ""):
        return {str(file): "srv6-gnmid"}
    made = Path(str(settings.get("state_directory", _GNMI_STATE))) / "selfsigned.crt"
    return {str(made): "srv6-gnmid"} if made.exists() else {}


def _of_netconf() -> dict[str, str]:
    """The packages name one that is absent until TLS is wanted."""
    try:
        lines = read_text(_NETCONF_TLS).splitlines()
    except (OSError, ValueError):
        return {}
    files = [
        line.split()[1] for line in lines if line.split()[:1] == ["certificate"] and " " in line
    ]
    return {file: "srv6-netconf-tls" for file in files[-1:] if Path(file).exists()}
