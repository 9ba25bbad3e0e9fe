"""Alarms as a function of conditions."""

from __future__ import annotations

import pytest

from srv6mgrd.alarms.alarm import Alarm, OperatorState
from srv6mgrd.alarms.alarm_list import HOLD, SILENT, TEXT_HOLD, AlarmList, Now
from srv6mgrd.alarms.control import Control
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.model.condition import Condition, ConditionType, Severity

NS = 1_000_000_000
DOWN = Condition(
    ConditionType.DAEMON_DOWN, "daemon x", Severity.MINOR, "x does not run", "start it"
)


def condition(name: str, severity: Severity = Severity.MINOR, cause: str = "broken") -> Condition:
    return Condition(ConditionType.NOT_INSTALLED, name, severity, cause, "mend it")


class World:
    """An alarm list and a clock."""

    def __init__(self, most: int = 1000) -> None:
        self.list = AlarmList(most=most)
        self.steady = 0.0

    def now(self) -> Now:
        return Now(1_000 * NS + int(self.steady * NS), self.steady)

    def report(self, *conditions: Condition, source: str = "test") -> int:
        """How many notifications it makes."""
        self.list.report(source, conditions)
        return len(self.list.settle(self.now()))

    def after(self, seconds: float) -> int:
        self.steady += seconds
        return len(self.list.settle(self.now()))

    @property
    def only(self) -> Alarm:
        (alarm,) = self.list.alarms
        return alarm

    def restarted(self) -> World:
        fresh = World()
        fresh.list = AlarmList(self.list.alarms, self.steady)
        fresh.steady = self.steady
        return fresh


@pytest.fixture
def world() -> World:
    return World()


def test_a_condition_raises_an_alarm_at_once_and_repeated_reports_do_nothing(world: World) -> None:
    assert world.report(DOWN) == 1
    assert (world.only.is_cleared, world.only.severity) == (False, Severity.MINOR)
    assert not world.list.report("test", [DOWN])
    assert world.report(DOWN) == 0
    assert len(world.only.changes) == 1


def test_it_is_cleared_after_a_hold_and_stays_in_the_list(world: World) -> None:
    world.report(DOWN)
    assert world.report() == 0
    assert world.list.due(world.steady) == HOLD
    assert world.after(HOLD - 0.1) == 0
    assert world.after(0.1) == 1
    alarm = world.only
    assert alarm.is_cleared
    assert alarm.severity is Severity.MINOR
    assert [change.severity for change in alarm.changes] == [None, Severity.MINOR]
    assert alarm.raised < alarm.changed
    assert world.list.due(world.steady) is None


def test_a_condition_that_comes_and_goes_is_one_active_alarm(world: World) -> None:
    count = world.report(DOWN)
    for _ in range(10):
        count += world.report()
        count += world.after(HOLD / 2)
        count += world.report(DOWN)
    assert count == 1
    assert not world.only.is_cleared


def test_an_alarm_that_returns_is_raised_again(world: World) -> None:
    world.report(DOWN)
    world.report()
    world.after(HOLD)
    first = world.only
    world.after(5)
    assert world.report(DOWN) == 1
    assert not world.only.is_cleared
    assert world.only.created == first.created
    assert world.only.raised > first.raised


def test_severity_changes_at_once_and_text_seldom(world: World) -> None:
    world.report(condition("a", cause="90%"))
    assert world.report(condition("a", Severity.MAJOR, "91%")) == 1
    for percent in range(92, 99):
        assert world.report(condition("a", Severity.MAJOR, f"{percent}%")) == 0
        world.after(0.5)
    assert world.list.due(world.steady) is not None
    assert world.after(TEXT_HOLD) == 1
    assert world.only.cause == "98%"


def test_the_worst_of_several_sources_counts(world: World) -> None:
    world.report(condition("a", Severity.WARNING), source="one")
    world.report(condition("a", Severity.MAJOR, "worse"), source="two")
    assert (world.only.severity, world.only.cause) == (Severity.MAJOR, "worse")
    assert world.only.sources == {"one", "two"}
    world.report(source="two")
    assert world.only.severity is Severity.WARNING
    world.report(source="one")
    world.after(HOLD)
    assert world.only.is_cleared


