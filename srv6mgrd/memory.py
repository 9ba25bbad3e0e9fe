"""Memory: what the C libraries have freed is given back, what stays is not searched for garbage."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
from collections.abc import Iterator

# libyang makes and frees the whole configuration in each commit. Of what is freed glibc gives
# back at once what lies at the end, to ask for it again in the next; what lies below anything
# still used it keeps. So it keeps all (mallopt(3)), until there is much of it (malloc_trim(3)).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_KEPT = 8 << 20
_SECONDS = 15.0


class _Info(ctypes.Structure):
    """struct mallinfo2 (malloc.h)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    ]  # fmt: skip


async def give_back() -> None:
    """Give back now and then what was freed since; runs for ever. Does nothing where libc is not
    glibc 2.33 or later."""
    libc = ctypes.CDLL(None)
    if not (hasattr(libc, "mallinfo2") and hasattr(libc, "malloc_trim")):
        return
    libc.mallinfo2.restype = _Info
    left = 0
    while True:
        await asyncio.sleep(_SECONDS)
        free = libc.mallinfo2().fordblks
        if free > left + _KEPT:
            libc.malloc_trim(0)
            left = libc.mallinfo2().fordblks
        # It counts as free what was given back, until it is used again.
        left = min(left, free)


def keep_freed() -> None:
    """Have the C library keep what is freed for what comes next. To be called before threads
    are started."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        # Threads wait for the interpreter's lock anyhow.
        mallopt(_M_ARENA_MAX, 1)


@contextlib.contextmanager
def made_to_stay() -> Iterator[None]:
    """The collector leaves alone what is made in here. To search it again and again while it
    grows took a tenth of a start with ten thousand SIDs, and each later search goes through it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
