"""What reads back differently from how it was written, and repairs that do not last."""

import itertools
from dataclasses import replace
from ipaddress import ip_network

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.render import render
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.plan.actions import Delete
from srv6mgrd.plan.observed import Observed, ObservedObject
from tests.builders import desired, locator, sid, vrf
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import FakeKernel
from tests.unit.reconciler.world import (
    DT46,
    END,
    END_KEY,
    INSTALLED,
    MAIN,
    NOTHING,
    RED,
    VPN,
    World,
    rejection,
    without_sysctls,
)


class ForgetfulKernel(FakeKernel):
    """Takes a seg6local route and leaves out its counters, as kernels before 6.6 do."""

    def observe(self, sysctls):
        found = super().observe(sysctls)
        objects = {
            key: ObservedObject(replace(s.object, counters=False), s.ours)
            if isinstance(s.object, SidRoute)
            else s
            for key, s in found.objects.items()
        }
        return Observed(objects, found.interfaces, changed=found.changed)


def test_what_reads_back_otherwise_rejects_the_commit():
    world = World(ForgetfulKernel())
    there = world.state()

    text = rejection(world, desired(locator(), sid("fcbb:0:1:1::/64")))

    assert text == (
        "SID fcbb:0:1:1::/64: the kernel accepted it but holds something else; "
        "this kernel lacks a part of it; use a newer kernel"
    )
    assert without_sysctls(world.state()) == without_sysctls(there)


def test_what_reads_back_otherwise_at_repair_is_failed():
    world = World(ForgetfulKernel())

    report = world.repair(desired(locator(), sid("fcbb:0:1:1::/64")))

    assert report.outcomes[END].status is InstallStatus.FAILED
    assert "holds something else" in report.outcomes[END].reason
    assert report.outcomes[MAIN] == INSTALLED


def test_what_the_kernel_ignores_is_not_written_again_and_again():
    now = [0.0]
    world = World(ForgetfulKernel())
    world.reconciler = Reconciler(
        world.kernel, world.frr, world.journal, render, clock=lambda: now[0]
    )
    world.repair(desired(locator(), sid("fcbb:0:1:1::/64")))
    # Made without its counters, then once more; from then on it is known.
    world.repair()
    writes, at = world.kernel.writes, []

    for _ in range(1000):
        now[0] += 10
        report = world.repair()
        if world.kernel.writes != writes:
            writes = world.kernel.writes
            at.append(now[0])
        assert report.outcomes[END].status is InstallStatus.FAILED
        assert "holds something else" in report.outcomes[END].reason

    assert at == [60, 180, 420, 900, 1860, 3780, 7380]


def test_what_the_kernel_ignored_is_written_when_it_is_declared_otherwise():
    world = World(ForgetfulKernel())
    world.repair(desired(locator(), sid("fcbb:0:1:1::/64")))
    world.repair()
    plain = replace(sid("fcbb:0:1:1::/64"), counters=False)

    report = world.repair(desired(locator(), plain))

    assert report.outcomes[END] == INSTALLED


def test_repairs_that_are_undone_each_time_wait_longer_and_longer(world):
    now = [0.0]
    world.reconciler = Reconciler(
        world.kernel, world.frr, world.journal, render, clock=lambda: now[0]
    )
    world.commit(VPN)
    repairs = []
    while now[0] < 400:
        # Finely while each is repaired at once, coarsely while they are put off.
        now[0] += 0.02 if len(repairs) < 100 else 0.25
        world.kernel.objects.pop(END_KEY, None)
        report = world.repair()
        if report.actions:
            repairs.append(now[0])
        else:
            assert report.outcomes[END].status is InstallStatus.FAILED
            assert "changed again each time" in report.outcomes[END].reason
            assert report.outcomes[DT46] == INSTALLED

    waits = [round(b - a) for a, b in itertools.pairwise(repairs)]
    assert waits[:99] == [0] * 99
    assert waits[99:107] == [1, 2, 4, 8, 16, 32, 60, 60]
    # Who keeps still is served at once again.
    now[0] += 100
    world.repair()
    world.kernel.remove(END_KEY)
    now[0] += 100
    assert world.repair().actions
    world.kernel.remove(END_KEY)
    assert world.repair().actions