def test_times_of_changes_differ_though_the_clock_is_set_back(world: World) -> None:
    world.report(DOWN)
    world.list.report("test", [])
    back = Now(5, world.steady)
    world.list.settle(back)
    world.list.settle(Now(5, world.steady + HOLD))
    times = [change.time for change in world.only.changes]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 2


def test_history_is_bounded(world: World) -> None:
    world.list.control = Control(most_changes=4)
    for _ in range(10):
        world.report(DOWN)
        world.report()
        world.after(HOLD)
    assert len(world.only.changes) == 4


def test_cleared_alarms_leave_a_full_list_first_then_the_least_severe() -> None:
    world = World(most=2)
    world.report(condition("a"), condition("b"))
    world.report(condition("b"))
    world.after(HOLD)
    world.report(condition("b"), condition("c"))
    assert [alarm.resource for alarm in world.list.alarms] == ["b", "c"]
    world.report(condition("b"), condition("c"), condition("d"))
    assert [alarm.resource for alarm in world.list.alarms] == ["b", "c"]
    assert world.list.left_out == 1
    world.report(condition("b"), condition("c", Severity.MAJOR), condition("e", Severity.CRITICAL))
    assert {alarm.resource for alarm in world.list.alarms} == {"c", "e"}
    # The one that was left out comes when there is room.
    world.report(condition("b"), condition("e", Severity.CRITICAL))
    world.after(HOLD)
    assert not {a.resource for a in world.list.alarms if not a.is_cleared} ^ {"b", "e"}


def test_an_operator_acknowledges_and_closes(world: World) -> None:
    world.report(DOWN)
    assert world.list.act(DOWN.key, OperatorState.ACK, "alice", "on it", world.now().wall)
    assert world.list.act(DOWN.key, OperatorState.CLOSED, "bob", "", world.now().wall)
    assert world.list.act(("x", "y"), OperatorState.ACK, "bob", "", 1) is None
    alarm = world.only
    assert [action.operator for action in alarm.actions] == ["bob", "alice"]
    assert alarm.actions[0].time > alarm.actions[1].time
    assert alarm.operator_state is OperatorState.CLOSED
    assert not alarm.is_cleared


def test_purged_alarms_are_gone_and_those_whose_condition_exists_return(world: World) -> None:
    world.report(condition("a"), condition("b"))
    world.report(condition("b"))
    world.after(HOLD)
    assert world.list.purge(Selection(is_cleared=True), world.now().wall) == 1
    assert world.only.resource == "b"
    assert world.list.purge(Selection(), world.now().wall) == 1
    assert not world.list.alarms
    assert world.after(1) == 1
    assert world.only.created == world.now().wall


def test_compressed_alarms_have_their_latest_change_alone(world: World) -> None:
    world.report(DOWN, condition("a"))
    world.report(condition("a"))
    world.after(HOLD)
    assert world.list.compress(None, None, None) == 1
    assert {len(alarm.changes) for alarm in world.list.alarms} == {1}
    assert world.list.compress("a", None, None) == 0


def test_alarms_stay_over_a_restart_until_their_source_reports(world: World) -> None:
    world.report(DOWN)
    world.report(condition("a"), source="other")
    fresh = world.restarted()
    fresh.after(10)
    assert not any(alarm.is_cleared for alarm in fresh.list.alarms)
    fresh.report()
    fresh.after(HOLD)
    assert {a.resource: a.is_cleared for a in fresh.list.alarms} == {
        DOWN.resource: True,
        "a": False,
    }
    # One that no longer reports at all is not waited for forever.
    fresh.after(SILENT)
    fresh.after(HOLD)
    assert all(alarm.is_cleared for alarm in fresh.list.alarms)


def test_a_restart_raises_nothing_again(world: World) -> None:
    world.report(DOWN)
    fresh = world.restarted()
    assert fresh.report(DOWN) == 0
    assert len(fresh.only.changes) == 1
