"""How alarms are kept and reported: the container ``control`` of ietf-alarms. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from srv6mgrd.alarms import shelving
from srv6mgrd.alarms.alarm import Alarm
from srv6mgrd.alarms.shelving import Shelf
from srv6mgrd.model.condition import Severity

# Of one alarm in memory and on disk, whatever is configured: "infinite" too.
MOST_CHANGES = 256


class Notify(StrEnum):
    """``notify-status-changes``."""

    ALL = "all-state-changes"
    RAISE_AND_CLEAR = "raise-and-clear"
    LEVEL = "severity-level"


@dataclass(frozen=True, slots=True)
class Control:
    """The defaults are those of RFC 8632."""

    most_changes: int = 32
    notify: Notify = Notify.ALL
    level: Severity = Severity.WARNING
    shelves: tuple[Shelf, ...] = ()

    def shelf(self, alarm: Alarm) -> Shelf | None:
        """The first that takes the alarm."""
        return next((shelf for shelf in self.shelves if shelf.takes(alarm)), None)

    def notifies(self, before: Alarm | None, after: Alarm) -> bool:
        """Report if a change of status is to be notified."""
        if after.is_shelved:
            return False
        was_active = before is not None and not before.is_cleared
        if after.is_cleared or self.notify is Notify.ALL:
            return True
        if self.notify is Notify.RAISE_AND_CLEAR:
            return not was_active
        # RFC 8632: changes that end below the level too, but none that stays below it. One that
        # stays above is no crossing, yet the RFC's example notifies it (major to critical).
        was_above = was_active and before is not None and before.severity >= self.level
        return after.severity >= self.level or was_above


def parse(control: Mapping[str, Any]) -> Control:
    """The container as RFC 7951 JSON; what is missing has its default."""
    most = control.get("max-alarm-status-changes", 32)
    known = MOST_CHANGES if most == "infinite" else int(most)
    level = control.get("notify-severity-level", "warning")
    return Control(
        # The latest one is the status.
        most_changes=min(max(known, 1), MOST_CHANGES),
        notify=Notify(control.get("notify-status-changes", Notify.ALL)),
        # Nothing is "indeterminate" here.
        shelves=shelving.parse(control),
        level=Severity.WARNING if level == "indeterminate" else Severity[level.upper()],
    )
