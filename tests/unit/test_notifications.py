"""What of a change is worth a notification."""

from srv6mgrd.apply.error_messages import of_conflict
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.notifications import Notification, collisions, drift, status_changes
from srv6mgrd.plan.diff import Conflict
from tests.builders import net

SID = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
RED = ObjectRef(Kind.VRF, "red")
INSTALLED = ObjectStatus(InstallStatus.INSTALLED, since=1)
ROUTE = SidRoute(net(SID.name), Behavior.END, 8986)
FOREIGN = of_conflict(Conflict(ROUTE, ROUTE))


def test_a_status_that_changes_is_reported_once():
    first = list(status_changes({}, {SID: INSTALLED, RED: INSTALLED}))
    leaves = {"prefix": SID.name, "install-status": "installed", "reason": ""}
    assert first == [Notification("sid-status-change", leaves)]
    later = ObjectStatus(InstallStatus.INSTALLED, since=2, repairs=1)
    assert not list(status_changes({SID: INSTALLED}, {SID: later}))


def test_a_collision_is_reported_by_status_and_by_rejection():
    failed = {SID: ObjectStatus(InstallStatus.FAILED, str(FOREIGN))}
    changed, collision = status_changes({SID: INSTALLED}, failed)
    assert changed.leaves["install-status"] == "failed"
    reported = {"prefix": SID.name, "found": f"SID {SID.name}"}
    assert collision == Notification("sid-collision", reported)
    assert list(collisions([FOREIGN])) == [collision]


def test_drift_names_its_objects():
    detected, repaired = drift({RED: "VRF device red was deleted"}, [RED])
    assert detected.name == "drift-detected"
    assert repaired == Notification("drift-repaired", {"kind": "vrf", "name": "red"})
    assert detected.leaves["reason"] == "VRF device red was deleted"
