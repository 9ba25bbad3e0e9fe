"""setns(2) and unshare(2); Python's own came with 3.12."""

from __future__ import annotations

import ctypes
import os

FILES = 0x00000200
MOUNT = 0x00020000
UTS = 0x04000000
PID = 0x20000000
NET = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


def setns(fd: int, kinds: int) -> None:
    """Join namespaces of the process that a pidfd names."""
    _done(_libc.setns(fd, kinds))


def unshare(kinds: int) -> None:
    _done(_libc.unshare(kinds))


def enter(pid: int, kinds: int) -> None:
    """Join namespaces of a process, for the calling thread and what it starts."""
    pidfd = os.pidfd_open(pid)
    try:
        # A thread that shares its working directory with others can't leave their mounts.
        unshare(FILES)
        setns(pidfd, kinds)
    finally:
        os.close(pidfd)


def stay_in_own_pid_namespace() -> None:
    """Undo, for later children, what setns or unshare of a pid namespace asked for."""
    own = os.pidfd_open(os.getpid())
    try:
        setns(own, PID)
    finally:
        os.close(own)


def _done(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
