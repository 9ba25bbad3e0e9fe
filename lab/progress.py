"""Steps on stderr, with their time or what is left: a live line on a terminal, else plain lines."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from lab.forecast import Forecast

# Plain output repeats a running step this often, so that a log shows that work goes on.
PLAIN_PERIOD = 15.0
LIVE_PERIOD = 0.2


class Progress:
    """Shows what is being done, and how much is left of what `expect` announced."""

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._quiet = quiet
        self._depth = 0
        self._guard = threading.Lock()
        self._forecast: Forecast | None = None
        # Seconds of the parts so far, and when the running one began. Waiting is no work.
        self._built = 0.0
        self._begun: float | None = None

    def expect(self, kinds: Sequence[str]) -> None:
        """These parts will be built, in this order."""
        self._forecast = Forecast(kinds) if kinds else None
        self._built = 0.0

    def line(self) -> None:
        """The running command has printed a line."""
        if self._forecast is not None:
            self._forecast.line()

    @contextmanager
    def part(self, kind: str) -> Iterator[None]:
        """A step that `expect` may have announced."""
        if self._forecast is not None:
            self._forecast.begin(kind)
        self._begun = started = time.monotonic()
        try:
            with self.step(kind):
                yield
        finally:
            self._begun = None
        self._built += time.monotonic() - started
        if self._forecast is not None:
            self._forecast.end()

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        if self._quiet:
            yield
            return
        started = time.monotonic()
        indent = "  " * self._depth
        finished = threading.Event()
        painter = threading.Thread(
            target=self._paint, args=(indent + title, started, finished, self._depth + 1),
            daemon=True,
        )  # fmt: skip
        self._depth += 1
        with self._guard:
            self._write_line(f"{indent}{title} ...")
        painter.start()
        outcome = "failed"
        try:
            yield
            outcome = "done"
        except KeyboardInterrupt:
            outcome = "interrupted"
            raise
        finally:
            finished.set()
            painter.join()
            self._depth -= 1
            elapsed = time.monotonic() - started
            with self._guard:
                self._write_line(f"{indent}{title}: {outcome}, {elapsed:.1f} s")

    def say(self, line: str) -> None:
        with self._guard:
            self._write_line("  " * self._depth + line)

    def _paint(self, title: str, started: float, finished: threading.Event, depth: int) -> None:
        while not finished.wait(LIVE_PERIOD if self._live else PLAIN_PERIOD):
            if self._depth > depth:  # an inner step paints
                continue
            text = f"{title}: {self._state(started)}"
            with self._guard:
                if self._live:
                    width = shutil.get_terminal_size().columns - 1
                    self._stream.write(f"\r\x1b[K{text[:width]}")
                    self._stream.flush()
                else:
                    self._write_line(text)

    def _state(self, started: float) -> str:
        now = time.monotonic()
        if self._forecast is not None and (begun := self._begun) is not None:
            return self._forecast.describe(self._built + now - begun)
        return f"{now - started:.0f} s"

    def _write_line(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")
        self._stream.flush()
