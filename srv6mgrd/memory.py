"""Memory: what the C libraries have freed is given back, what stays is not searched for garbage."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# libyang makes and frees the whole configuration in each commit. Of what is freed glibc gives
# back at once what lies at the end, to ask for it again in the next; what lies below anything
# still used it keeps. So it keeps all (mallopt(3)), until there is much of it (malloc_trim(3)).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_KEPT = 8 << 20
_SECONDS = 15.0
# Objects that the collector searches in about 10 ms.
_MUCH = 50_000


async def give_back() -> None:
    """Give back now and then what was freed since; runs forever. Does nothing where libc is not
    glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    giving = Giving(trim, _resident) if trim is not None else None
    while giving is not None:
        await asyncio.sleep(_SECONDS)
        # In a thread: hundreds of MiB take 0.1 s.
        await asyncio.to_thread(giving.look)


class Giving:
    """Memory is given back once there is more, and then as long as that gives much: what a commit
    took is freed bit by bit, and that it was does not show in what the process holds."""

    def __init__(self, trim: Callable[[int], object], resident: Callable[[], int]) -> None:
        self._trim = trim
        self._resident = resident
        self._left = 0
        self._gave = False

    def look(self) -> None:
        with contextlib.suppress(OSError):  # no file descriptor left, say
            self._look()

    def _look(self) -> None:
        before = self._resident()
        if self._gave or before > self._left + _KEPT:
            self._trim(0)
            self._left = self._resident()
            self._gave = self._left < before - _KEPT


def _resident() -> int:
    """Bytes of memory that the process holds (proc_pid_statm(5))."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def keep_freed() -> None:
    """Have the C library keep what is freed for what comes next. To be called before threads
    are started."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        # Threads wait for the interpreter's lock anyhow.
        mallopt(_M_ARENA_MAX, 1)


class _Waiting:
    """How many threads the collector waits for: it is one for all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._goes_on = False

    def begin(self) -> None:
        with self._lock:
            if not self._count:
                self._goes_on = gc.isenabled()
                gc.disable()
            self._count += 1

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count or not self._goes_on:
                return
            if gc.get_count()[0] > _MUCH:
                gc.freeze()
            gc.enable()


_waiting = _Waiting()


@contextlib.contextmanager
def searched_later() -> Iterator[None]:
    """The collector waits until what is made in here is whole, and what other threads make in here
    meanwhile: to search it again and again while it grows took more than half of a commit with a
    hundred thousand SIDs.

    If it is much, the collector leaves it alone afterwards: to search it once holds every thread
    for 0.3 s. It is freed as soon as nothing refers to it, but for cycles, of which there are
    none in configurations and statuses."""
    _waiting.begin()
    try:
        yield
    finally:
        _waiting.end()


class Hold:
    """``searched_later`` for work that waits for another program in between, who may be slow: it
    begins and ends as often as wanted. For one thread."""

    def __init__(self) -> None:
        self.is_held = False

    def begin(self) -> None:
        """The collector waits, if it does not yet."""
        if not self.is_held:
            self.is_held = True
            _waiting.begin()

    def end(self) -> None:
        """It need not wait any more."""
        if self.is_held:
            self.is_held = False
            _waiting.end()


def let_go(tree: dict[str, Any]) -> None:
    """Free a tree of JSON entry by entry: all at once would hold every thread, 100,000 entries for
    0.1 s."""
    for value in tree.values():
        if isinstance(value, dict):
            let_go(value)
        elif isinstance(value, list):
            while value:
                value.pop()


@contextlib.contextmanager
def made_to_stay() -> Iterator[None]:
    """The collector leaves alone what is made in here, later too."""
    with searched_later():
        try:
            yield
        finally:
            gc.freeze()
