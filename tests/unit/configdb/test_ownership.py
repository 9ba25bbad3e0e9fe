"""Who wins between northbounds, and what is done about it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from srv6mgrd.configdb.change import Change
from srv6mgrd.configdb.objects import Kind, Object
from srv6mgrd.configdb.ownership import OwnershipIndex
from srv6mgrd.configdb.rejected import Reason, RejectedChanges
from srv6mgrd.configdb.running import Running
from srv6mgrd.configdb.surroundings import Surroundings
from srv6mgrd.configdb.verdict import ACCEPTED, Status

LOCATOR, VRF = "SRV6_MY_LOCATORS|MAIN", "VRF|Vrf1"
MAIN, VRF1 = Object(Kind.LOCATOR, "MAIN"), Object(Kind.VRF, "Vrf1")
PREFIX = {"prefix": "fcbb:0:1::"}


NOTHING = Surroundings()


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

    def round(self, *held: str, around: Surroundings = NOTHING) -> Mapping[str, tuple[Status, str]]:
        judged = self.ownership.judge(self.running, held, around)
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
            entry |= deepcopy(dict(change.leaves))


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
    world.objects[sid]["counters"] = False  # another northbound's
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
    assert "another northbound declares it otherwise" in reason
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
    assert reason.startswith("VRF Vrf1: another northbound added bgp")
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


UA = "SRV6_MY_SIDS|MAIN|fcbb:0:1:fe00::/64"
ADJACENT = Object(Kind.SID, "fcbb:0:1:fe00::/64")
MAC, OTHER = "02:00:00:00:00:01", "02:00:00:00:00:02"


def seen(*addresses: tuple[str, str]) -> Surroundings:
    return Surroundings({"Ethernet0": addresses})


def test_a_ua_without_adj_has_the_neighbor_of_its_interface() -> None:
    world = World()
    world.ownership.write(LOCATOR, PREFIX)
    world.ownership.write(UA, {"action": "uA", "interface": "Ethernet0"})
    assert world.ownership.follows_kernel
    status, reason = world.round()[UA]
    assert (status, "no IPv6 neighbor is known on Ethernet0 yet" in reason) == (
        Status.WAITING,
        True,
    )
    both = world.round(around=seen(("fe80::1", MAC), ("fe80::2", OTHER)))
    assert "Ethernet0 has 2 IPv6 neighbors" in both[UA][1]
    # Of one neighbor with two addresses the one that it has on each link.
    world.round(around=seen(("2001:db8::1", MAC), ("fe80::1", MAC)))
    assert world.objects[ADJACENT]["next-hop"] == "fe80::1"
    # A neighbor that is forgotten does not take the SID along; another one takes its place.
    assert world.round()[UA] == (Status.ACCEPTED, "")
    world.round(around=seen(("fe80::2", OTHER)))
    assert world.objects[ADJACENT]["next-hop"] == "fe80::2"
    world.ownership.remove(UA)
    world.round()
    assert ADJACENT not in world.objects
    assert not world.ownership.follows_kernel


def test_tables_of_vrfmgrd_are_taken_over() -> None:
    world = World()
    world.ownership.write(VRF, {})
    status, reason = world.round(around=Surroundings(vrf_tables={}))[VRF]
    assert (status, "vrfmgrd has not made its device yet" in reason) == (Status.WAITING, True)
    world.round(around=Surroundings(vrf_tables={"Vrf1": 1005}))
    assert world.objects[VRF1] == {"table-id": 1005}
    # It was removed and made again.
    world.round(around=Surroundings(vrf_tables={"Vrf1": 1006}))
    assert world.objects[VRF1] == {"table-id": 1006}


def test_there_is_one_master_of_static_sids() -> None:
    """Where bgpcfgd runs, rows are left to it, and objects that they made are taken back."""
    world = World()
    world.ownership.write(LOCATOR, PREFIX)
    world.ownership.write(VRF, {})
    world.round()
    assert world.objects.keys() == {MAIN, VRF1}
    left = world.round(around=Surroundings(is_bgpcfgd=True))
    assert left[LOCATOR][0] is Status.LEFT
    assert "FEATURE|bgp is enabled" in left[LOCATOR][1]
    # VRFs are not bgpcfgd's.
    assert left[VRF] == (Status.ACCEPTED, "")
    assert world.objects.keys() == {VRF1}
    assert world.round()[LOCATOR][0] is Status.ACCEPTED


def test_rows_add_to_the_object_of_another_row() -> None:
    world = World()
    port = "INTERFACE|Ethernet0"
    world.ownership.write(port, {"vrf_name": "Vrf1"})
    waiting = world.ownership.verdicts_of_parts(world.ownership.judge(world.running).verdicts)
    assert waiting[port].status is Status.WAITING
    assert "no row declares it yet; write VRF|Vrf1" in waiting[port].reason
    world.ownership.write(VRF, {})
    world.round()
    assert world.objects[VRF1] == {"table-id": 1001, "interface": ["Ethernet0"]}
    world.ownership.write("INTERFACE|Ethernet4", {"vrf_name": "Vrf1"})
    world.round()
    assert world.objects[VRF1]["interface"] == ["Ethernet0", "Ethernet4"]
    world.ownership.remove(port)
    world.round()
    assert world.objects[VRF1]["interface"] == ["Ethernet4"]
    # In mode sonic ports are intfmgrd's.
    world.round(around=Surroundings(vrf_tables={"Vrf1": 1001}))
    assert world.objects[VRF1] == {"table-id": 1001}
    world.ownership.remove(VRF)
    world.round()
    assert world.objects == {}


def test_a_vrf_waits_for_the_sid_that_it_exports() -> None:
    world = World()
    world.ownership.write(VRF, {})
    world.ownership.write(
        "BGP_GLOBALS_AF|Vrf1|ipv4_unicast", {"rd_vpn_export": "1:1", "rt_vpn_both": "1:1"}
    )
    speaker = {"local_asn": "1", "router_id": "1.1.1.1"}
    world.ownership.write("BGP_GLOBALS|default", speaker)
    explicit = {"local_asn": "1", "sid_vpn_per_vrf_export_explicit": "fcbb:0:1:f1::"}
    world.ownership.write("BGP_GLOBALS|Vrf1", explicit)
    status, reason = world.round()[VRF]
    assert (status, "in no row of SRV6_MY_SIDS" in reason) == (Status.WAITING, True)
    world.ownership.write(LOCATOR, PREFIX)
    sid = {"action": "uDT46", "decap_vrf": "Vrf1"}
    world.ownership.write("SRV6_MY_SIDS|MAIN|FCBB:0:1:F1::/64", sid)
    world.round()
    assert world.objects[VRF1]["srv6mgr-bgp:bgp"]["export-sid"] == "fcbb:0:1:f1::/64"


def test_proxies_are_never_left_to_bgpcfgd() -> None:
    """No daemon of SONiC reads SRV6MGR_PROXY."""
    world, beside = World(), Surroundings(is_bgpcfgd=True)
    world.objects[MAIN] = dict(PREFIX)
    row = "SRV6MGR_PROXY|MAIN|fcbb:0:1:a1::/64"
    world.ownership.write(row, {"behavior": "End.AD", "inner_type": "ethernet", "interface": "e"})
    assert world.round(around=beside) == {row: (Status.ACCEPTED, "changed")}


def test_rows_that_bgpcfgd_serves_are_not_judged() -> None:
    world, beside = World(), Surroundings(is_bgpcfgd=True)
    row = "SRV6_MY_SIDS|MAIN|fcbb:0:1:f1::/64"
    world.ownership.write(row, {"action": "uDT46"})
    assert world.round()[row][0] is Status.REJECTED
    assert world.round(around=beside)[row][0] is Status.LEFT


def test_what_is_left_says_who_serves_it() -> None:
    world, beside = World(), Surroundings(is_bgpcfgd=True)
    world.ownership.write(LOCATOR, PREFIX)
    vpn = {"rd": "1:1", "rt_import": "1:1", "rt_export": "1:1"}
    world.ownership.write("SRV6MGR_VPN|Vrf1", vpn)
    left = world.round(around=beside)
    assert left[LOCATOR][1].startswith("the bgp container makes FRR's configuration of it")
    # bgpcfgd does not know this table.
    assert left["SRV6MGR_VPN|Vrf1"][0] is Status.LEFT
    assert left["SRV6MGR_VPN|Vrf1"][1].startswith("nobody serves it")


@pytest.mark.parametrize("vrf", ["default", "Vrf1"])
def test_defaults_of_yang_are_no_difference(vrf: str) -> None:
    """The running configuration leaves them out."""
    world = World()
    world.ownership.write(VRF, {})
    world.ownership.write("SRV6MGR_SEGMENT_LIST|a", {"path": "::1"})
    row = f"SRV6MGR_STEERING|{vrf}|10.0.0.0/8"
    world.ownership.write(row, {"segment_list": "a", "behavior": "H.Encaps"})
    world.round()
    routes = world.objects.get(Object(Kind.ROUTE, "10.0.0.0/8"))
    if routes is None:
        (routes,) = world.objects[VRF1]["srv6mgr-steering:steering"]["route"]
    assert routes.pop("behavior") == "H.Encaps"
    again = world.round()
    assert again == dict.fromkeys(again, (Status.ACCEPTED, ""))


def test_the_order_in_which_rows_were_written_does_not_matter() -> None:
    """Two rows that say of one VRF different things say the same after a restart."""
    world = World()
    world.ownership.write(VRF, {})
    world.ownership.write("BGP_GLOBALS|default", {"local_asn": "1", "router_id": "1.1.1.1"})
    family = "BGP_GLOBALS_AF|Vrf1|ipv4_unicast"
    targets = {"rd_vpn_export": "1:1", "rt_vpn_both": "1:1"}
    world.ownership.write(family, targets)
    world.ownership.write("SRV6MGR_VPN|Vrf1", {"rd": "2:2", "rt_import": "1:1", "rt_export": "1:1"})
    world.round()
    before = dict(world.objects[VRF1])
    world.ownership.write(family, targets)
    world.round()
    assert world.objects[VRF1] == before


def test_connected_routes_are_kept_where_a_row_says_so() -> None:
    """The model exports them by default."""
    world = World()
    world.ownership.write(VRF, {})
    world.ownership.write("BGP_GLOBALS|default", {"local_asn": "1", "router_id": "1.1.1.1"})
    family = "BGP_GLOBALS_AF|Vrf1|ipv4_unicast"
    targets = {"rd_vpn_export": "1:1", "rt_vpn_both": "1:1"}
    world.ownership.write(family, targets | {"redistribute_connected": "false"})
    world.round()
    assert world.objects[VRF1]["srv6mgr-bgp:bgp"]["redistribute"] == {"connected": False}
    world.ownership.write(family, targets | {"redistribute_connected": "true"})
    world.round()
    assert "redistribute" not in world.objects[VRF1]["srv6mgr-bgp:bgp"]


def test_a_rejected_row_that_is_found_otherwise_is_tried() -> None:
    """Its change was not heard of."""
    world = World()
    row = "SRV6_MY_SIDS|MAIN|fcbb:cccc:1:1::/64"
    world.objects[MAIN] = dict(PREFIX)
    world.ownership.write(row, {"action": "uDT6"})
    (change,) = world.ownership.judge(world.running).changes
    outside = "SID fcbb:cccc:1:1::/64: it is outside locator MAIN"
    world.ownership.reject(change, Reason(outside), world.running)
    again = world.ownership.judge(world.running)
    assert (again.changes, again.verdicts[row].reason) == ([], outside)
    world.ownership.find(row, {"action": "uN"})
    (other,) = world.ownership.judge(world.running).changes
    assert other.leaves is not None
    assert other.leaves["behavior"] == "End"


def test_a_reason_names_objects_by_their_names_alone() -> None:
    """A row whose reason seems to name a SID would be composed and compared with each other one."""
    rejected, running = RejectedChanges(), Running({})
    sid = Object(Kind.SID, "fcbb:cccc:1:1::/64")
    change = Change("SRV6_MY_SIDS|MAIN|fcbb:cccc:1:1::/64", sid, {"locator": "MAIN"})
    why = "it is outside locator MAIN (fcbb::/48); choose a SID in this prefix, or another locator"
    rejected.add(change, Reason(f"{sid}: {why}"), running)
    assert rejected.stays(change.row, running) == f"{sid}: {why}"
    speaker = Running({"srv6mgr-srv6:srv6": {"srv6mgr-bgp:bgp": {"as-number": 1}}})
    rejected.add(change, Reason(f"{sid}: BGP does not exist"), running)
    assert rejected.reason(change, speaker) is None
