"""Calls from other threads into the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import ParamSpec, TypeVar

# Seconds between looks whether the loop still runs.
_LOOK = 1.0

P = ParamSpec("P")
T = TypeVar("T")


class InLoop:
    """Has the event loop call what belongs to it. Any thread; in the loop's own, and without a
    loop, it is called at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Made in the thread of the loop."""
        self._loop = loop
        self._thread = threading.get_ident()

    def post(self, call: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> None:
        """Have it called soon, in the order of the posts of this thread."""
        if self._loop is None or threading.get_ident() == self._thread:
            call(*arguments, **named)
        else:
            self._loop.call_soon_threadsafe(lambda: call(*arguments, **named))

    def ask(self, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """What it returns or raises; the thread waits for it. The loop must not wait for the
        thread then. Raises RuntimeError when the loop ends before it calls."""
        if self._loop is None or threading.get_ident() == self._thread:
            return call(*arguments, **named)
        answer: Future[T] = Future()

        def asked() -> None:
            try:
                answer.set_result(call(*arguments, **named))
            except BaseException as error:
                answer.set_exception(error)

        self._loop.call_soon_threadsafe(asked)
        while not wait([answer], timeout=_LOOK).done:
            # One that was stopped is not closed, and takes calls that it never makes.
            if not self._loop.is_running() and not answer.done():
                raise RuntimeError("the event loop has ended")
        return answer.result()
