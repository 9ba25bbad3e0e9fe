"""Who computes: one request at a time, the one whose client has had least.

Requests that take long are cut into slices, so that a short one waits for a slice of each other
client at most. Among the connections of one client it is the same. More than one at a time would
only contend for Python's interpreter lock.

Clients that always have several requests here compute for a part of the time, all of them together,
while there are others: each step of a request, in whatever thread, would else meet one that holds
the interpreter's lock and has the CPU.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from srv6mgrd.gnmi.budget import Budget

T = TypeVar("T")

_SLICE_S = 0.005
# How soon one that waits for its turn finds out that its client left.
_LOOK_S = 0.1
# Who asks for much has so much of the time while others come, and so long after they came last.
_PART, _OTHERS_S = 0.1, 1.0
# Seconds of requests beyond one at a time, from which on it is much; and what is remembered.
_MUCH_S, _MOST_S = 3.0, 10.0
_MOST_CLIENTS = 1000


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
    __slots__ = ("client", "connection", "granted", "noted")

    def __init__(self, client: str, connection: str, now: float) -> None:
        self.client, self.connection = client, (client, connection)
        self.granted = threading.Event()
        # Until when its time counts as asked for.
        self.noted = now


class _Asked:
    """Seconds of the requests of each client, waiting and computing, less the time that passed: it
    grows for who has more than one at a time."""

    def __init__(self) -> None:
        # With the time at which it was so.
        self._seconds: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def note(self, client: str, seconds: float, now: float) -> None:
        self._seconds[client] = min(_MOST_S, self._left(client, now) + seconds), now
        self._seconds.move_to_end(client)
        if len(self._seconds) > _MOST_CLIENTS:
            self._seconds.popitem(last=False)

    def is_much(self, client: str, now: float) -> bool:
        return self._left(client, now) > _MUCH_S

    def _left(self, client: str, now: float) -> float:
        seconds, at = self._seconds.get(client, (0.0, now))
        return max(0.0, seconds - (now - at))


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
        self._asked = _Asked()
        # When others came last, and when those may go on who ask for much.
        self._others, self._resume = -_OTHERS_S, 0.0

    @contextmanager
    def turn(self, client: str, connection: str, budget: Budget) -> Iterator[None]:
        """Compute within, with a pause whenever ``budget`` looks at the clock. Raises
        ClientLeftError or DeadlineError."""
        me = _Waiter(client, connection, self._clock())
        with self._lock:
            if not self._asked.is_much(client, me.noted):
                self._others = me.noted
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
        while not me.granted.wait(self._look_after()):
            budget.check()
            with self._lock:
                if self._current is None:
                    self._grant()

    def _look_after(self) -> float:
        held = self._resume - self._clock()
        return held if 0 < held < _LOOK_S else _LOOK_S

    def _pause(self, me: _Waiter, budget: Budget) -> None:
        """Let those go first who had less."""
        if self._clock() - self._since < _SLICE_S:
            return
        with self._lock:
            self._charge()
            self._note(me)
            ahead = (w for w in self._waiting if self._rank(w) <= self._rank(me))
            if not self._is_held(me) and all(map(self._is_held, ahead)):
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
            took = now - self._since
            self._clients.charge(self._current.client, took)
            self._connections.charge(self._current.connection, took)
            if self._asked.is_much(self._current.client, now):
                self._resume = now + took * (1 / _PART - 1)
        self._since = now

    def _note(self, one: _Waiter) -> None:
        now = self._clock()
        self._asked.note(one.client, now - one.noted, now)
        one.noted = now

    def _is_held(self, one: _Waiter) -> bool:
        """Whether it waits though nobody else computes."""
        now = self._clock()
        others = now - self._others < _OTHERS_S
        return now < self._resume and others and self._asked.is_much(one.client, now)

    def _grant(self) -> None:
        """The next one; of those who had the same, the one that waits longest."""
        free = (w for w in self._waiting if not self._is_held(w))
        self._current = min(free, key=self._rank, default=None)
        if self._current is not None:
            self._note(self._current)
            self._waiting.remove(self._current)
            self._clients.begin(self._current.client)
            self._connections.begin(self._current.connection)
            self._since = self._clock()
            self._current.granted.set()

    def _leave(self, me: _Waiter) -> None:
        self._note(me)
        if self._current is me:
            self._charge()
            self._current = None
        else:
            self._waiting.remove(me)
        self._clients.go(me.client)
        self._connections.go(me.connection)
        if self._current is None:
            self._grant()
