"""An alarm, and how one state of it leads to the next. Pure.

Times are in nanoseconds. Lists of changes have the newest first, and no two of the same time, which
is their key in YANG.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from srv6mgrd.model.active_alarm import ActiveAlarm
from srv6mgrd.model.condition import Condition, Severity

# Type and resource (``Condition.key``).
Key = tuple[str, str]


class OperatorState(StrEnum):
    """``al:operator-state``; the last two are the server's."""

    NONE = "none"
    ACK = "ack"
    CLOSED = "closed"
    SHELVED = "shelved"
    UNSHELVED = "un-shelved"


@dataclass(frozen=True, slots=True)
class StatusChange:
    """``severity`` None: it was cleared."""

    time: int
    severity: Severity | None
    cause: str
    remedy: str

    @property
    def text(self) -> str:
        return f"{self.cause}; {self.remedy}" if self.remedy else self.cause


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """An operator's word on an alarm."""

    time: int
    operator: str
    state: OperatorState
    text: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """``sources`` are those that reported its condition when it was last raised or changed."""

    type: str
    resource: str
    created: int
    raised: int
    severity: Severity
    changes: tuple[StatusChange, ...]
    actions: tuple[OperatorAction, ...] = ()
    sources: frozenset[str] = frozenset()

    @property
    def key(self) -> Key:
        return self.type, self.resource

    @property
    def is_cleared(self) -> bool:
        return self.changes[0].severity is None

    @property
    def cause(self) -> str:
        return self.changes[0].cause

    @property
    def remedy(self) -> str:
        return self.changes[0].remedy

    @property
    def changed(self) -> int:
        """When its status or the operator's state last changed."""
        return max(self.changes[0].time, self.actions[0].time if self.actions else 0)

    @property
    def operator_state(self) -> OperatorState:
        return self.actions[0].state if self.actions else OperatorState.NONE

    @property
    def is_shelved(self) -> bool:
        return self.operator_state is OperatorState.SHELVED

    @property
    def text(self) -> str:
        """Cause and remedy."""
        return self.changes[0].text

    @property
    def active(self) -> ActiveAlarm:
        state, actions = self.operator_state, self.actions
        is_seen = state in (OperatorState.ACK, OperatorState.CLOSED)
        seen = actions[0].time if is_seen else None
        return ActiveAlarm(self.type, self.resource, self.severity, self.text, self.raised, seen)

    def says(self, condition: Condition) -> bool:
        """Report if it has the severity and the text of a condition."""
        return (self.severity, self.cause, self.remedy) == (
            condition.severity,
            condition.cause,
            condition.remedy,
        )

    def updated(self, condition: Condition, sources: frozenset[str], now: int, most: int) -> Alarm:
        """The alarm, raised again or changed, with at most so many changes of status."""
        change = StatusChange(self._after(now), condition.severity, *_texts(condition))
        raised = change.time if self.is_cleared else self.raised
        kept = (change, *self.changes)[:most]
        return replace(
            self, raised=raised, severity=condition.severity, changes=kept, sources=sources
        )

    def cleared(self, now: int, most: int) -> Alarm:
        change = StatusChange(self._after(now), None, self.cause, self.remedy)
        return replace(self, changes=(change, *self.changes)[:most], sources=frozenset())

    def compressed(self) -> Alarm:
        """With its latest change of status alone."""
        return replace(self, changes=self.changes[:1])

    def acted_on(self, action: OperatorAction, most: int) -> Alarm:
        time = max(action.time, self.actions[0].time + 1 if self.actions else 0)
        return replace(self, actions=(replace(action, time=time), *self.actions)[:most])

    def _after(self, now: int) -> int:
        """The clock may have been set back."""
        return max(now, self.changes[0].time + 1)


def raised(condition: Condition, sources: frozenset[str], now: int) -> Alarm:
    """A new alarm."""
    change = StatusChange(now, condition.severity, *_texts(condition))
    return Alarm(
        str(condition.type),
        condition.resource,
        created=now,
        raised=now,
        severity=condition.severity,
        changes=(change,),
        sources=sources,
    )


def _texts(condition: Condition) -> tuple[str, str]:
    return condition.cause, condition.remedy