def test_a_repair_says_how_it_differed(world):
    world.commit(VPN)
    world.kernel.remove(END_KEY)
    world.kernel.remove("port eth1")
    seen = world.kernel.objects["route6 table 8986 fcbb:0:1:64::/64"].object
    world.kernel.put(replace(seen, metric=1, action=Behavior.END_DT6))

    assert world.repair().differences == {
        END: "SID route was deleted",
        RED: "interface eth1 had left VRF red",
        DT46: "SID route: action was End.DT6, is End.DT46; metric was 1, is 1024",
    }


class LosingKernel(FakeKernel):
    """Another program removes objects while we write others."""

    loses = ()

    def apply(self, actions):
        found = super().apply(actions)
        for key in self.loses:
            self.remove(key)
        self.loses = ()
        return found


def test_what_is_removed_while_something_else_is_written_is_the_next_repairs():
    world = World(LosingKernel({"eth1": 2, "eth2": 3}))
    world.commit(VPN)
    world.kernel.remove(END_KEY)
    world.kernel.loses = ["port eth1"]

    report = world.repair()

    assert not report.rejections
    assert report.outcomes[END] == INSTALLED
    assert report.is_outdated
    again = world.repair()
    assert again.differences == {RED: "interface eth1 had left VRF red"}
    assert not again.is_outdated


def test_what_is_removed_during_a_commit_does_not_reject_it():
    world = World(LosingKernel({"eth1": 2, "eth2": 3}))
    world.commit(VPN)
    world.kernel.loses = [END_KEY]

    report = world.commit(replace(VPN, sids={**VPN.sids, **desired(sid("fcbb:0:1:2::/64")).sids}))

    assert report.is_outdated
    assert END_KEY not in world.kernel.objects
    assert list(world.repair().differences) == [END]


def test_what_is_removed_right_after_it_was_written_is_named():
    world = World(LosingKernel({"eth1": 2, "eth2": 3}))
    world.commit(VPN)
    world.kernel.remove(END_KEY)
    world.kernel.loses = [END_KEY]

    assert "gone again right after it was written" in world.repair().outcomes[END].reason


class KeepingFrr(FakeFrr):
    """Takes the first removals and goes on showing the lines, as mgmtd does (``frr.kept``)."""

    keeps = True

    def apply(self, actions, *, atomic=False):
        if self.keeps and any(isinstance(a, Delete) for a in actions):
            actions = [a for a in actions if not isinstance(a, Delete)]
        return super().apply(actions, atomic=atomic)


def test_a_static_route_that_frr_goes_on_showing_is_removed_again():
    world = World()
    world.frr = KeepingFrr()
    world.restart()
    hop = NextHop(1, special=SpecialNextHop.BLACKHOLE)
    route = StaticRoute("red", ip_network("10.9.0.0/24"), (hop,))
    red = desired(vrf("red", 10))
    world.commit(replace(red, static_routes={route.name: route}))
    key = "frr mgmtd vrf red / ip route 10.9.0.0/24"
    world.commit(red)
    assert key in world.frr.contexts

    world.frr.keeps = False
    world.repair()

    assert key not in world.frr.contexts
    assert not any(key.startswith("frr ") for key in world.journal.keys)


def test_a_context_that_frr_goes_on_showing_is_removed_once():
    """It may be what a profile implies, for a VRF that FRR still knows."""
    world = World()
    world.frr = KeepingFrr()
    world.restart()
    world.commit(VPN)
    world.commit(NOTHING)
    assert world.frr.contexts

    assert world.repair().actions == []


def test_a_context_of_frr_that_stays_for_the_operators_lines_is_no_longer_ours():
    world = World()
    world.frr.operator("bgpd", ("router bgp 65000",), "the operator's own")
    world.commit(VPN)

    world.commit(NOTHING)

    assert not any(key.startswith("frr ") for key in world.journal.keys)
    assert [b.lines for b in world.frr.contexts.values()] == [("the operator's own",)]
