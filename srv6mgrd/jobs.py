"""Jobs of a daemon: run together, and end together."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


def told_to_stop() -> asyncio.Event:
    """Set by SIGTERM and SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def until_one_ends(*jobs: Coroutine[Any, Any, object]) -> None:
    """Run them until one ends, whose error is raised; by then the others have ended, too."""
    # Not a TaskGroup: before Python 3.13 its failure leaves a cancellation behind.
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
