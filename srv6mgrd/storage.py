"""Files that keep state over a restart: damaged ones are set aside, and problems are reported.

No file is worth a daemon that does not start: a file that can't be read or written is reported in
the log, in the operational state and by ``srv6ctl doctor``, and the daemon goes on without it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from srv6mgrd.in_loop import InLoop

_LOG = logging.getLogger(__name__)

# A configuration of 100,000 SIDs has 20.
_MOST_BYTES = 256 << 20
DAMAGED = ".damaged"
# Seconds until a file that could not be written is tried again.
RETRY = 5.0


class StorageError(Exception):
    """A file can't be written; it holds what it held before. ``object: cause; remedy``."""


class Problems:
    """What is wrong with files of ours at present, by name. Any thread."""

    def __init__(
        self, now: Callable[[], int] = time.time_ns, in_loop: InLoop | None = None
    ) -> None:
        self._now = now
        self._in_loop = in_loop or InLoop()
        self._lock = threading.Lock()
        self._found: dict[str, tuple[str, int]] = {}
        self._changed: Callable[[], None] = lambda: None
        self._retries: dict[str, Callable[[], object]] = {}

    def follow(self, changed: Callable[[], None]) -> None:
        """Have ``changed`` called with each change from now on, in the event loop."""
        self._changed = changed

    def retry(self, file: str, write: Callable[[], object]) -> None:
        """Have ``run`` call ``write`` as long as the file has a problem, in the event loop."""
        self._retries[file] = write

    async def run(self) -> None:
        """Write again what could not be written, now and then; runs forever."""
        while True:
            await asyncio.sleep(RETRY)
            for file in self.listed():
                if (write := self._retries.get(file)) is not None:
                    write()

    def report(self, file: str, problem: str) -> None:
        """``cause; remedy`` of a file."""
        with self._lock:
            known = self._found.get(file)
            if known is not None and known[0] == problem:
                return
            self._found[file] = problem, known[1] if known else self._now()
        _LOG.error("%s: %s", file, problem)
        self._in_loop.post(self._changed)

    def resolve(self, file: str) -> None:
        """The file is well (again)."""
        with self._lock:
            known = self._found.pop(file, None)
        if known is not None:
            _LOG.info("%s: written again", file)
            self._in_loop.post(self._changed)

    @contextmanager
    def writing(self, file: Path, remedy: str) -> Iterator[None]:
        """Report an OSError within, and go on."""
        try:
            yield
        except OSError as error:
            self.report(file.name, f"{error.strerror or error}; {remedy}")
        else:
            self.resolve(file.name)

    def listed(self) -> dict[str, tuple[str, int]]:
        """The problem of each file, and since when (ns) it has one."""
        with self._lock:
            return dict(self._found)


def read_text(path: Path) -> str:
    """Of a file of ours; nothing waits for it or fills the memory, whatever is in its place.
    Raises OSError, or ValueError for what no file of ours is."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, encoding="utf-8") as file:
        check_regular(descriptor, path)
        if os.fstat(descriptor).st_size > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
        return file.read()


def check_regular(place: Path | int, path: Path) -> None:
    """Raises OSError for a FIFO, which would be waited for, a device or a folder."""
    if not stat.S_ISREG(os.stat(place).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file; remove it", str(path))


def set_aside(path: Path, problems: Problems, cause: object) -> bool:
    """Rename a file that makes no sense, for someone to look at; whether that worked."""
    aside = path.with_suffix(DAMAGED)
    try:
        path.replace(aside)
    except OSError as error:
        problems.report(path.name, f"it is damaged ({cause}) and can't be set aside ({error})")
        return False
    for tail in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + tail).unlink()
    problems.report(
        aside.name,
        f"{path.name} can't be used ({cause}) and was set aside; look at {aside}, then delete it",
    )
    return True
