"""The commit socket with all that it needs: wiring only."""

from __future__ import annotations

from pathlib import Path

from srv6mgrd.commits.locks import Locks
from srv6mgrd.commits.server import CommitServer
from srv6mgrd.commits.watch import Watchers
from srv6mgrd.commits.work import Revisions, Worker
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.user_groups import UserGroups


class CommitService:
    """Serves from its creation to ``close``. Raises OSError when the socket cannot be bound."""

    def __init__(self, path: Path, revisions: Revisions) -> None:
        self._connection = Connection(originator="srv6mgrd")
        locks, groups = Locks(), UserGroups()
        self._worker = Worker(self._connection, locks, revisions, groups)
        self._server = CommitServer(path, self._worker, locks, Watchers(), groups)
        self._server.start()

    def waiting(self) -> int:
        """Requests that wait for their turn. Any thread."""
        return self._server.waiting()

    def close(self) -> None:
        """Blocks until the request that is carried out is finished."""
        self._server.close()
        self._worker.close()
        self._connection.close()
