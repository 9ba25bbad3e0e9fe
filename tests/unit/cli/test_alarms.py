"""``show alarms`` and ``ack``."""

from srv6mgrd.alarms.shelving import Shelf
from srv6mgrd.cli.problem import Exit
from srv6mgrd.model.condition import Condition, ConditionType, Severity
from tests.unit.cli.conftest import SESSION_DOWN

DISK = Condition(
    ConditionType.DISK_NEARLY_FULL, "/var/lib/srv6mgr", Severity.WARNING, "it is full", "make room"
)


def test_the_worst_alarm_comes_first_with_what_to_do(ctl):
    ctl.report()
    ctl.alarms(DISK, SESSION_DOWN)
    _, first, second = ctl.run("show", "alarms").out.splitlines()
    assert "major" in first
    assert "vrfs/vrf[name='red']" in first
    assert "it is idle; see its peer" in first
    assert "warning" in second


def test_cleared_alarms_are_shown_on_demand(ctl):
    ctl.report()
    ctl.alarms(DISK, SESSION_DOWN, then=(DISK,))
    assert "cleared" not in ctl.run("show", "alarms").out
    assert "cleared" in ctl.run("show", "alarms", "--all").out
    assert len(ctl.run("show", "alarms", "--all", "--json").json["alarms"]) == 2


def test_no_alarm_is_said_so(ctl):
    ctl.report()
    assert "no alarm is active" in ctl.run("show", "alarms").err
    ctl.alarms(DISK, then=())
    assert "no alarm is active" in ctl.run("show", "alarms").err


def test_shelved_alarms_are_in_a_list_of_their_own(ctl):
    ctl.report()
    shelf = Shelf("full-disks", types=(("disk-nearly-full", ".*"),))
    ctl.alarms(DISK, SESSION_DOWN, shelves=(shelf,))
    assert "full-disks" not in ctl.run("show", "alarms").out
    heading, row = ctl.run("show", "alarms", "--shelved").out.splitlines()
    assert "SHELF" in heading
    assert "full-disks" in row
    assert "it is full" in row


def test_one_alarm_is_shown_with_its_history(ctl):
    ctl.report()
    ctl.alarms(DISK, SESSION_DOWN, then=(DISK,))
    alarms = ctl.run("show", "alarms", "--all", "--json").json["alarms"]
    name = next(a["id"] for a in alarms if a["is-cleared"])
    shown = ctl.run("show", "alarms", name, "--all").out.splitlines()
    assert "vrfs/vrf[name='red']" in shown[2]
    changes = [line.split()[1] for line in shown[-2:]]
    assert changes == ["cleared", "major"]
    assert len(ctl.run("show", "alarms", "--severity", "warning", "--json").json["alarms"]) == 1


def test_an_alarm_is_acknowledged_by_its_id_or_type(ctl):
    ctl.report()
    ctl.alarms(DISK, SESSION_DOWN)
    name = ctl.run("show", "alarms", "--json").json["alarms"][0]["id"]
    assert ctl.run("ack", name, "--text", "on it").status == Exit.DONE
    assert "is closed" in ctl.run("ack", "disk-nearly-full", "--close").out
    (_, path, state, text), (_, _, closed, _) = ctl.client.calls
    resource, kind = SESSION_DOWN.resource, "srv6mgr-alarms:bgp-session-down"
    keys = f"[resource=\"{resource}\"][alarm-type-id='{kind}'][alarm-type-qualifier='']"
    assert path == f"/ietf-alarms:alarms/alarm-list/alarm{keys}"
    assert (state, text, closed) == ("ack", "on it", "closed")


def test_an_unknown_alarm_is_rejected(ctl):
    ctl.report()
    ran = ctl.run("ack", "nonsense")
    assert ran.status == Exit.REJECTED
    assert "show alarms --all" in ran.err
