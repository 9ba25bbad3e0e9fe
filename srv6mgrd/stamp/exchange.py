"""srv6mgrd's end: what is declared goes to srv6-stampd, and what that found into state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from srv6mgrd.counters.node import Version
from srv6mgrd.model.desired import Desired
from srv6mgrd.stamp import assignments, results
from srv6mgrd.stamp.state import members
from srv6mgrd.storage import Problems

PART = "path-measurement"
# Seconds between two looks, and between two readings of what did not change: it gets old.
_LOOK, _AGAIN = 0.2, 1.0


class Writer(Protocol):
    """Where state goes (``counters.observed.ObservedWriter``)."""

    def stage(self, part: str, members: Mapping[str, Any]) -> None: ...

    def publish(self) -> None: ...


class StampExchange:
    """Files of at most some 100 kB in memory, each second while paths are measured."""

    def __init__(
        self, desired: Callable[[], Desired], writer: Writer, runtime: Path, problems: Problems
    ) -> None:
        self._desired = desired
        self._writer = writer
        self._file = assignments.beside(runtime / "store")
        self._readers = assignments.readers()
        self._results = results.file_in(runtime)
        self._problems = problems
        self._written: assignments.Assignments | None = None
        self._known: Mapping[str, Any] | None = None
        # The configuration that is assigned, the one and the results that were shown, and when they
        # are looked at again.
        self._assigned: Desired | None = None
        self._seen: tuple[Desired, Version] | None = None
        self._due = 0.0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(_LOOK)

    def step(self) -> None:
        """Once."""
        desired = self._desired()
        if desired is not self._assigned:
            wanted = assignments.assignments(desired)
            if self._assign(wanted):
                self._assigned = desired
        seen = desired, results.version(self._results)
        if self._is_seen(seen) and time.monotonic() < self._due:
            return
        self._seen, self._due = seen, time.monotonic() + _AGAIN
        if not desired.path_measurement.sessions and not desired.path_measurement.answers:
            found: Mapping[str, Any] = {}
        else:
            read = results.read(self._results)
            found = members(desired.path_measurement, read, time.time_ns())
        if found != self._known:
            self._writer.stage(PART, found)
            self._writer.publish()
            self._known = found

    def _is_seen(self, seen: tuple[Desired, Version]) -> bool:
        return self._seen is not None and (seen[0] is self._seen[0] and seen[1] == self._seen[1])

    def _assign(self, wanted: assignments.Assignments) -> bool:
        if wanted == self._written:
            return True
        with self._problems.writing(self._file, "make room there"):
            assignments.write(self._file, wanted, self._readers)
            self._written = wanted
        return self._written == wanted
