"""Alarms over gNMI."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import grpc
import pytest

from lab.waiting import wait_until
from srv6mgrd.alarms.alarm_list import HOLD, AlarmList, Now
from srv6mgrd.alarms.published import PublishedAlarms
from srv6mgrd.alarms.selection import Selection
from srv6mgrd.counters.alarms import beside
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from srv6mgrd.model.paths import vrf_path
from srv6mgrd.storage import Problems
from tests.contract.gnmi.client import Client, Core, deletes, subscription, updates

DOWN = Condition(
    ConditionType.BGP_SESSION_DOWN, vrf_path("red"), Severity.MAJOR, "it is idle", "see its peer"
)
LIST = "/ietf-alarms:alarms/alarm-list"
NS = 1_000_000_000

Report = Callable[..., None]


class Router:
    """Writes the list as srv6mgrd does."""

    def __init__(self, file: PublishedAlarms) -> None:
        self.alarms = AlarmList()
        self._file = file
        self._seconds = 0

    def report(self, *conditions: Condition) -> None:
        self.alarms.report("test", conditions)
        self.settle()

    def settle(self) -> None:
        self._seconds += int(HOLD)
        self.alarms.settle(Now(self._seconds * NS, self._seconds))
        self._file.write(self.alarms.alarms, self.alarms.changed)


@pytest.fixture
def router(core: Core) -> Iterator[Router]:
    file = beside(core.node_file)
    yield Router(PublishedAlarms(file, Problems()))
    file.unlink(missing_ok=True)


def test_get(gnmi: Client, router: Router) -> None:
    router.report(DOWN)
    wait_until(lambda: "it is idle" in str(gnmi.value("/ietf-alarms:alarms")))
    alarm = gnmi.value(f"{LIST}/alarm[alarm-type-id=srv6mgr-alarms:bgp-session-down]")
    assert alarm["ietf-alarms:perceived-severity"] == "major"
    assert alarm["srv6mgr-alarms:remedy"] == "see its peer"
    listed = gnmi.value("/ietf-alarms:alarms/alarm-inventory")["ietf-alarms:alarm-type"]
    assert len(listed) == len(ConditionType)


def test_on_change_reports_what_was_raised_cleared_and_purged(gnmi: Client, router: Router) -> None:
    router.report()
    with gnmi.subscribe(subscription(f"{LIST}/alarm")) as stream:
        assert stream.until_sync() == {}
        router.report(DOWN)
        raised = updates(stream.next().update)
        (severity,) = (v for k, v in raised.items() if k.endswith("/is-cleared"))
        assert severity is False
        router.report()
        router.settle()
        cleared = updates(stream.next().update)
        assert [v for k, v in cleared.items() if k.endswith("/is-cleared")] == [True]
        assert not any(k.endswith("/last-raised") for k in cleared)
        router.alarms.purge(Selection(), 1)
        router.settle()
        (gone,) = deletes(stream.next().update)
        assert gone.startswith("/alarms/alarm-list/alarm[")
        assert gone.endswith("]")


def test_nobody_changes_alarms(gnmi: Client, router: Router) -> None:
    router.report(DOWN)
    with pytest.raises(grpc.RpcError):
        gnmi.set(update={"/ietf-alarms:alarms/control/max-alarm-status-changes": 4})
