"""Commits: all in place, and nothing twice."""

from dataclasses import replace

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.status import InstallStatus
from tests.builders import desired, dt46, locator, net, sid, small_vpn, speaker, vpn, vrf
from tests.fakes.frr import FakeFrr
from tests.unit.reconciler.world import (
    DT46,
    END,
    INSTALLED,
    MAIN,
    NOTHING,
    RED,
    RED_BGP,
    VPN,
)


def test_a_commit_puts_all_in_place(world):
    report = world.commit(VPN)

    assert world.stands(VPN)
    assert report.outcomes == dict.fromkeys([MAIN, RED, DT46, END, RED_BGP], INSTALLED)
    assert report.touched == {MAIN, RED, DT46, END, RED_BGP}
    assert world.reconciler.desired == VPN


def test_the_same_commit_again_writes_nothing(world):
    world.commit(VPN)
    before = world.writes

    report = world.commit(VPN)

    assert world.writes == before
    assert report.actions == []
    assert report.touched == frozenset()
    assert report.outcomes[DT46] == INSTALLED


def test_a_restart_writes_nothing(world):
    world.commit(VPN)
    before = world.writes
    world.restart()

    world.repair(VPN)

    assert world.writes == before


def test_a_commit_of_nothing_takes_all_away(world):
    world.commit(VPN)

    world.commit(NOTHING)

    assert world.stands(NOTHING)
    assert list(world.journal.keys) == []


class StepsSeen(FakeFrr):
    """Notes what of VRF red is in the kernel whenever FRR is to keep step."""

    kernel = None

    def meet(self, vrfs):
        self.steps.append(("meet", vrfs, self.red()))

    def let_go(self, vrfs):
        self.steps.append(("let go", vrfs, self.red()))

    def see_off(self, vrfs):
        self.steps.append(("see off", vrfs, self.red()))

    def red(self):
        keys = ("link red", "route4 table 10 default", "port eth1")
        return [key for key in keys if key in self.kernel.objects]


def test_frr_keeps_step_with_vrfs_that_come_and_go(world):
    frr = StepsSeen()
    frr.kernel = world.kernel
    reconciler = Reconciler(world.kernel, frr, world.journal, render)

    reconciler.commit(VPN)
    reconciler.commit(NOTHING)

    assert frr.steps == [("meet", ["red"], ["link red"]), ("let go", ["red"], ["link red"])]


def test_frr_sees_off_a_vrf_before_it_is_made_again(world):
    """The next one has its ifindex, by which FRR would seem to know it."""
    frr = StepsSeen()
    frr.kernel = world.kernel
    reconciler = Reconciler(world.kernel, frr, world.journal, render)
    reconciler.commit(VPN)
    frr.steps.clear()
    world.kernel.remove("link red")

    reconciler.repair()

    default = "route4 table 10 default"
    assert frr.steps == [("see off", ["red"], [default]), ("meet", ["red"], ["link red", default])]


def test_a_vrf_that_only_imports_leaves_no_trace_in_frr(world):
    world.commit(desired(locator(), vrf("red", 10, bgp=vpn()), speaker()))

    world.commit(NOTHING)

    assert world.frr.contexts == {}


def test_other_sids_keep_their_counters(world):
    world.commit(VPN)
    world.kernel.counters[net("fcbb:0:1:1::/64")] = (7, 700, 0)

    world.commit(replace(VPN, sids={**VPN.sids, net("fcbb:0:1:2::/64"): sid("fcbb:0:1:2::/64")}))

    assert world.kernel.sid_counters()[net("fcbb:0:1:1::/64")] == (7, 700, 0)


def test_an_interface_that_does_not_exist_is_waited_for(world):
    state = small_vpn("eth1", "eth9")

    report = world.commit(state)
    assert report.outcomes[RED] == Outcome(
        InstallStatus.PENDING, "interface eth9 does not exist yet"
    )
    assert VrfPort("eth1", "red") in [a.object for a in report.actions]

    world.kernel.interfaces["eth9"] = 9
    report = world.repair()
    assert report.outcomes[RED] == INSTALLED
    assert world.stands(state)


def test_a_sid_forwards_after_its_vrf_moved_to_another_table(world):
    world.commit(VPN)
    moved = replace(VPN, vrfs={"red": replace(VPN.vrfs["red"], table=20)})

    world.commit(moved)

    assert world.stands(moved)
    route = SidRoute(net("fcbb:0:1:64::/64"), Behavior.END_DT46, 8986, 20)
    assert world.kernel.forwards(route)


def test_two_vrfs_swap_tables_in_one_commit(world):
    parts = locator(), dt46("fcbb:0:1:1::/64", "red"), dt46("fcbb:0:1:2::/64", "blue")
    world.commit(desired(vrf("red", 10, "eth1"), vrf("blue", 20, "eth2"), *parts))
    swapped = desired(vrf("red", 20, "eth1"), vrf("blue", 10, "eth2"), *parts)

    world.commit(swapped)

    assert world.stands(swapped)
