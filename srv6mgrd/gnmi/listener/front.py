"""srv6-gnmid's side of the listener: its sockets, its process, and the messages to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from srv6mgrd.clients.addresses import is_socket, listen
from srv6mgrd.gnmi import child
from srv6mgrd.gnmi.config import Config

_LOG = logging.getLogger(__name__)
_PROGRAM = "srv6mgrd.gnmi.listener.process"
_SECURE, _PLAIN = "tls", "plain"
UNANSWERED_S = 10.0


class FrontEndedError(Exception):
    """The listener's process ended."""


class Front:
    """Listens where the settings say, and leads connections to gRPC's own two sockets."""

    def __init__(self, config: Config) -> None:
        """Raises SettingsError when an address can't be listened at."""
        self._config = config
        _raise_limit()
        # On a path without others' reach: who connects there may claim to be anybody.
        self._folder = Path(tempfile.mkdtemp(prefix="srv6-gnmid-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: list[tuple[socket.socket, str]] = []
        self._paths: list[Path] = []
        try:
            for addresses, behind in ((config.listen, self.secure), (config.plaintext, self.plain)):
                for address in addresses:
                    self._listening.append((listen(address, config.socket_group), behind))
                    if is_socket(address):
                        self._paths.append(Path(address.removeprefix("unix:")))
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """Private: who connects to gRPC's sockets has its own there."""
        return self._folder

    @property
    def secure(self) -> str:
        """Where gRPC has to serve TLS."""
        return str(self._folder / _SECURE)

    @property
    def plain(self) -> str:
        """Where gRPC has to serve without TLS."""
        return str(self._folder / _PLAIN)

    async def start(self) -> None:
        """Accept connections; gRPC serves by now."""
        ours, theirs = socket.socketpair()
        with theirs:
            fds = [listening.fileno() for listening, _ in self._listening]
            config = self._config
            settings = {
                "folder": str(self._folder),
                "entrances": [
                    (fd, path) for fd, (_, path) in zip(fds, self._listening, strict=True)
                ],
                "control": theirs.fileno(),
                "limits": {
                    "total": config.max_connections,
                    "per_peer": min(config.max_connections_per_peer, config.max_connections),
                    "seconds": config.authentication_timeout,
                },
                "unanswered_ms": int((config.keepalive + UNANSWERED_S) * 1000),
                "log_level": config.log_level.upper(),
            }
            self._process = child.start(_PROGRAM, json.dumps(settings), fds=(*fds, theirs.fileno()))
        for listening, _ in self._listening:
            listening.close()
        _, self._writer = await asyncio.open_unix_connection(sock=ours)

    def authenticated(self, connection: int) -> None:
        """The client of a connection has said who it is."""
        if connection and self._writer is not None:
            self._writer.write(b"%d\n" % connection)

    async def watch(self) -> None:
        """Raises FrontEndedError when the process ends."""
        assert self._process is not None
        status = await child.ended(self._process)
        raise FrontEndedError(f"listener: its process ended with status {status}; see its log")

    def close(self) -> None:
        """End the process and remove what it listened at."""
        if self._writer is not None:
            self._writer.close()
        for listening, _ in self._listening:
            listening.close()
        for path in self._paths:
            path.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait(self) -> None:
        """Until the process has ended. Blocks."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)


def _raise_limit() -> None:
    """A connection takes a descriptor of gRPC's and two of the listener's, which inherits this; the
    soft limit of 1,024 is for select(2)'s sake."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
