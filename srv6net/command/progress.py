"""Progress of a transaction: a line for each router and phase, for people."""

from __future__ import annotations

import threading
import time
from typing import TextIO

_WORDS = {
    "check": "dry run",
    "install": "set, awaits confirmation",
    "verify": "verified",
    "confirm": "confirmed",
    "cancel": "rolled back",
}


class Progress:
    """Called by any thread when a router has answered."""

    def __init__(self, stream: TextIO, *, is_quiet: bool) -> None:
        self._stream, self._is_quiet = stream, is_quiet
        self._started = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, router: str, verb: str, problem: str) -> None:
        if self._is_quiet:
            return
        seconds = time.monotonic() - self._started
        result = f"failed: {problem.removeprefix(f'router {router}: ')}" if problem else "ok"
        with self._lock:
            print(f"{seconds:6.1f} s  {router}  {_WORDS[verb]}: {result}", file=self._stream)
            self._stream.flush()
