"""Sessions and reflector as srv6mgrd assigns them, and a report of them each second."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from srv6mgrd.counters.node import ABSENT, Version, publish
from srv6mgrd.stamp import assignments, results
from srv6mgrd.stamp.assignments import Assignments, SessionAssignment
from srv6mgrd.stamp.path_state import Judgement
from srv6mgrd.stamp.reflector import Reflector
from srv6mgrd.stamp.results import Results, SessionResult
from srv6mgrd.stamp.sender import SessionSender
from srv6mgrd.storage import Problems, read_text

_LOG = logging.getLogger(__name__)
# How often assignments and states are looked at, and what did not change is reported.
_LOOK, _REPORT = 0.2, 1.0
_IDS = (1 << 16) - 1


@dataclass(slots=True)
class _Running:
    """A session that is measured; ``since`` (ns since 1970) is when its state changed."""

    assignment: SessionAssignment
    sender: SessionSender
    task: asyncio.Task[None]
    judgement: Judgement
    since: int

    def result(self) -> SessionResult:
        sender = self.sender
        return SessionResult(
            self.judgement, self.since, sender.measurement, sender.kernel_timestamps
        )


class Measuring:
    """All that srv6-stampd does."""

    def __init__(self, assigned: Path, reported: Path, problems: Problems) -> None:
        self._assigned = assigned
        self._reported = reported
        self._problems = problems
        self._version: Version = ABSENT
        # What is wrong with the assignments, as it was logged last.
        self._unusable = ""
        self._wanted = Assignments()
        self._reflector = Reflector()
        self._running: dict[str, _Running] = {}
        self._last_id = 0
        # When results were reported, and with which states.
        self._said = 0.0
        self._states: tuple[bool, str, Mapping[str, Judgement]] | None = None

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                self.step()
                await asyncio.sleep(_LOOK)
        finally:
            self._reflector.close()
            await self._end(list(self._running))

    def step(self) -> None:
        """Once."""
        self._read()
        self._reflector.configure(self._wanted.reflector)
        self._follow()
        self._report()

    def _read(self) -> None:
        """A file that is gone, or makes no sense, changes nothing: srv6mgrd writes it again."""
        try:
            status = self._assigned.stat()
            version = status.st_ino, status.st_mtime_ns
            if version == self._version:
                return
            self._wanted = assignments.decode(read_text(self._assigned))
            self._version, self._unusable = version, ""
        except FileNotFoundError:
            return
        except (OSError, LookupError, TypeError, ValueError) as error:
            found = f"{type(error).__name__}: {error}"
            if found != self._unusable:
                self._unusable = found
                _LOG.error(
                    "%s cannot be used: %s; restart srv6mgrd, which writes it",
                    self._assigned,
                    found,
                )

    def _follow(self) -> None:
        wanted = self._wanted.sessions
        ended = [name for name, one in self._running.items() if wanted.get(name) != one.assignment]
        for name in ended:
            self._running.pop(name).task.cancel()
        for name, one in wanted.items():
            if name in self._running:
                # A defect of ours ends the daemon, rather than the session alone and unseen.
                if (task := self._running[name].task).done():
                    task.result()
            else:
                self._running[name] = self._start(one)

    def _start(self, one: SessionAssignment) -> _Running:
        self._last_id = self._last_id % _IDS + 1
        sender = SessionSender(one, self._last_id)
        task = asyncio.create_task(sender.run())
        return _Running(one, sender, task, Judgement(), time.time_ns())

    async def _end(self, names: list[str]) -> None:
        tasks = [self._running.pop(name).task for name in names]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _report(self) -> None:
        now, wall = time.monotonic_ns(), time.time_ns()
        for name, one in self._running.items():
            found = one.sender.judgement(now)
            if found.state is not one.judgement.state:
                one.since = wall
                _LOG.info("%s is %s %s", name, found.state.value, found.reason)
            one.judgement = found
        reflector = self._reflector
        states = (
            reflector.is_listening,
            reflector.problem,
            {name: one.judgement for name, one in self._running.items()},
        )
        if states == self._states and now - self._said < _REPORT * 1e9:
            return
        found_all = Results(
            wall,
            reflector.is_listening,
            reflector.problem,
            {name: one.result() for name, one in self._running.items()},
        )
        with self._problems.writing(self._reported, "make room there"):
            publish(self._reported, results.encode(found_all))
            self._said, self._states = now, states
