"""Steps with elapsed time on stderr: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

# Plain output repeats a running step this often, so that a log shows that work goes on.
PLAIN_PERIOD = 15.0
LIVE_PERIOD = 0.2


class Progress:
    """Shows what is being done; `note` sets the detail of the innermost running step."""

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._quiet = quiet
        self._depth = 0
        self._detail = ""
        self._guard = threading.Lock()

    def note(self, detail: str) -> None:
        self._detail = detail.strip()

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        if self._quiet:
            yield
            return
        started = time.monotonic()
        indent = "  " * self._depth
        finished = threading.Event()
        self._detail = ""
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
            self._detail = ""
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
            text = f"{title} {time.monotonic() - started:4.0f} s  {self._detail}"
            with self._guard:
                if self._live:
                    width = shutil.get_terminal_size().columns - 1
                    self._stream.write(f"\r\x1b[K{text[:width]}")
                    self._stream.flush()
                else:
                    self._write_line(text)

    def _write_line(self, line: str) -> None:
        self._stream.write(f"\r\x1b[K{line}\n" if self._live else f"{line}\n")
        self._stream.flush()
