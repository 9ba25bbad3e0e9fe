"""Keeps the alarm list in srv6mgrd: takes reports, publishes, notifies, logs, and saves."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from srv6mgrd.alarms import yang
from srv6mgrd.alarms.alarm import Alarm, Key, OperatorState
from srv6mgrd.alarms.alarm_list import AlarmList, Changed, Now
from srv6mgrd.alarms.control import Control
from srv6mgrd.alarms.kept import AlarmFile
from srv6mgrd.alarms.published import PublishedAlarms
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.in_loop import InLoop
from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.condition import Condition, Severity
from srv6mgrd.notifications import Notifier
from srv6mgrd.storage import Problems
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Seconds from a change to its publication, so that a burst is published once.
_SETTLE = 0.05
# Seconds between writes to disk; and to one that has an operator's action, at most.
_SAVE, _SAVE_ACTION = 10.0, 1.0
_LEVELS = {
    Severity.WARNING: logging.WARNING,
    Severity.MINOR: logging.WARNING,
    Severity.MAJOR: logging.ERROR,
    Severity.CRITICAL: logging.CRITICAL,
}


def now() -> Now:
    return Now(time.time_ns(), time.monotonic())


class Outward(Protocol):
    """Where active alarms go beside the list (``redis.thread.InThread``); never waits."""

    def publish_alarms(self, alarms: Sequence[ActiveAlarm]) -> None: ...


@one_thread(but=("report", "configure"))
class Alarms:
    """In the event loop; ``report`` and ``configure`` may be called by any thread."""

    def __init__(
        self,
        published: Path,
        kept: AlarmFile,
        notifier: Notifier,
        *,
        in_loop: InLoop,
        problems: Problems,
        outward: Outward | None = None,
        clock: Callable[[], Now] = now,
    ) -> None:
        """``published`` is the file that readers have the list from; ``outward`` gets the active
        alarms. Reads ``kept``."""
        self._file = PublishedAlarms(published, problems)
        self._kept = kept
        self._notifier = notifier
        self._in_loop = in_loop
        self._clock = clock
        self._outward = outward
        self._active: list[ActiveAlarm] = []
        saved = kept.read()
        self._list = AlarmList(saved, clock().steady)
        self._saved: Sequence[Alarm] = tuple(saved)
        self._save_at = 0.0
        self._left_out = 0
        self._wake = asyncio.Event()
        self._wake.set()
        problems.retry(published.name, self._wake.set)

    def report(self, source: str, conditions: Iterable[Condition]) -> None:
        """Take all conditions that exist now from a source; never waits."""
        self._in_loop.post(self._take, source, tuple(conditions))

    def _take(self, source: str, conditions: tuple[Condition, ...]) -> None:
        if self._list.report(source, conditions):
            self._wake.set()

    def configure(self, control: Control) -> None:
        """How alarms are kept and notified from now on."""
        self._in_loop.post(self._take_control, control)

    def _take_control(self, control: Control) -> None:
        self._list.control = control
        self._wake.set()

    def act(self, key: Key, state: OperatorState, operator: str, text: str) -> bool:
        """Set the operator's state of an alarm. Report if there is such an alarm."""
        alarm = self._list.act(key, state, operator, text, self._clock().wall)
        if alarm is None:
            return False
        _LOG.info("alarm %s on %s: %s by %s", alarm.type, alarm.resource, state, operator)
        self._notifier.put([yang.operator_notification(alarm)])
        # Nobody else could repeat what an operator said.
        self._save_at = min(self._save_at, self._clock().steady + _SAVE_ACTION)
        self._wake.set()
        return True

    def purge(self, selection: Selection, *, shelved: bool = False) -> int:
        self._wake.set()
        return self._list.purge(selection, self._clock().wall, shelved=shelved)

    def compress(
        self,
        resource: str | None,
        type_: str | None,
        qualifier: str | None,
        *,
        shelved: bool = False,
    ) -> int:
        self._wake.set()
        return self._list.compress(resource, type_, qualifier, shelved=shelved)

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await self._wake.wait()
                        await asyncio.sleep(_SETTLE)
                self._wake.clear()
                if found := self._settle():
                    # A thousand lines would hold the event loop.
                    await asyncio.to_thread(_log, found)
                # One file after the other, each whole: nothing here is in a hurry.
                await asyncio.to_thread(self._file.write, self._list.alarms, self._list.changed)
                self._publish_active()
                await self._save()
        finally:
            await asyncio.to_thread(self._kept.write, self._list.alarms)

    def _pause(self) -> float | None:
        moment = self._clock().steady
        due = self._list.due(moment)
        if self._saved != self._list.alarms:
            save = max(_SETTLE, self._save_at - moment)
            due = save if due is None else min(due, save)
        return due

    def _settle(self) -> list[Changed]:
        found = self._list.settle(self._clock())
        control = self._list.control
        self._notifier.put(
            yang.status_notification(changed.after)
            for changed in found
            if control.notifies(changed.before, changed.after)
        )
        if self._list.left_out > self._left_out:
            _LOG.error("%d alarms have no room in the alarm list", self._list.left_out)
        self._left_out = self._list.left_out
        return found

    def _publish_active(self) -> None:
        active = [
            alarm.active for alarm in self._list.alarms if not alarm.is_cleared | alarm.is_shelved
        ]
        if active != self._active and self._outward is not None:
            self._active = active
            self._outward.publish_alarms(active)

    async def _save(self) -> None:
        alarms, moment = self._list.alarms, self._clock().steady
        if self._saved == alarms or moment < self._save_at:
            return
        self._save_at = moment + _SAVE
        if await asyncio.to_thread(self._kept.write, alarms):
            self._saved = alarms


def _log(found: Iterable[Changed]) -> None:
    for before, after in found:
        if after.is_shelved:
            continue
        if after.is_cleared:
            _LOG.info("alarm %s on %s is cleared: %s", after.type, after.resource, after.cause)
            continue
        what = "changed" if before is not None and not before.is_cleared else "raised"
        change = after.changes[0]
        _LOG.log(
            _LEVELS[after.severity],
            "alarm %s on %s is %s (%s): %s; %s",
            after.type,
            after.resource,
            what,
            after.severity.text,
            change.cause,
            change.remedy,
        )
