"""Only one srv6mgrd manages a network namespace."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

# Names of abstract sockets belong to a network namespace (unix_find_socket_byname).
_NAME = "srv6mgrd"


class AlreadyRunningError(Exception):
    """Another such daemon runs in this network namespace."""


@contextlib.contextmanager
def alone(directory: Path, name: str = _NAME) -> Iterator[None]:
    """One daemon of this name per runtime directory and per network namespace; the kernel drops
    both locks with the process."""
    directory.mkdir(parents=True, exist_ok=True)
    file = (directory / "lock").open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise AlreadyRunningError(
                f"already running as process {file.read().strip()}; stop it first"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as mine:
            try:
                mine.bind(f"\0{name}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise AlreadyRunningError(
                    f"another {name} runs in this network namespace; stop it first"
                ) from None
            yield


def is_managed() -> bool:
    """Whether an srv6mgrd manages this network namespace. It is not disturbed, and neither is one
    that is about to start, as it would be by trying its locks."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
        try:
            probe.connect(f"\0{_NAME}")
        except OSError:
            return False
    return True
