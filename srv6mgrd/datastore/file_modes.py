"""Modes of sysrepo's files: nothing for users beyond owner and group.

libsysrepo creates the shared memory of a subscription with mode 0666 less the umask that it was
built with (SR_SUB_SHM_PERM, SR_UMASK; Debian's is 0002), and fchmod()s it to that whatever the
process's umask is (sr_open). Every change passes through it, passwords included, and a reader who
opens it once keeps it. Hence the seccomp filter, which skips an fchmod() that would open a file to
others; the umask decides then (docs/adr/0030).
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import struct
from functools import cache
from pathlib import Path
from typing import Any

import cffi

from srv6mgrd.datastore.ffi import places

_DECLARATIONS = """
struct sock_fprog { unsigned short len; void *filter; };
int prctl(int option, unsigned long, unsigned long, unsigned long, unsigned long);
long syscall(long number, ...);
"""

_LOG = logging.getLogger(__name__)

_OTHERS = 0o007
_READ_BY_OTHERS = 0o004

# <linux/filter.h>, <linux/seccomp.h>, <linux/prctl.h>
_LOAD, _IS_EQUAL, _HAS_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _SKIP = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ERRNO with errno 0: the call returns 0
_NUMBER, _ARCHITECTURE, _SECOND_ARGUMENT = 0, 4, 24
_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER, _ALL_THREADS = 1, 1

# AUDIT_ARCH_*, and the numbers of fchmod and seccomp.
_MACHINES = {
    "x86_64": (0xC000003E, 91, 317),
    "aarch64": (0xC00000B7, 52, 277),
    "riscv64": (0xC00000F3, 52, 277),
}


def deny_others() -> None:
    """Close what sysrepo has created to others, and what it creates in this process from now on.

    To be called once the first connection exists: files that members of sysrepo's group open
    with O_CREAT (sr_ext, sr_main_lock) keep the mode that libsysrepo insists on. Best effort: a
    kernel without seccomp is no reason to leave the router without its manager.
    """
    repository, folder, prefix = places()
    # A user who may read its lock files may lock them (fcntl(2)), and stop every connection.
    _close(repository)
    # Created by an earlier version, and kept by a process that outlived it.
    for left in folder.glob(f"{prefix}sub_*"):
        _close(left)
    os.umask(os.umask(_OTHERS) | _OTHERS)
    try:
        _filter()
    except OSError as error:
        _LOG.error(
            "sysrepo: its shared memory is readable by every user of this node (%s);"
            " use a kernel with CONFIG_SECCOMP_FILTER",
            error,
        )


def _close(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        found = path.stat()
        if found.st_mode & _OTHERS and found.st_uid == os.geteuid():
            path.chmod(found.st_mode & 0o7777 & ~_OTHERS)


@cache
def _library() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, ffi.dlopen(None)


@cache
def _filter() -> None:
    """Skip fchmod() calls that let others read. Once per process; children inherit it."""
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    libc: Any = ffi.dlopen(None)
    found = _MACHINES.get(platform.machine())
    if found is None:
        raise OSError(f"no seccomp filter is known for {platform.machine()}")
    architecture, fchmod, seccomp = found
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IS_EQUAL, 0, 5, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_IS_EQUAL, 0, 3, fchmod),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        (_HAS_BITS, 0, 1, _READ_BY_OTHERS),
        (_RETURN, 0, 0, _SKIP),
        (_RETURN, 0, 0, _ALLOW),
    )
    program = ffi.from_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    whole = ffi.new("struct sock_fprog *", (len(steps), ffi.cast("void *", program)))
    if libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        seccomp,
        ffi.cast("unsigned long", _SET_MODE_FILTER),
        ffi.cast("unsigned long", _ALL_THREADS),
        whole,
    ):
        raise OSError(ffi.errno, f"seccomp: {os.strerror(ffi.errno)}")
