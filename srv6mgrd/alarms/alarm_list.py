"""The alarm list as a function of the conditions that exist. Pure.

An alarm is active while a source reports its condition. It is raised at once and cleared when the
condition was absent for a while, so that a condition that comes and goes is one active alarm.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from srv6mgrd.alarms.alarm import Alarm, Key, OperatorAction, OperatorState, raised
from srv6mgrd.alarms.control import Control
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.model.condition import Condition, ConditionType

# Seconds for which a condition has to be absent before its alarm is cleared.
HOLD = 2.0
# Seconds between changes of an alarm's text while its severity stays.
TEXT_HOLD = 10.0
# Seconds after a start for which a source is waited for that had raised alarms before.
SILENT = 300.0
# Alarms in the list. When it is full, cleared ones leave it first, then the least severe.
MOST = 1000
_MOST_ACTIONS = 32
# Whose word it is that an alarm is shelved.
_SERVER = "srv6mgrd"


class Now(NamedTuple):
    """``wall`` in nanoseconds is what is shown; ``steady`` in seconds is never set back."""

    wall: int
    steady: float


class Changed(NamedTuple):
    """An alarm whose status changed; ``before`` None: it is new."""

    before: Alarm | None
    after: Alarm


class AlarmList:
    """Alarms by their key, in the order in which they came."""

    def __init__(self, kept: Iterable[Alarm] = (), started: float = 0.0, most: int = MOST) -> None:
        """``kept`` are those of before a restart: what their sources reported is taken to exist
        until they report again."""
        self._alarms: dict[Key, Alarm] = {alarm.key: alarm for alarm in kept}
        self._most = most
        self._reported: dict[str, dict[Key, Condition]] = {}
        self._absent: dict[Key, float] = {}
        self._awaited: dict[str, float] = {}
        # When a text that differs is taken.
        self._texts: dict[Key, float] = {}
        self._text_taken: dict[Key, float] = {}
        # Those whose type a newer version knows have nobody to report them.
        types = frozenset(ConditionType)
        for alarm in self._alarms.values():
            for source in alarm.sources if not alarm.is_cleared and alarm.type in types else ():
                self._reported.setdefault(source, {})[alarm.key] = _condition(alarm)
                self._awaited[source] = started + SILENT
        self._control = Control()
        self._is_configured = False
        # Active conditions for whose alarms there is no room.
        self.left_out = 0
        # When anything in the list last changed.
        self.changed = max((alarm.changed for alarm in self._alarms.values()), default=0)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """All of them, the shelved ones too."""
        return tuple(self._alarms.values())

    @property
    def control(self) -> Control:
        return self._control

    @control.setter
    def control(self, control: Control) -> None:
        """``settle`` is due."""
        self._control, self._is_configured = control, True

    def get(self, key: Key) -> Alarm | None:
        return self._alarms.get(key)

    def report(self, source: str, conditions: Iterable[Condition]) -> bool:
        """Take all conditions that exist now from a source. Report if that differs from what it
        said before; ``settle`` is due then."""
        found: dict[Key, Condition] = {condition.key: condition for condition in conditions}
        awaited = self._awaited.pop(source, None) is not None
        if self._reported.get(source, {}) == found:
            return awaited
        self._reported[source] = found
        return True

    def settle(self, now: Now) -> list[Changed]:
        """Raise, change and clear alarms. To be called after each report, and when ``due``."""
        for source, until in list(self._awaited.items()):
            if now.steady >= until:
                del self._awaited[source], self._reported[source]
        existing = self._existing()
        changed = list(self._clear(existing, now))
        # The most severe first, for whom there may be no room later.
        for key, (condition, sources) in sorted(
            existing.items(), key=lambda item: -item[1][0].severity
        ):
            if (found := self._with(key, condition, sources, now)) is not None:
                changed.append(found)
        self.left_out = sum(key not in self._alarms for key in existing)
        if self._shelve(now):
            # As they are now.
            changed = [Changed(c.before, self._alarms.get(c.after.key, c.after)) for c in changed]
            self.changed = now.wall
        if changed:
            self.changed = now.wall
        return changed

    def due(self, steady: float) -> float | None:
        """Seconds until ``settle`` has something to do; None: not without a report."""
        times = [since + HOLD for since in self._absent.values()]
        times += self._awaited.values()
        times += self._texts.values()
        return max(0.0, min(times) - steady) if times else None

    def act(
        self, key: Key, state: OperatorState, operator: str, text: str, wall: int
    ) -> Alarm | None:
        """The alarm with an operator's state; None: there is no such alarm."""
        alarm = self._alarms.get(key)
        if alarm is None or alarm.is_shelved:
            return None
        action = OperatorAction(wall, operator, state, text)
        self._alarms[key] = alarm = alarm.acted_on(action, _MOST_ACTIONS)
        self.changed = wall
        return alarm

    def purge(self, selection: Selection, wall: int, *, shelved: bool = False) -> int:
        """Remove alarms of one of the two lists; how many. ``settle`` raises those again whose
        condition exists."""
        gone = [
            key
            for key, alarm in self._alarms.items()
            if alarm.is_shelved is shelved and selection.takes(alarm, wall)
        ]
        for key in gone:
            self._drop(self._alarms[key])
        self.changed = wall if gone else self.changed
        return len(gone)

    def compress(
        self,
        resource: str | None,
        type_: str | None,
        qualifier: str | None,
        *,
        shelved: bool = False,
    ) -> int:
        """Forget all but the latest change of status of alarms; of how many."""
        count = 0
        for key, alarm in self._alarms.items():
            matches = resource in (None, alarm.resource) and type_ in (None, alarm.type)
            if alarm.is_shelved is not shelved:
                continue
            if matches and not qualifier and len(alarm.changes) > 1:
                self._alarms[key] = alarm.compressed()
                count += 1
        return count

    @property
    def _most_changes(self) -> int:
        return self._control.most_changes

    def _shelve(self, now: Now) -> bool:
        """Have alarms on the shelves that take them. Report if any was moved. Before the
        configuration is known those of before a restart stay where they are."""
        moved = False
        for key, alarm in self._alarms.items() if self._is_configured else ():
            shelf = self._control.shelf(alarm)
            text = f"shelf {shelf.name}" if shelf is not None else ""
            if shelf is None and alarm.is_shelved:
                text = alarm.actions[0].text
                action = OperatorAction(now.wall, _SERVER, OperatorState.UNSHELVED, text)
            elif shelf is not None and not (alarm.is_shelved and alarm.actions[0].text == text):
                action = OperatorAction(now.wall, _SERVER, OperatorState.SHELVED, text)
            else:
                continue
            self._alarms[key] = alarm.acted_on(action, _MOST_ACTIONS)
            moved = True
        return moved

    def _existing(self) -> dict[Key, tuple[Condition, frozenset[str]]]:
        """Of several sources that report the same condition the worst one counts."""
        found: dict[Key, tuple[Condition, frozenset[str]]] = {}
        for source, conditions in sorted(self._reported.items()):
            for key, condition in conditions.items():
                worst, sources = found.get(key, (condition, frozenset()))
                if condition.severity > worst.severity:
                    worst = condition
                found[key] = worst, sources | {source}
        return found

    def _clear(self, existing: Container[Key], now: Now) -> Iterator[Changed]:
        for key, alarm in list(self._alarms.items()):
            if alarm.is_cleared or key in existing:
                self._absent.pop(key, None)
            elif now.steady - self._absent.setdefault(key, now.steady) >= HOLD:
                del self._absent[key]
                yield self._put(alarm, alarm.cleared(now.wall, self._most_changes))

    def _with(
        self, key: Key, condition: Condition, sources: frozenset[str], now: Now
    ) -> Changed | None:
        """The change that makes an alarm say what a condition does; None: there is none now."""
        alarm = self._alarms.get(key)
        if alarm is None:
            if not self._made_room(condition):
                return None
            return self._put(None, raised(condition, sources, now.wall), now)
        if alarm.is_cleared or alarm.severity != condition.severity:
            after = alarm.updated(condition, sources, now.wall, self._most_changes)
            return self._put(alarm, after, now)
        if alarm.says(condition):
            self._texts.pop(key, None)
            if alarm.sources != sources:
                self._alarms[key] = replace(alarm, sources=sources)
            return None
        due = self._text_taken.get(key, now.steady - TEXT_HOLD) + TEXT_HOLD
        if now.steady < due:
            self._texts[key] = due
            return None
        after = alarm.updated(condition, sources, now.wall, self._most_changes)
        return self._put(alarm, after, now)

    def _put(self, before: Alarm | None, after: Alarm, now: Now | None = None) -> Changed:
        """``now``: its text was taken from a condition."""
        self._alarms[after.key] = after
        self._texts.pop(after.key, None)
        if now is not None:
            self._text_taken[after.key] = now.steady
        else:
            self._text_taken.pop(after.key, None)
        return Changed(before, after)

    def _made_room(self, condition: Condition) -> bool:
        """Have one alarm less where the list is full; not for the sake of a condition that is no
        worse than what is in it."""
        if len(self._alarms) < self._most:
            return True
        cleared = [alarm for alarm in self._alarms.values() if alarm.is_cleared]
        if cleared:
            self._drop(min(cleared, key=lambda alarm: alarm.changes[0].time))
            return True
        least = min(self._alarms.values(), key=lambda alarm: alarm.severity)
        if least.severity >= condition.severity:
            return False
        self._drop(least)
        return True

    def _drop(self, alarm: Alarm) -> None:
        del self._alarms[alarm.key]
        for times in (self._absent, self._texts, self._text_taken):
            times.pop(alarm.key, None)


def _condition(alarm: Alarm) -> Condition:
    return Condition(
        ConditionType(alarm.type), alarm.resource, alarm.severity, alarm.cause, alarm.remedy
    )
