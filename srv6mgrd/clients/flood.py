"""Warnings that clients can cause: one line a second at most, lest a flood of connections floods
the log."""

from __future__ import annotations

import logging
import time

_INTERVAL_S = 1.0


class FloodLog:
    """``before`` precedes each line."""

    def __init__(self, log: logging.Logger, before: str = "") -> None:
        self._log, self._before = log, before
        self._logged = 0.0
        self._unlogged = 0

    def warn(self, text: str) -> None:
        """Log it, or count it for the next line."""
        now = time.monotonic()
        if now - self._logged < _INTERVAL_S:
            self._unlogged += 1
            return
        more = f" ({self._unlogged} lines like this were left out)" if self._unlogged else ""
        self._log.warning("%s%s%s", self._before, text, more)
        self._logged, self._unlogged = now, 0
