"""Events of sysrepo's subscriptions, in the event loop, in a thread of an executor or in one of
their own, also after one could not be processed.

sysrepo empties the pipe that announces events before it opens what they need: without a file
descriptor left the event would stay, and its writer wait, until another event comes. A few
descriptors are held in reserve for that, so that the writer gets its answer, a rejection where
one is lacking for something else.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import threading
from concurrent.futures import Executor
from functools import partial
from typing import Any, Protocol

import sysrepo

from srv6mgrd.datastore.reserve import IN_RESERVE, TO_READ, Reserve

_LOG = logging.getLogger(__name__)

_RETRY = 0.5


def process_in_loop(session: Any) -> Reserve:
    """Process the events of all subscriptions of a session in the running event loop. They were
    made with ``asyncio_register``, whose reader gives up after a failure. The caller closes the
    reserve."""
    loop = asyncio.get_running_loop()
    reserve = Reserve(IN_RESERVE)
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


class InThread:
    """Processes the events of all subscriptions of a session in the thread of an executor, from its
    making to ``close``; both in the event loop. They were made with ``no_thread``."""

    def __init__(self, session: Any, executor: Executor) -> None:
        self._loop = asyncio.get_running_loop()
        self._executor = executor
        self._reserve = Reserve(IN_RESERVE)
        self._listening = {s.get_fd(): s for s in session.subscriptions}
        for descriptor in self._listening:
            self._listen(descriptor)

    def close(self) -> None:
        """No event is begun any more; one that is processed goes on."""
        for descriptor in self._listening:
            self._loop.remove_reader(descriptor)
        self._listening = {}
        self._reserve.close()

    def _listen(self, descriptor: int) -> None:
        self._loop.add_reader(descriptor, self._begin, descriptor)

    def _begin(self, descriptor: int, *, again: bool = False) -> None:
        if (subscription := self._listening.get(descriptor)) is None:
            return
        # It stays readable until the thread has read it.
        self._loop.remove_reader(descriptor)
        work = self._loop.run_in_executor(self._executor, _processed, subscription, self._reserve)
        work.add_done_callback(partial(self._done, descriptor, again))

    def _done(self, descriptor: int, again: bool, work: asyncio.Future[None]) -> None:
        if descriptor not in self._listening or work.cancelled():
            return
        if (error := work.exception()) is None:
            self._listen(descriptor)
            return
        if not again:
            _LOG.error("sysrepo: an event cannot be processed: %s; retrying", error)
        self._loop.call_later(_RETRY, partial(self._begin, descriptor, again=True))


class Subscription(Protocol):
    """As the binding has it."""

    def get_fd(self) -> int: ...

    def process_events(self) -> None: ...


class Ending(Subscription, Protocol):
    """``ffi.Subscriptions``."""

    def end(self) -> None: ...


class InOwnThread:
    """Processes the events of subscriptions in a thread of its own, from ``follow`` to ``close``.
    They are made with ``no_thread``: sysrepo's own thread forgets an event that it cannot process,
    and its writer or reader waits for it. To be made before them: a subscription that nobody
    processes keeps writers waiting. Raises OSError without a descriptor."""

    def __init__(self, name: str) -> None:
        self._subscriptions: dict[int, Ending] = {}
        self._changed = os.eventfd(0, os.EFD_CLOEXEC)
        self._reserve = Reserve(TO_READ)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._reserve.close()
            os.close(self._changed)
            raise OSError(f"thread {name}: {error}; see that TasksMax permits one more") from error

    def follow(self, *subscriptions: Ending) -> None:
        """From now on process their events, too."""
        self._subscriptions |= {s.get_fd(): s for s in subscriptions}
        os.eventfd_write(self._changed, 1)

    def close(self) -> None:
        """End the subscriptions, then the thread. Blocks until no commit is under way, which
        waits for this thread."""
        for subscription in self._subscriptions.values():
            _end(subscription)
        self._ended.set()
        os.eventfd_write(self._changed, 1)
        self._thread.join()
        self._reserve.close()
        os.close(self._changed)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._changed, select.POLLIN)
        while not self._ended.is_set():
            for descriptor, _ in poll.poll():
                if descriptor == self._changed:
                    os.eventfd_read(self._changed)
                    for followed in tuple(self._subscriptions):
                        poll.register(followed, select.POLLIN)
                else:
                    self._process(self._subscriptions[descriptor])

    def _process(self, subscription: Subscription) -> None:
        reported = False
        while not self._ended.is_set():
            try:
                _processed(subscription, self._reserve)
            except sysrepo.SysrepoError as error:
                if not reported:
                    _LOG.error("sysrepo: an event cannot be processed: %s; retrying", error)
                reported = True
                self._ended.wait(_RETRY)
            else:
                return


def _end(subscription: Ending) -> None:
    """Again while a commit takes longer than sysrepo waits for its lock."""
    while True:
        try:
            subscription.end()
        except sysrepo.SysrepoTimeOutError:
            continue
        except sysrepo.SysrepoError as error:
            _LOG.error("sysrepo: a subscription cannot be ended: %s", error)
        return


def _processed(subscription: Subscription, reserve: Reserve) -> None:
    try:
        subscription.process_events()
    except sysrepo.SysrepoError:
        with reserve.set_free():
            subscription.process_events()
