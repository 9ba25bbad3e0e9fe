"""A full memory barrier, which Python does not have: ``srv6_fence`` of ``gnmi/pack.c``.

Without that library there is none on x86-64 and s390x, where none is needed: they keep stores in
order, and loads in order (total store order; Intel SDM volume 3, section 9.2).
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from srv6mgrd.counters.store_file import StoreError

LIBRARY = Path(sys.prefix) / "lib/srv6mgr/libsrv6pack.so"

_IN_ORDER = frozenset({"x86_64", "s390x"})

Fence = Callable[[], object]


@cache
def fence() -> Fence:
    """The barrier: no load or store moves over a call of it. Raises StoreError where there is
    none and one is needed."""
    return find(LIBRARY, platform.machine())


def find(library: Path, machine: str) -> Fence:
    """The barrier in ``library``, for this kind of machine. Raises StoreError."""
    try:
        found: Fence = ctypes.CDLL(str(library)).srv6_fence
    except (OSError, AttributeError):
        if machine in _IN_ORDER:
            return _nothing
        raise StoreError(
            f"{library}: absent or of another release; on {machine} the store cannot be read or"
            " written without it; reinstall the package srv6mgr"
        ) from None
    return found


def _nothing() -> None:
    pass
