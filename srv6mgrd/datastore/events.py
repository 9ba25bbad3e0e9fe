"""Events of sysrepo's subscriptions in the event loop, also after one could not be processed.

sysrepo empties the pipe that announces events before it opens what they need: without a file
descriptor left the event would stay, and its writer wait, until another event comes. A few
descriptors are held in reserve for that, so that the writer gets its answer, a rejection where
one is lacking for something else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import sysrepo

_LOG = logging.getLogger(__name__)

_RETRY = 0.5
# sysrepo opens files of its shared memory and a pipe; a change that is carried out needs sockets.
_IN_RESERVE = 16


class Reserve:
    """File descriptors that can be set free for something that must not fail."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: list[int] = []
        self._fill()

    def _fill(self) -> None:
        with contextlib.suppress(OSError):
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop())

    @contextlib.contextmanager
    def set_free(self) -> Iterator[None]:
        """Until the ``with`` ends; what is taken meanwhile is missing afterwards."""
        self.close()
        try:
            yield
        finally:
            self._fill()


def process_in_loop(session: Any) -> Reserve:
    """Process the events of all subscriptions of a session in the running event loop. They were
    made with ``asyncio_register``, whose reader gives up after a failure. The caller closes the
    reserve."""
    loop = asyncio.get_running_loop()
    reserve = Reserve(_IN_RESERVE)
    for subscription in session.subscriptions:
        loop.add_reader(subscription.fd, partial(_process, loop, subscription, reserve))
    return reserve


def _process(
    loop: asyncio.AbstractEventLoop, subscription: Any, reserve: Reserve, *, again: bool = False
) -> None:
    if subscription.cdata is None:
        return  # it was ended meanwhile
    try:
        _processed(subscription, reserve)
    except sysrepo.SysrepoError as error:
        if not again:
            _LOG.error("sysrepo: an event cannot be processed: %s; retrying", error)
        loop.call_later(_RETRY, partial(_process, loop, subscription, reserve, again=True))


def _processed(subscription: Any, reserve: Reserve) -> None:
    try:
        subscription.process_events()
    except sysrepo.SysrepoError:
        with reserve.set_free():
            subscription.process_events()
