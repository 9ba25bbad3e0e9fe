"""srv6mgrd's end: what is declared goes to srv6-stampd, and what that found into state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from srv6mgrd.counters.node import publish
from srv6mgrd.model.desired import Desired
from srv6mgrd.stamp import assignments, results
from srv6mgrd.stamp.state import members
from srv6mgrd.storage import Problems

PART = "path-measurement"
_LOOK = 1.0


class Writer(Protocol):
    """Where state goes (``counters.observed.ObservedWriter``)."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...


class StampExchange:
    """Files of at most some 100 kB in memory, each second."""

    def __init__(
        self, desired: Callable[[], Desired], writer: Writer, runtime: Path, problems: Problems
    ) -> None:
        self._desired = desired
        self._writer = writer
        self._file = assignments.beside(runtime / "store")
        self._results = results.file_in(runtime)
        self._problems = problems
        self._written: assignments.Assignments | None = None
        self._known: Mapping[str, Any] | None = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(_LOOK)

    def step(self) -> None:
        """Once."""
        desired = self._desired()
        self._assign(assignments.assignments(desired))
        if not desired.path_measurement.sessions and not desired.path_measurement.allowed:
            found: Mapping[str, Any] = {}
        else:
            read = results.read(self._results)
            found = members(desired.path_measurement, read, time.time_ns())
        if found != self._known:
            self._writer.stage(PART, found)
            self._writer.publish()
            self._known = found

    def _assign(self, wanted: assignments.Assignments) -> None:
        if wanted == self._written:
            return
        with self._problems.writing(self._file, "make room there"):
            publish(self._file, assignments.encode(wanted))
            self._written = wanted
