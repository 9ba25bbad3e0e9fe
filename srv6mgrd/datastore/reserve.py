"""File descriptors in reserve, for work that must not fail while a process has none left."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

# sysrepo opens files of its shared memory and a pipe; a change that is carried out needs sockets.
IN_RESERVE = 32
# Of these, for a subscriber that only reads a change or answers a reader.
TO_READ = 8


class Reserve:
    """File descriptors that can be set free for something that must not fail."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: list[int] = []
        self._fill()

    def _fill(self) -> None:
        with contextlib.suppress(OSError):
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop())

    @contextlib.contextmanager
    def set_free(self) -> Iterator[None]:
        """Until the ``with`` ends; what is taken meanwhile is missing afterwards."""
        self.close()
        try:
            yield
        finally:
            self._fill()
