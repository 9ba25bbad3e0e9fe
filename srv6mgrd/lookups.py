"""Lookups that may hang, such as those in a directory in the network.

One that hangs can't be ended. Each has a thread of its own, so that it holds up nobody but who
waits for it, and these have a deadline.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent import futures
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

# Older answers are asked for again. That is waited for shortly while there is an older one.
_FRESH_S, _REFRESH_S = 1.0, 0.25
_TIMEOUT_S = 3.0
_MOST_KNOWN = 1000
# Lookups side by side, and that wait for a thread.
_THREADS, _MOST_WAITING = 16, 1000


class NoAnswerError(Exception):
    """There is no answer yet; the message says how to get one."""


@dataclass(frozen=True, slots=True)
class _Lookup(Generic[K, T]):
    """One that runs or waits for a thread."""

    key: K
    since: float
    future: Future[T] = field(default_factory=Future)


class Lookups(Generic[K, T]):
    """Answers by key. One lookup for a key runs at a time; all who ask share it. For any thread."""

    def __init__(
        self,
        look_up: Callable[[K], T],
        question: Callable[[K], str],
        remedy: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        """``look_up`` may block, and raises OSError when it fails. ``question`` and ``remedy`` are
        parts of errors: who did not say what, and what to do about it."""
        self._look_up, self._question, self._remedy = look_up, question, remedy
        self._clock, self._timeout = clock, timeout
        self._lock = threading.Lock()
        # With the time at which they were given.
        self._answers: OrderedDict[K, tuple[T, float]] = OrderedDict()
        self._running: dict[K, _Lookup[K, T]] = {}
        self._queue: deque[_Lookup[K, T]] = deque()
        self._threads = 0

    def known(self, key: K) -> T | None:
        """The last answer; None without one. Never blocks."""
        with self._lock:
            found = self._answers.get(key)
        return None if found is None else found[0]

    async def learn(self, key: K) -> T:
        """The answer; an older one where there is one and the new one takes long. Raises
        NoAnswerError."""
        known, lookup = self._begin(key)
        if lookup is None:
            assert known is not None
            return known[0]
        limit = self._timeout if known is None else _REFRESH_S
        if (seconds := self._left(lookup, limit)) > 0:
            await asyncio.wait({asyncio.wrap_future(lookup.future)}, timeout=seconds)
        return self._result(lookup) if known is None or _is_given(lookup) else known[0]

    def ask(self, key: K) -> T:
        """The answer, not older than a second. Blocks. Raises NoAnswerError."""
        known, lookup = self._begin(key)
        if lookup is None:
            assert known is not None
            return known[0]
        futures.wait({lookup.future}, timeout=self._left(lookup, self._timeout))
        return self._result(lookup)

    def _begin(self, key: K) -> tuple[tuple[T, float] | None, _Lookup[K, T] | None]:
        """What is known, and the lookup to wait for if that is not fresh."""
        with self._lock:
            known, now = self._answers.get(key), self._clock()
            if known is not None and now - known[1] < _FRESH_S:
                return known, None
            if (lookup := self._running.get(key)) is None:
                lookup = _Lookup(key, now)
                # A caller that stops waiting must not cancel it for others.
                lookup.future.set_running_or_notify_cancel()
                self._start(lookup)
            return known, lookup

    def _start(self, lookup: _Lookup[K, T]) -> None:
        if len(self._queue) >= _MOST_WAITING:
            lookup.future.set_exception(OSError(f"{_MOST_WAITING} lookups wait for others"))
            return
        self._running[lookup.key] = lookup
        self._queue.append(lookup)
        if self._threads < _THREADS:
            self._threads += 1
            # Daemons: the process ends though one hangs.
            threading.Thread(target=self._work, name="name-service", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._threads -= 1
                    return
                lookup = self._queue.popleft()
            self._carry_out(lookup)

    def _carry_out(self, lookup: _Lookup[K, T]) -> None:
        error: Exception | None = None
        try:
            answer = self._look_up(lookup.key)
        except Exception as e:
            error = e
        with self._lock:
            del self._running[lookup.key]
            if error is None:
                self._answers[lookup.key] = answer, self._clock()
                self._answers.move_to_end(lookup.key)
                if len(self._answers) > _MOST_KNOWN:
                    self._answers.popitem(last=False)
        if error is None:
            lookup.future.set_result(answer)
        else:
            lookup.future.set_exception(error)

    def _left(self, lookup: _Lookup[K, T], limit: float) -> float:
        return max(0.0, lookup.since + limit - self._clock())

    def _result(self, lookup: _Lookup[K, T]) -> T:
        question = self._question(lookup.key)
        if not lookup.future.done():
            raise NoAnswerError(
                f"{question}: no answer within {self._timeout:g} s; try again, or {self._remedy}"
            )
        try:
            return lookup.future.result()
        except OSError as error:
            raise NoAnswerError(f"{question}: {error}; try again, or {self._remedy}") from None


def _is_given(lookup: _Lookup[K, T]) -> bool:
    return lookup.future.done() and lookup.future.exception() is None
