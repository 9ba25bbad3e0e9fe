"""How much of users' requests is in memory at once. Threads wait here, for a slow sender a minute.

Root's processes, the northbounds, bound what their own clients send. Other users who may connect
share what is set here, so that no number of their connections takes srv6mgrd's memory.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from srv6mgrd.commits.fields import MAX_MESSAGE, check_length

# Bytes: a configuration of 100,000 SIDs is 15 MB, and sysrepo and libyang take a multiple of it.
_LARGEST, _ALL = 64 << 20, 128 << 20
# Less is not counted.
_SMALL = 64 << 10
_CONNECTIONS, _CONNECTIONS_OF_ONE = 128, 32
# Seconds in which some bytes have to come, in which all of a message has, and between looks whether
# the client is still there.
SILENCE, OVERDUE, _LOOK = 10.0, 60.0, 1.0


class Intake:
    """Of one socket."""

    def __init__(self, largest: int = _LARGEST, most: int = _ALL) -> None:
        self._largest = largest
        self._most = most
        self._taken: Counter[int] = Counter()
        self._connections: Counter[int] = Counter()
        self._changed = threading.Condition()

    def admits(self, uid: int) -> bool:
        """Count a connection of a user, unless there are enough."""
        if uid == 0:
            return True
        with self._changed:
            own = self._connections[uid] < _CONNECTIONS_OF_ONE
            if own and self._connections.total() < _CONNECTIONS:
                self._connections[uid] += 1
                return True
            return False

    def left(self, uid: int) -> None:
        """A connection that was admitted has ended."""
        with self._changed:
            if uid != 0:
                self._connections[uid] -= 1
                self._connections += Counter()

    def largest(self, uid: int) -> int:
        """Bytes of a message."""
        return MAX_MESSAGE if uid == 0 else self._largest

    @contextmanager
    def room(self, uid: int, length: int, has_left: Callable[[], bool]) -> Iterator[None]:
        """For a message of that length, until its request is answered. A user has one large
        message in memory at a time, and waits for it. Raises ConnectionResetError when the client
        leaves meanwhile, ProtocolError when the message is too long."""
        check_length(length, self.largest(uid))
        if uid == 0 or length <= _SMALL:
            yield
            return
        with self._changed:
            while self._taken[uid] or self._taken.total() + length > self._most:
                if has_left():
                    raise ConnectionResetError
                self._changed.wait(_LOOK)
            self._taken[uid] = length
        try:
            yield
        finally:
            with self._changed:
                del self._taken[uid]
                self._changed.notify_all()
