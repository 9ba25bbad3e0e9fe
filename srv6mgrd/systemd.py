"""systemd's notification protocol (sd_notify(3), sd_watchdog_enabled(3)); nothing happens without
systemd."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable

_LOG = logging.getLogger(__name__)


def notify(state: str) -> None:
    """Notify the service manager, for example ``READY=1``. One that no longer listens is no reason
    to leave anything undone."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:
            s.sendto(state.encode(), address)
    except OSError as error:
        _LOG.warning("the service manager was not notified of %s: %s", state, error)


# So often in the watchdog's time it is fed, if there is reason to.
_BEATS = 8


async def watchdog(is_alive: Callable[[], bool] = lambda: True) -> None:
    """Notify the service manager while the event loop turns, and whatever ``is_alive`` asks
    after; ends at once where there is no watchdog. What did not get on for all of the watchdog's
    time ends the process."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    if not microseconds.isdecimal() or os.environ.get("WATCHDOG_PID", "") not in (
        "",
        str(os.getpid()),
    ):
        return
    while True:
        if is_alive():
            notify("WATCHDOG=1")
        await asyncio.sleep(int(microseconds) / 1e6 / _BEATS)


# Microseconds that each message adds to the time to stop, and to that to start, and seconds between
# them.
_EXTENSION, _START_EXTENSION, _BEAT = 30_000_000, 120_000_000, 5.0
# Seconds that a stop may take: the startup configuration of 100,000 SIDs is saved in it.
_STOP_LIMIT = 300.0


async def extend_stop(limit: float = _STOP_LIMIT, beat: float = _BEAT) -> None:
    """Have the service manager wait for a stop that takes long, while the event loop turns.
    ``TimeoutStopSec`` is for one that does not."""
    for _ in range(max(1, round(limit / beat))):
        notify(f"EXTEND_TIMEOUT_USEC={_EXTENSION}")
        await asyncio.sleep(beat)


async def extend_start(is_alive: Callable[[], bool], beat: float = _BEAT) -> None:
    """Have the service manager wait for a start that takes long, such as the first with a thousand
    VRFs, as long as it gets on; runs until it is cancelled. ``TimeoutStartSec`` is for one that
    does not."""
    while True:
        await asyncio.sleep(beat)
        if is_alive():
            notify(f"EXTEND_TIMEOUT_USEC={_START_EXTENSION}")
