"""Keys of a terminal as they are pressed; it is put back as it was afterwards."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from types import TracebackType
from typing import Any

# What terminals send for keys without a letter (terminfo kcuu1, kcud1, kpp, knp).
_NAMES = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"\x1b[5~": "page-up",
    b"\x1b[6~": "page-down",
}


class Keys:
    """No key is ever pressed where standard input is no terminal."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before: list[Any] | None = None

    def __enter__(self) -> Keys:
        if os.isatty(self._fd):
            self._before = termios.tcgetattr(self._fd)
            # Ctrl-C goes on interrupting.
            tty.setcbreak(self._fd)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def pressed(self, seconds: float) -> str:
        """The key that is pressed within ``seconds``; empty when none is."""
        watched = [self._fd] if self._before is not None else []
        if not select.select(watched, [], [], seconds)[0]:
            return ""
        raw = os.read(self._fd, 16)
        return _NAMES.get(raw, raw[:1].decode(errors="ignore"))
