"""srv6-gnmid's side of dial-out: the process that dials, and the messages to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
from pathlib import Path

from srv6mgrd.backoff import Backoff
from srv6mgrd.gnmi import child
from srv6mgrd.gnmi.config import Config
from srv6mgrd.gnmi.listener.front import Front
from srv6mgrd.gnmi.tunnel.sessions import FIRST
from srv6mgrd.model.tunnels import FILE

_LOG = logging.getLogger(__name__)
_PROGRAM = "srv6mgrd.gnmi.tunnel.process"


class DialOut:
    """Keeps the process running while there are tunnel servers to dial."""

    def __init__(self, config: Config, front: Front) -> None:
        self._config, self._front = config, front
        self._state = Path(config.store).with_name(FILE)
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Until cancelled."""
        self._state.unlink(missing_ok=True)
        if not self._config.tunnel_servers:
            await asyncio.Event().wait()
        backoff = Backoff(1, 60)
        while True:
            try:
                status = await self._once()
            except OSError as error:
                # No descriptors are left, say. Clients that connect directly are served on.
                _LOG.error("tunnel: its process can't be started: %s", error.strerror)
            else:
                _LOG.error("tunnel: its process ended with status %s; it is started again", status)
            await backoff.wait()

    def authenticated(self, connection: int) -> None:
        """The client of a connection has said who it is: ours, or the listener's."""
        if connection < FIRST:
            self._front.authenticated(connection)
        elif self._writer is not None:
            self._writer.write(b"%d\n" % connection)

    def close(self) -> None:
        """End the process, when its sessions have ended."""
        if self._writer is not None:
            self._writer.close()

    def wait(self) -> None:
        """Until the process has ended. Blocks."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            self._state.unlink(missing_ok=True)

    async def _once(self) -> int:
        """Run the process until it ends; its status. It goes on while this is cancelled."""
        config = self._config
        ours, theirs = socket.socketpair()
        with theirs:
            settings = {
                "folder": str(self._front.folder),
                "behind": self._front.secure,
                "servers": config.tunnel_servers,
                "target": config.tunnel_target or socket.gethostname(),
                "credentials": {
                    "ca": config.tunnel_ca,
                    "certificate": config.tunnel_certificate,
                    "key": config.tunnel_key,
                },
                "limits": {
                    "total": config.max_tunnel_sessions,
                    "per_peer": config.max_tunnel_sessions,
                    "seconds": config.authentication_timeout,
                },
                "keepalive": config.keepalive,
                "control": theirs.fileno(),
                "state": str(self._state),
                "log_level": config.log_level.upper(),
            }
            self._process = child.start(_PROGRAM, json.dumps(settings), fds=(theirs.fileno(),))
        _, self._writer = await asyncio.open_unix_connection(sock=ours)
        status = await child.ended(self._process)
        self._writer.close()
        return status
