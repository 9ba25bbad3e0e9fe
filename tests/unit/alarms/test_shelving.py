"""Shelves: which alarms they take, and what becomes of these."""

from __future__ import annotations

from typing import Any

import pytest

from srv6mgrd.alarms import control, yang
from srv6mgrd.alarms.alarm import OperatorState
from srv6mgrd.alarms.alarm_list import HOLD, AlarmList, Now
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import vrf_path

RED = Condition(ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MAJOR, "idle", "look")
DISK = Condition(ConditionType.DISK_NEARLY_FULL, "/var/lib/x", Severity.MINOR, "full", "room")
ANY = ".*"


def shelf(name: str = "work", **criteria: Any) -> dict[str, Any]:
    return {"name": name, **{key.replace("_", "-"): value for key, value in criteria.items()}}


def of_types(*names: str, qualifier: str = ANY) -> list[dict[str, str]]:
    return [{"alarm-type-id": name, "alarm-type-qualifier-match": qualifier} for name in names]


class World:
    """An alarm list and a clock."""

    def __init__(self, *shelves: dict[str, Any]) -> None:
        self.list = AlarmList()
        self.steady = 0.0
        self.configure(*shelves)

    def configure(self, *shelves: dict[str, Any]) -> list[Any]:
        self.list.control = control.parse({"alarm-shelving": {"shelf": list(shelves)}})
        return self.settle()

    def settle(self, seconds: float = 0.0) -> list[Any]:
        """The changes that are notified."""
        self.steady += seconds
        found = self.list.settle(Now(int(self.steady * 1e9), self.steady))
        return [c.after for c in found if self.list.control.notifies(c.before, c.after)]

    def report(self, *conditions: Condition) -> list[Any]:
        self.list.report("test", conditions)
        return self.settle()

    @property
    def shelved(self) -> set[str]:
        return {alarm.type for alarm in self.list.alarms if alarm.is_shelved}


@pytest.mark.parametrize(
    ("criteria", "taken"),
    [
        ({}, {"bgp-session-down", "disk-nearly-full"}),
        ({"resource": [vrf_path("red")]}, {"bgp-session-down"}),
        ({"resource": ["/srv6mgr-srv6:srv6/vrfs/vrf"]}, {"bgp-session-down"}),
        (
            {"resource": ["/srv6mgr-srv6:srv6/srv6mgr-srv6:vrfs/vrf[srv6mgr-srv6:name='red']"]},
            {"bgp-session-down"},
        ),
        ({"resource": ["/srv6mgr-srv6:srv6/vrfs"]}, set()),
        ({"resource": [vrf_path("blue")]}, set()),
        ({"resource": ["/var/.*"]}, {"disk-nearly-full"}),
        ({"resource": ["/var/("]}, set()),
        ({"resource": [vrf_path("blue"), "/var/lib/x"]}, {"disk-nearly-full"}),
        ({"alarm_type": of_types("srv6mgr-alarms:bgp-session-down")}, {"bgp-session-down"}),
        ({"alarm_type": of_types("srv6mgr-alarms:host-alarm")}, {"disk-nearly-full"}),
        (
            {"alarm_type": of_types("srv6mgr-alarms:srv6mgr-alarm")},
            {"bgp-session-down", "disk-nearly-full"},
        ),
        ({"alarm_type": of_types("srv6mgr-alarms:host-alarm", qualifier="x")}, set()),
        (
            {"resource": ["/var/.*"], "alarm_type": of_types("srv6mgr-alarms:service-alarm")},
            set(),
        ),
    ],
)
def test_which_alarms_a_shelf_takes(criteria: dict[str, Any], taken: set[str]) -> None:
    world = World(shelf(**criteria))
    notified = world.report(RED, DISK)
    assert world.shelved == taken
    assert {alarm.type for alarm in notified} == {RED.type, DISK.type} - taken


def test_a_shelved_alarm_is_kept_up_and_not_notified() -> None:
    world = World(shelf())
    assert world.report(RED) == []
    assert world.report() == []
    assert world.settle(HOLD) == []
    (alarm,) = world.list.alarms
    assert alarm.is_cleared
    assert world.list.act(alarm.key, OperatorState.ACK, "alice", "", 1) is None
    entry = yang.shelved_entry(alarm)
    assert entry["shelf-name"] == "work"
    (state,) = entry["operator-state-change"]
    assert (state["state"], state["operator"]) == ("shelved", "srv6mgrd")
    assert yang.summary([alarm])["shelves-active"] == [None]


def test_alarms_go_to_a_shelf_and_come_back_with_the_configuration() -> None:
    world = World()
    world.report(RED, DISK)
    assert world.configure(shelf("a", resource=["/var/.*"]), shelf("b")) == []
    names = {a.type: yang.shelved_entry(a)["shelf-name"] for a in world.list.alarms}
    assert names == {"bgp-session-down": "b", "disk-nearly-full": "a"}
    assert world.configure(shelf("b")) == []
    assert world.configure() == []
    for alarm in world.list.alarms:
        assert alarm.operator_state is OperatorState.UNSHELVED
    disk = next(a for a in world.list.alarms if a.type == "disk-nearly-full")
    assert [f"{a.state} {a.text}" for a in reversed(disk.actions)] == [
        "shelved shelf a", "shelved shelf b", "un-shelved shelf b",
    ]  # fmt: skip
    # It is notified again.
    assert [a.type for a in world.report(RED)] == []
    assert [a.type for a in world.settle(HOLD)] == ["disk-nearly-full"]


def test_each_list_is_purged_and_compressed_by_itself() -> None:
    world = World(shelf(resource=["/var/.*"]))
    world.report(RED, DISK)
    world.report()
    world.settle(HOLD)
    assert world.list.compress(None, None, None, shelved=True) == 1
    assert world.list.compress(None, None, None) == 1
    assert world.list.purge(Selection(), 1) == 1
    assert world.shelved == {"disk-nearly-full"}
    assert world.list.purge(Selection(), 1, shelved=True) == 1


def test_alarms_of_before_a_restart_wait_for_the_configuration() -> None:
    world = World(shelf())
    world.report(RED)
    fresh = AlarmList(world.list.alarms)
    fresh.settle(Now(5, 5.0))
    assert all(alarm.is_shelved for alarm in fresh.alarms)
