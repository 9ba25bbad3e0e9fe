"""Which alarms an operation is about: the input of ``purge-alarms``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srv6mgrd.alarms.alarm import Alarm

_NS = 1_000_000_000
_UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}
# al:severity; nothing has "indeterminate".
_LEVELS = {"indeterminate": 2, "warning": 3, "minor": 4, "major": 5, "critical": 6}


@dataclass(frozen=True, slots=True)
class Selection:
    """Criteria of which all have to be met; None is no criterion."""

    is_cleared: bool | None = None
    # Nanoseconds since the last change of status.
    age: int | None = None
    below: int | None = None
    exactly: int | None = None
    above: int | None = None
    operator_state: str | None = None
    operator: str | None = None

    def takes(self, alarm: Alarm, now: int) -> bool:
        found = alarm.actions[0] if alarm.actions else None
        return (
            self.is_cleared in (None, alarm.is_cleared)
            and (self.age is None or now - alarm.changes[0].time > self.age)
            and (self.below is None or alarm.severity < self.below)
            and self.exactly in (None, int(alarm.severity))
            and (self.above is None or alarm.severity > self.above)
            and self.operator_state in (None, str(alarm.operator_state))
            and self.operator in (None, found.operator if found else None)
        )


def parse(given: Mapping[str, Any]) -> Selection:
    """The input as RFC 7951 JSON."""
    status = given.get("alarm-clearance-status", "any")
    ages = (given.get("older-than") or {}).items()
    level = given.get("severity") or {}
    operator = given.get("operator-state-filter") or {}
    return Selection(
        is_cleared=None if status == "any" else status == "cleared",
        age=next((int(n) * _UNITS[unit] * _NS for unit, n in ages), None),
        below=_level(level.get("below")),
        exactly=_level(level.get("is")),
        above=_level(level.get("above")),
        operator_state=operator.get("state"),
        operator=operator.get("user"),
    )


def _level(name: str | None) -> int | None:
    return None if name is None else _LEVELS[name]
