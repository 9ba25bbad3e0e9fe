"""Which changes are notified, and which alarms an operation takes."""

from __future__ import annotations

import pytest

from srv6mgrd.alarms import control, selection
from srv6mgrd.alarms.alarm import Alarm, OperatorAction, OperatorState, raised
from srv6mgrd.alarms.control import MOST_CHANGES, Control, Notify
from srv6mgrd.model.condition import Condition, ConditionType, Severity

NS = 1_000_000_000


def alarm(severity: Severity, time: int = 0) -> Alarm:
    condition = Condition(ConditionType.PATH_DOWN, "/a", severity, "it is down", "mend it")
    return raised(condition, frozenset(), time)


def notified(settings: Control, *severities: Severity | None) -> list[int]:
    """Which changes (from 1), None for cleared, are notified."""
    before: Alarm | None = None
    found = []
    for number, severity in enumerate(severities, 1):
        if severity is None:
            assert before is not None
            after = before.cleared(number, 32)
        elif before is None:
            after = alarm(severity, number)
        else:
            condition = Condition(ConditionType.PATH_DOWN, "/a", severity, "down", "mend it")
            after = before.updated(condition, frozenset(), number, 32)
        if settings.notifies(before, after):
            found.append(number)
        before = after
    return found


def test_the_example_of_the_rfc() -> None:
    major, minor, warning, critical = (
        Severity.MAJOR,
        Severity.MINOR,
        Severity.WARNING,
        Severity.CRITICAL,
    )
    changes = (major, minor, warning, minor, major, critical, major, None)
    level = Control(notify=Notify.LEVEL, level=Severity.MAJOR)
    assert notified(level, *changes) == [1, 2, 5, 6, 7, 8]
    assert notified(Control(notify=Notify.RAISE_AND_CLEAR), *changes) == [1, 8]
    assert notified(Control(), *changes) == list(range(1, 9))


def test_raised_again_is_notified() -> None:
    minor = Severity.MINOR
    settings = Control(notify=Notify.RAISE_AND_CLEAR)
    assert notified(settings, minor, None, minor) == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({}, 32),
        ({"max-alarm-status-changes": 0}, 1),
        ({"max-alarm-status-changes": 65535}, MOST_CHANGES),
        ({"max-alarm-status-changes": "infinite"}, MOST_CHANGES),
    ],
)
def test_history_is_bounded_whatever_is_configured(given: dict[str, object], most: int) -> None:
    assert control.parse(given).most_changes == most


@pytest.mark.parametrize(
    ("given", "takes"),
    [
        ({"alarm-clearance-status": "any"}, True),
        ({"alarm-clearance-status": "cleared"}, False),
        ({"alarm-clearance-status": "not-cleared"}, True),
        ({"older-than": {"minutes": 1}}, True),
        ({"older-than": {"minutes": 3}}, False),
        ({"severity": {"below": "major"}}, True),
        ({"severity": {"is": "minor"}}, True),
        ({"severity": {"is": "major"}}, False),
        ({"severity": {"above": "minor"}}, False),
        ({"operator-state-filter": {"state": "ack"}}, True),
        ({"operator-state-filter": {"state": "closed"}}, False),
        ({"operator-state-filter": {"user": "alice"}}, True),
        ({"operator-state-filter": {"user": "bob"}}, False),
    ],
)
def test_what_a_purge_takes(given: dict[str, object], takes: bool) -> None:
    found = alarm(Severity.MINOR).acted_on(OperatorAction(1, "alice", OperatorState.ACK), 8)
    assert selection.parse(given).takes(found, 120 * NS) is takes
