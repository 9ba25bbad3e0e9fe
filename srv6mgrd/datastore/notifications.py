"""Notifications through sysrepo: queued, and sent in batches from a thread.

Never from within a callback of sysrepo's: sending takes locks that a commit may hold.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Iterable, Sequence

from srv6mgrd.datastore.connection import Connection
from srv6mgrd.notifications import QUEUE, Notification
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# A batch is sent this often, of so many at most: 100 in a second.
_INTERVAL, _BATCH = 0.2, 20


@one_thread()
class Notifier:
    """Sends what is put; in the order in which it was put."""

    def __init__(self) -> None:
        self._connection = Connection(originator="srv6mgrd")
        self._session = self._connection.session()
        self._queue: deque[Notification] = deque()
        self._dropped = 0
        self._wake = asyncio.Event()

    def put(self, notifications: Iterable[Notification], left_out: int = 0) -> None:
        """Queue; never blocks. What the queue has no room for is left out, and as many as
        ``left_out`` were already."""
        self._dropped += left_out
        for item in notifications:
            if len(self._queue) < QUEUE:
                self._queue.append(item)
            else:
                self._dropped += 1
            self._wake.set()

    def waiting(self) -> int:
        """How many are to be sent."""
        return len(self._queue)

    async def run(self) -> None:
        """Send what is queued; runs forever."""
        while True:
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
            await asyncio.sleep(_INTERVAL)
            batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
            if batch:
                await asyncio.to_thread(self._send, batch)
            if self._dropped and not self._queue:
                _LOG.warning("%d notifications were left out: too many at once", self._dropped)
                self._dropped = 0

    def _send(self, batch: Sequence[Notification]) -> None:
        import libyang
        import sysrepo

        for notification in batch:
            try:
                self._session.notification_send(
                    f"{notification.parent}{notification.name}", dict(notification.leaves)
                )
            except (sysrepo.SysrepoError, libyang.LibyangError) as error:
                _LOG.error("notification %s: %s", json.dumps(notification.leaves), error)

    def close(self) -> None:
        self._connection.close()
