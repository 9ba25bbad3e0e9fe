"""Who wins between doors, and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.ownership import ACCEPTED, OwnershipIndex, Status
from srv6mgrd.configdb.rejected import Reason
from srv6mgrd.configdb.rows import Kind, Object
from srv6mgrd.configdb.running import Running

LOCATOR, VRF = "SRV6_MY_LOCATORS|MAIN", "VRF|Vrf1"
MAIN, VRF1 = Object(Kind.LOCATOR, "MAIN"), Object(Kind.VRF, "Vrf1")
PREFIX = {"prefix": "fcbb:0:1::"}


class World:
    """A book, and a running configuration that takes all."""

    def __init__(self) -> None:
        self.ownership = OwnershipIndex()
        self.objects: dict[Object, dict[str, Any]] = {}

    @property
    def running(self) -> Running:
        srv6: dict[str, Any] = {}
        for obj, entry in self.objects.items():
            container, name, key = obj.kind.path
            srv6.setdefault(container, {}).setdefault(name, []).append({key: obj.name, **entry})
        return Running({"srv6mgr-srv6:srv6": srv6})

    def round(self, *held: str) -> Mapping[str, tuple[Status, str]]:
        judged = self.ownership.judge(self.running, held)
        out = {row: (v.status, v.reason) for row, v in judged.verdicts.items()}
        for change in judged.changes:
            self.ownership.begin(change)
            self.apply(change)
            self.ownership.done(change)
            if change.leaves is not None:
                out[change.row] = (ACCEPTED.status, "changed")
        return out

    def apply(self, change: Change) -> None:
        if change.leaves is None:
            del self.objects[change.object]
        else:
            entry = self.objects.setdefault(change.object, {})
            for name in change.gone:
                del entry[name]
            entry |= change.leaves


def test_a_row_makes_its_object_and_takes_it_away() -> None:
    world = World()
    world.ownership.write(VRF, {})
    assert world.round() == {VRF: (Status.ACCEPTED, "changed")}
    assert world.objects == {VRF1: {"table-id": 1001}}
    assert world.round() == {VRF: (Status.ACCEPTED, "")}
    world.ownership.remove(VRF)
    world.round()
    assert world.objects == {}


def test_tables_are_the_lowest_that_are_free() -> None:
    world = World()
    world.objects[Object(Kind.VRF, "other")] = {"table-id": 1001}
    world.ownership.write("VRF|Vrf2", {})
    world.ownership.write(VRF, {})
    world.round()
    assert world.objects[VRF1] == {"table-id": 1002}
    assert world.objects[Object(Kind.VRF, "Vrf2")] == {"table-id": 1003}


def test_a_row_that_changes_takes_back_what_it_no_longer_says() -> None:
    world = World()
    row = "SRV6_MY_SIDS|MAIN|fcbb:0:1:1::/64"
    sid = Object(Kind.SID, "fcbb:0:1:1::/64")
    world.objects |= {MAIN: dict(PREFIX), VRF1: {"table-id": 1001}}
    world.ownership.write(row, {"action": "uDT46", "decap_vrf": "Vrf1"})
    world.round()
    world.objects[sid]["counters"] = False  # another door's
    world.ownership.write(row, {"action": "uN"})
    world.round()
    assert world.objects[sid] == {
        "locator": "MAIN",
        "behavior": "End",
        "flavor": ["next-csid"],
        "counters": False,
    }


def test_what_another_northbound_declared_stays_its_own() -> None:
    world = World()
    world.objects[VRF1] = {"table-id": 7, "interface": ["eth0"]}
    world.ownership.write(VRF, {})
    assert world.round() == {VRF: (Status.ACCEPTED, "")}  # the same: nothing to do
    world.ownership.remove(VRF)
    world.round()
    assert VRF1 in world.objects
    world.objects[MAIN] = {"prefix": "fcbb:0:9::/48"}
    world.ownership.write(LOCATOR, PREFIX)
    ((status, reason),) = world.round().values()
    assert status is Status.REJECTED
    assert "another door declares it otherwise" in reason
    assert world.objects[MAIN] == {"prefix": "fcbb:0:9::/48"}
    # It is the row's turn once that goes.
    del world.objects[MAIN]
    assert world.round() == {LOCATOR: (Status.ACCEPTED, "changed")}


def test_what_another_northbound_changed_belongs_to_it() -> None:
    world = World()
    world.ownership.write(LOCATOR, PREFIX)
    world.round()
    world.objects[MAIN]["prefix"] = "fcbb:0:9::/48"
    for _ in range(2):
        ((status, _reason),) = world.round().values()
        assert status is Status.REJECTED
    world.ownership.remove(LOCATOR)
    world.round()
    assert MAIN in world.objects


def test_what_another_northbound_removed_stays_removed_until_the_row_is_written() -> None:
    world = World()
    world.ownership.write(LOCATOR, PREFIX)
    world.round()
    del world.objects[MAIN]
    ((status, reason),) = world.round().values()
    assert (status, "write the row again" in reason) == (Status.REJECTED, True)
    world.ownership.find(LOCATOR, PREFIX)  # a compare is no write
    assert world.round()[LOCATOR][0] is Status.REJECTED
    world.ownership.write(LOCATOR, PREFIX)
    assert world.round() == {LOCATOR: (Status.ACCEPTED, "changed")}


def test_what_another_northbound_added_to_is_not_removed() -> None:
    world = World()
    world.ownership.write(VRF, {})
    world.round()
    world.objects[VRF1]["srv6mgr-bgp:bgp"] = {}
    world.ownership.remove(VRF)
    ((status, reason),) = world.round().values()
    assert status is Status.REMOVED
    assert reason.startswith("VRF Vrf1: another door added bgp")
    del world.objects[VRF1]["srv6mgr-bgp:bgp"]
    world.round()
    assert world.objects == {}


def test_rows_that_may_be_lost_keep_their_objects() -> None:
    world = World()
    world.ownership.write(VRF, {})
    world.round()
    world.ownership.remove(VRF)
    world.round(VRF)
    assert VRF1 in world.objects


def test_rows_that_refer_to_nothing_need_no_commit() -> None:
    world = World()
    rows = [f"SRV6_MY_SIDS|MAIN|fcbb:0:1:{n:x}::/64" for n in range(1, 5001)]
    for row in rows:
        world.ownership.write(row, {"action": "uDT46", "decap_vrf": "Vrf1"})
    judged = world.ownership.judge(world.running)
    assert judged.changes == []
    assert judged.verdicts[rows[0]].status is Status.REJECTED
    assert judged.verdicts[rows[0]].reason == (
        "SID fcbb:0:1:1::/64: locator MAIN does not exist; create it or name an existing locator"
    )
    # With what they refer to they are one change, in the same round.
    world.ownership.write(LOCATOR, PREFIX)
    world.ownership.write(VRF, {})
    assert len(world.ownership.judge(world.running).changes) == 5002


def test_two_rows_for_one_object() -> None:
    world = World()
    world.objects[MAIN] = dict(PREFIX)
    world.ownership.write("SRV6_MY_SIDS|MAIN|fcbb:0:1:1::/64", {"action": "uN"})
    world.ownership.write("SRV6_MY_SIDS|MAIN|fcbb:0:1:1:0::/64", {"action": "uN"})
    statuses = sorted(s for s, _ in world.round().values())
    assert statuses == [Status.ACCEPTED, Status.REJECTED]


def test_a_write_cut_short_is_known_afterwards() -> None:
    for carried_out in (True, False):
        world = World()
        world.ownership.write(VRF, {})
        (change,) = world.ownership.judge(world.running).changes
        world.ownership.begin(change)
        if carried_out:
            world.apply(change)
        world.ownership = OwnershipIndex(world.ownership.owned)  # a restart
        world.ownership.find(VRF, {})
        assert world.round()[VRF][0] is Status.ACCEPTED
        world.ownership.remove(VRF)
        world.round()
        assert world.objects == {}, carried_out


def test_a_rejected_row_is_tried_again_when_something_changes_that_matters() -> None:
    world = World()
    row = "SRV6_MY_SIDS|MAIN|fcbb:0:9:1::/64"
    world.objects |= {MAIN: dict(PREFIX), VRF1: {"table-id": 7}}
    world.ownership.write(row, {"action": "uN"})
    reason = Reason("SID fcbb:0:9:1::/64: it overlaps SID fcbb:0:9::/48; give each its own")

    def is_tried() -> bool:
        """And rejected again, if it is."""
        judged = world.ownership.judge(world.running)
        for change in judged.changes:
            world.ownership.reject(change, reason, world.running)
        assert judged.changes or judged.verdicts[row].reason == reason.text
        return bool(judged.changes)

    assert is_tried()
    assert not is_tried()
    world.objects[Object(Kind.SID, "fcbb:0:1:5::/64")] = {"locator": "MAIN", "behavior": "End"}
    assert not is_tried(), "another SID"
    world.objects[MAIN]["node-length"] = 32
    assert is_tried(), "its locator"
    world.objects[Object(Kind.SID, "fcbb:0:9::/48")] = {"locator": "MAIN", "behavior": "End"}
    assert is_tried(), "an object that the reason names"
    assert not is_tried()
    world.ownership.write(row, {"action": "uN"})
    assert is_tried(), "it was written"
    world.ownership.retry_temporary()
    assert not is_tried()
    reason = Reason(reason.text, is_final=False)
    world.ownership.write(row, {"action": "uN"})
    assert is_tried()
    world.ownership.retry_temporary()
    assert is_tried(), "the kernel may take it by now"


def test_a_removal_that_was_rejected_is_tried_again_when_nothing_uses_the_object() -> None:
    world = World()
    world.ownership.write(LOCATOR, PREFIX)
    world.round()
    sid = Object(Kind.SID, "fcbb:0:1:5::/64")
    world.objects[sid] = {"locator": "MAIN", "behavior": "End"}
    world.ownership.remove(LOCATOR)
    (change,) = world.ownership.judge(world.running).changes
    world.ownership.reject(change, Reason("locator MAIN: it is used"), world.running)
    judged = world.ownership.judge(world.running)
    assert not judged.changes
    assert judged.verdicts[LOCATOR].status is Status.REMOVED
    del world.objects[sid]
    assert world.ownership.judge(world.running).changes == [change]
