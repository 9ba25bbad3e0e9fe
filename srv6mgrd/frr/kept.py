"""The one session with mgmtd, which lasts as long as mgmtd does.

Whenever any session with mgmtd 10.3 ends, one that only asked included, mgmtd copies its running
configuration over the candidate that all sessions share, without a lock
(mgmt_fe_session_cfg_txn_cleanup). A transaction that is on its way then commits a candidate without
its change: mgmtd's configuration stays as it was although staticd has carried the change out. So
srv6mgrd ends no session without need. For those that others end see ``lost_routes``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from srv6mgrd.frr.vty import Instance, Vty, credentials, is_open


class KeptSession:
    """Used by one thread at a time."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._lock = threading.RLock()
        # Connected, but not used yet; and once it is.
        self._socket: socket.socket | None = None
        self._vty: Vty | None = None
        self._instance: Instance = None

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Nobody else uses it meanwhile."""
        with self._lock:
            yield

    def session(self) -> Vty:
        """The session, another one once mgmtd was restarted. Raises VtyError."""
        with self._lock:
            if not self._is_alive():
                self.drop()
            if self._vty is None:
                connected, self._socket = self._socket, None
                self._vty = Vty(self._path, self._timeout, connected)
            return self._vty

    def drop(self) -> None:
        """End it; the next one who needs it begins another."""
        with self._lock:
            for one in (self._socket, self._vty):
                if one is not None:
                    one.close()
            self._socket = self._vty = self._instance = None

    def instance(self) -> Instance:
        """``vty.instance``, by the session that there is. Never waits: while somebody uses the
        session, it is the last one known."""
        if not self._lock.acquire(blocking=False):
            return self._instance
        try:
            if not self._is_alive():
                self.drop()
                self._connect()
            if self._instance is None:
                self._instance = self._served_by()
            return self._instance
        except OSError:
            self.drop()
            return None
        finally:
            self._lock.release()

    def _is_alive(self) -> bool:
        if self._vty is not None:
            return self._vty.is_alive()
        return self._socket is not None and is_open(self._socket)

    def _connect(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.connect(str(self._path))

    def _served_by(self) -> Instance:
        if self._vty is not None:
            return self._vty.served_by(), os.stat(self._path).st_ino
        assert self._socket is not None
        return credentials(self._socket), os.stat(self._path).st_ino
