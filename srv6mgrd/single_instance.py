"""Only one srv6mgrd manages a network namespace.

The locks are files that only their owner may open: a reader of one could lock it (flock(2)),
and any process that binds abstract sockets could take their name.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LOG = logging.getLogger(__name__)

MANAGER = "srv6mgrd"
# The locks of network namespaces, whatever the runtime directory of who manages them.
NAMESPACES = Path("/run/srv6mgr")


class AlreadyRunningError(Exception):
    """Another such daemon runs in this network namespace."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock; ``command`` is empty when /proc does not show it."""

    pid: int
    command: str
    is_stopped: bool

    @property
    def is_manager(self) -> bool:
        return not self.command or MANAGER in self.command


@contextlib.contextmanager
def single_instance(directory: Path, name: str = MANAGER) -> Iterator[None]:
    """One daemon of this name per runtime directory and per network namespace; the kernel drops
    both locks with the process. Raises AlreadyRunningError."""
    with _locked(directory / f"{name}.lock", name), _locked(_of_namespace(directory, name), name):
        yield


def holder() -> Holder | None:
    """The process that manages this network namespace. It is not disturbed, and neither is one that
    is about to start, as it would be by trying its locks; no rights are needed."""
    pid = _locker(_of_namespace(NAMESPACES, MANAGER))
    return None if pid is None else _process(pid)


def is_managed() -> bool:
    """Whether an srv6mgrd manages this network namespace."""
    return holder() is not None


def _of_namespace(directory: Path, name: str) -> Path:
    home = NAMESPACES if name == MANAGER else directory
    return home / f"{name}-netns-{os.stat('/proc/self/ns/net').st_ino}.lock"


@contextlib.contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        # A second one would not be noticed; none at all would be worse.
        _LOG.error("%s can't be opened (%s): see that only one %s runs", path, error, name)
        yield
        return
    try:
        _lock(file, path)
        with contextlib.suppress(OSError):  # for people: no room is no reason to stay away
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def _lock(file: int, path: Path) -> None:
    os.fchmod(file, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = _locker(path)
        known = _process(pid) if pid is not None else None
        who = "" if known is None else f" as process {known.pid}"
        doubt = f" ({known.command})" if known is not None and not known.is_manager else ""
        raise AlreadyRunningError(f"already running{who}{doubt}; stop it first") from None


def _locker(path: Path) -> int | None:
    """The process that holds the lock on a file (proc_locks(5)); None: nobody does."""
    try:
        status = path.stat()
        locks = Path("/proc/locks").read_text()
    except OSError:
        return None
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in locks.splitlines():
        # "1: FLOCK  ADVISORY  WRITE 712 00:19:1024 0 EOF"; those that wait begin with "1: ->".
        match line.split():
            case [_, "FLOCK", _, "WRITE", pid, where, *_] if where == device:
                return int(pid)
    return None


def _process(pid: int) -> Holder:
    command, state = "", ""
    with contextlib.suppress(OSError):
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        command = b" ".join(arguments).decode(errors="replace").strip()
        # The name in brackets may hold anything.
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    return Holder(pid, command, state in {"T", "t"})
