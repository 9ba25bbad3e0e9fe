"""Jobs of a daemon: run together, and end together."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ParamSpec, TypeVar

from srv6mgrd.systemd import notify, watchdog

_LOG = logging.getLogger(__name__)

Job = Coroutine[Any, Any, object]
P = ParamSpec("P")
T = TypeVar("T")


def told_to_stop() -> asyncio.Event:
    """Set by SIGTERM and SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def until_stopped(*jobs: Job, is_alive: Callable[[], bool] = lambda: True) -> None:
    """Run them until SIGTERM or SIGINT, or until one fails, whose error is raised; by then all
    have ended. The service manager hears that the daemon is ready, turns and ``is_alive``, and
    stops."""
    stop = asyncio.create_task(told_to_stop().wait())
    tasks = [stop, *map(asyncio.create_task, (watchdog(is_alive), *jobs))]
    going = set(tasks)
    notify("READY=1")
    try:
        while stop in going:
            done, going = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
            _raise_first(done)
    finally:
        notify("STOPPING=1")
        await _end(tasks)


async def until_one_ends(*jobs: Job) -> None:
    """Run them until one ends, whose error is raised; by then the others have ended, too."""
    # Not a TaskGroup: before Python 3.13 its failure leaves a cancellation behind.
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        _raise_first(done)
    finally:
        await _end(tasks)


def _raise_first(done: Iterable[asyncio.Task[Any]]) -> None:
    for task in done:
        task.result()


async def _end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def to_its_end(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """``asyncio.to_thread`` for a call whose sockets are closed afterwards: when this is cancelled,
    it waits for the call all the same."""
    return await awaited(asyncio.ensure_future(asyncio.to_thread(call, *arguments, **named)))


async def awaited(call: asyncio.Future[T], cancel: Callable[[], object] = lambda: None) -> T:
    """The result of a call in a thread, which has ended by then in any case. ``cancel`` is called
    when this is cancelled; a failure that nobody waits for then is logged."""
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        cancel()
        await asyncio.wait([call])
        if not call.cancelled() and (error := call.exception()) is not None:
            _LOG.error("failed while it was stopped: %s", error, exc_info=error)
        raise
