"""Jobs of a daemon: run together, and end together."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from srv6mgrd.systemd import notify, watchdog

Job = Coroutine[Any, Any, object]


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
