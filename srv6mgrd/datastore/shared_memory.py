"""Room in /dev/shm, where sysrepo hands changes and state to its subscribers.

libsysrepo grows its files there by ftruncate(2) and writes into the mapping: without room the
kernel ends the writer with SIGBUS. So every writer looks first. Two that look at the same
time see the same room, hence the reserve.
"""

from __future__ import annotations

import os

PATH = "/dev/shm"
RESERVE = 4 << 20
REMEDY = f"remove what fills it (du -a {PATH}), or enlarge it (mount -o remount,size=... {PATH})"
# Measured: a commit takes five times its configuration's JSON, for a moment.
_EACH = 6


def free() -> int:
    """Bytes that are left; more than anybody needs where that is unknown."""
    try:
        found = os.statvfs(PATH)
    except OSError:
        return 1 << 62
    return found.f_bavail * found.f_frsize


def lacks(octets: int = 0) -> str:
    """Why a change of, or to, so many bytes of JSON may find no room; empty: there is enough."""
    left, wanted = free(), RESERVE + _EACH * octets
    if left >= wanted:
        return ""
    return (
        f"shared memory: {PATH} has {left >> 10} KiB left, {wanted >> 10} KiB are needed; {REMEDY},"
        " and try again"
    )
