"""Who computes: one request at a time, the one whose client has had least.

Requests that take long are cut into slices, so that a short one waits for a slice of each other
client at most. Among the connections of one client it is the same. More than one at a time would
only contend for Python's interpreter lock.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from srv6mgrd.gnmi.budget import Budget

T = TypeVar("T")

_SLICE_S = 0.005
# How soon one that waits for its turn finds out that its client left.
_LOOK_S = 0.1


_mine = threading.local()


def rest() -> None:
    """Let others go first who had less, in the middle of long work that looks at no budget; where
    there are turns."""
    pause: Callable[[], None] | None = getattr(_mine, "pause", None)
    if pause is not None:
        pause()


def restful(entries: Iterable[T], every: int = 200) -> Iterator[T]:
    """The entries, with a rest after so many of them."""
    for n, entry in enumerate(entries, 1):
        yield entry
        if n % every == 0:
            rest()


@contextmanager
def resting(pause: Callable[[], None]) -> Iterator[None]:
    """``rest`` calls ``pause`` in this thread."""
    _mine.pause = pause
    try:
        yield
    finally:
        del _mine.pause


class _Waiter:
    __slots__ = ("client", "connection", "granted")

    def __init__(self, client: str, connection: str) -> None:
        self.client, self.connection = client, (client, connection)
        self.granted = threading.Event()


class _Had:
    """Seconds that each of those has had who compute or wait; all began at the level of who had
    least."""

    def __init__(self) -> None:
        self._seconds: dict[object, float] = {}
        self._number: Counter[object] = Counter()
        self._level = 0.0

    def __getitem__(self, key: object) -> float:
        return self._seconds[key]

    def come(self, key: object) -> None:
        self._seconds.setdefault(key, self._level)
        self._number[key] += 1

    def go(self, key: object) -> None:
        self._number[key] -= 1
        if not self._number[key]:
            del self._seconds[key], self._number[key]

    def charge(self, key: object, seconds: float) -> None:
        self._seconds[key] += seconds

    def begin(self, key: object) -> None:
        self._level = self._seconds[key]


class Turns:
    """Used by the threads that compute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._clients, self._connections = _Had(), _Had()
        self._waiting: list[_Waiter] = []
        self._current: _Waiter | None = None
        self._since = 0.0

    @contextmanager
    def turn(self, client: str, connection: str, budget: Budget) -> Iterator[None]:
        """Compute within, with a pause whenever ``budget`` looks at the clock. Raises
        ClientLeftError or DeadlineError."""
        me = _Waiter(client, connection)
        with self._lock:
            self._clients.come(me.client)
            self._connections.come(me.connection)
            self._waiting.append(me)
            if self._current is None:
                self._grant()
        try:
            self._wait(me, budget)
            budget.pausing(lambda: self._pause(me, budget))
            with resting(budget.rest):
                yield
        finally:
            budget.pausing(None)
            with self._lock:
                self._leave(me)

    def _wait(self, me: _Waiter, budget: Budget) -> None:
        while not me.granted.wait(_LOOK_S):
            budget.check()

    def _pause(self, me: _Waiter, budget: Budget) -> None:
        """Let those go first who had less."""
        if self._clock() - self._since < _SLICE_S:
            return
        with self._lock:
            self._charge()
            if all(self._rank(w) > self._rank(me) for w in self._waiting):
                return
            me.granted.clear()
            self._waiting.append(me)
            self._grant()
        self._wait(me, budget)

    def _rank(self, one: _Waiter) -> tuple[float, float]:
        return self._clients[one.client], self._connections[one.connection]

    def _charge(self) -> None:
        now = self._clock()
        if self._current is not None:
            self._clients.charge(self._current.client, now - self._since)
            self._connections.charge(self._current.connection, now - self._since)
        self._since = now

    def _grant(self) -> None:
        """The next one; of those who had the same, the one that waits longest."""
        self._current = min(self._waiting, key=self._rank, default=None)
        if self._current is not None:
            self._waiting.remove(self._current)
            self._clients.begin(self._current.client)
            self._connections.begin(self._current.connection)
            self._since = self._clock()
            self._current.granted.set()

    def _leave(self, me: _Waiter) -> None:
        if self._current is me:
            self._charge()
            self._current = None
        else:
            self._waiting.remove(me)
        self._clients.go(me.client)
        self._connections.go(me.connection)
        if self._current is None:
            self._grant()
