"""Memory that the C libraries have freed, given back to the system."""

from __future__ import annotations

import asyncio
import ctypes

# libyang makes and frees the whole configuration in each commit; of what is freed glibc keeps
# what lies below anything that is still used, unless it is asked (malloc_trim(3)).
_SECONDS = 15.0


async def give_back() -> None:
    """Give back now and then; runs for ever. Does nothing where libc is not glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None:
        await asyncio.sleep(_SECONDS)
        trim(0)
