"""Commit, repair and dry run on a kernel and an FRR in memory."""

import errno
import itertools
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.outcomes import FRR_ABSENT, Outcome
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.counters.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.frr.render import render
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.refusal import Refusal, RefusedError
from srv6mgrd.plan.actions import Delete
from srv6mgrd.plan.objects import (
    EncapSource,
    FrrBlock,
    Rule,
    SidRoute,
    Sysctl,
    UnknownRoute,
    UnknownRule,
    VrfDevice,
    VrfPort,
)
from srv6mgrd.plan.observed import Observed, ObservedObject
from srv6mgrd.plan.target import target, vrf_ifindex
from tests.builders import desired, dt46, locator, net, sid, small_vpn, speaker, vpn, vrf
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import STRICT_MODE, Crash, FakeKernel

INSTALLED = Outcome(InstallStatus.INSTALLED)
MAIN = ObjectRef(Kind.LOCATOR, "MAIN")
RED, BLUE = ObjectRef(Kind.VRF, "red"), ObjectRef(Kind.VRF, "blue")
RED_BGP = ObjectRef(Kind.VRF_BGP, "red")
DT46 = ObjectRef(Kind.SID, "fcbb:0:1:64::/64")
END = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
END_KEY = "route6 table 8986 fcbb:0:1:1::/64"
NOTHING = desired()
VPN = small_vpn("eth1")
BGP_RED = ("router bgp 65000 vrf red", "address-family ipv4 unicast")


class World:
    def __init__(self, kernel=None):
        self.kernel = kernel or FakeKernel({"eth1": 2, "eth2": 3})
        self.frr = FakeFrr()
        self.journal = Journal(None)
        self.restart()

    def restart(self):
        """The process starts anew; kernel, FRR and journal are still there."""
        self.reconciler = Reconciler(self.kernel, self.frr, self.journal, render)

    def commit(self, state):
        return self.reconciler.commit(state)

    def repair(self, state=None):
        return self.reconciler.repair(state)

    @property
    def writes(self):
        return self.kernel.writes + self.frr.writes

    def state(self):
        return (
            dict(self.kernel.objects),
            dict(self.kernel.sysctls),
            dict(self.frr.contexts),
            dict(self.journal.checkpoint()),
        )

    def stands(self, state, blocks=None):
        """Whether exactly this is in the kernel and in FRR, beside what is foreign."""
        t = target(state, self.kernel.interfaces, render(state) if blocks is None else blocks)
        t = t.objects
        kernel = {
            key: seen.object
            for key, seen in self.kernel.objects.items()
            if seen.ours or key in self.journal
        }
        return (
            kernel == {k: o for k, o in t.items() if not isinstance(o, (FrrBlock, Sysctl))}
            and self.frr.contexts == {k: o for k, o in t.items() if isinstance(o, FrrBlock)}
            and all(
                self.kernel.sysctls.get(o.path) == o.value
                for o in t.values()
                if isinstance(o, Sysctl)
            )
        )


def without_sysctls(state):
    """Those are never set back."""
    kernel, _, frr, journal = state
    return kernel, frr, {k: v for k, v in journal.items() if not k.startswith("sysctl")}


@pytest.fixture
def world():
    return World()


def refusal(world, state):
    with pytest.raises(RefusedError) as caught:
        world.commit(state)
    return str(caught.value)


# Commit.


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
    """Notes what of VRF red stands in the kernel whenever FRR is to keep step."""

    kernel = None

    def meet(self, vrfs):
        self.steps.append(("meet", vrfs, self.red()))

    def let_go(self, vrfs):
        self.steps.append(("let go", vrfs, self.red()))

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


# Refusal.


def test_what_frr_cannot_carry_is_refused_before_anything_is_written(world):
    refusal = Refusal("VRF red", "cause", "remedy", "tag")
    reconciler = Reconciler(
        world.kernel, world.frr, world.journal, render, limits=lambda _: [refusal]
    )
    with pytest.raises(RefusedError, match="VRF red: cause; remedy"):
        reconciler.commit(VPN)
    assert world.kernel.writes == 0


def test_a_check_refuses_before_anything_is_read_or_written(world):
    text = refusal(world, desired(vrf("red", 8986)))

    assert "table 8986 holds the local SIDs" in text
    assert world.writes == 0
    assert world.reconciler.desired == NOTHING


AFTER = replace(
    VPN,
    encapsulation_source=IPv6Address("fcbb:0:1::2"),
    vrfs={"red": replace(VPN.vrfs["red"], table=20)},
)


def new_objects(before, after):
    interfaces = {"eth1": 2, "eth2": 3}
    there = target(before, interfaces).objects.values()
    return [o for o in target(after, interfaces).objects.values() if o not in there]


@pytest.mark.parametrize(
    ("before", "bad"),
    [
        (before, obj)
        for before in (NOTHING, small_vpn(), small_vpn("eth1", "eth2"))
        for obj in new_objects(before, AFTER)
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_refusal_by_the_kernel_leaves_all_as_before(world, before, bad):
    world.commit(before)
    there = world.state()
    world.kernel.refuse(lambda a: a.object == bad and not isinstance(a, Delete))

    with pytest.raises(RefusedError):
        world.commit(AFTER)

    assert without_sysctls(world.state()) == without_sysctls(there)
    assert world.reconciler.desired == before


def test_a_refusal_is_in_the_operators_words(world):
    world.kernel.refuse(
        lambda a: a.object.key == END_KEY, errno.EINVAL, "Invalid table for the action"
    )

    assert refusal(world, VPN) == (
        "SID fcbb:0:1:1::/64: the kernel refused it: Invalid table for the action (EINVAL); "
        "see the kernel's words, correct the configuration and try again"
    )


def test_a_refusal_by_frr_leaves_all_as_before(world):
    world.frr.refuse = {"rd vpn export": "Malformed rd"}
    there = world.state()

    text = refusal(world, VPN)

    assert "FRR refused it: bgpd: Malformed rd (at 'rd vpn export 65000:10')" in text
    assert without_sysctls(world.state()) == without_sysctls(there)


def test_something_foreign_in_the_way_refuses_the_commit_untouched(world):
    theirs = VrfDevice("red", 77, 9)
    world.kernel.add_foreign(theirs)

    assert refusal(world, VPN) == (
        "VRF red: something that srv6mgr did not make is already there (VRF red); "
        "remove it, or declare another name, table or prefix"
    )
    assert world.writes == 0


def test_a_foreign_vrf_on_the_table_refuses_the_commit_with_both_names(world):
    world.kernel.add_foreign(VrfDevice("theirs", 10, 9))

    text = refusal(world, desired(vrf("red", 10)))

    assert text == "\n".join(
        [
            "VRF red: table 10 is already used by VRF theirs; choose another table-id",
            "unreachable IPv4 default of table 10: table 10 belongs to VRF theirs, "
            "which srv6mgr did not make; choose another table-id",
            "unreachable IPv6 default of table 10: table 10 belongs to VRF theirs, "
            "which srv6mgr did not make; choose another table-id",
        ]
    )
    assert world.writes == 0


def test_an_interface_in_a_foreign_vrf_refuses_the_commit_untouched(world):
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.add_foreign(VrfPort("eth1", "theirs"))
    before = world.state()

    said = refusal(world, VPN)

    assert said == (
        "interface eth1 of VRF red: it is in VRF theirs, which srv6mgr did not make; take it out"
        " ('ip link set eth1 nomaster') or declare another one"
    )
    assert world.state() == before


def test_an_interface_of_ours_that_was_moved_to_a_foreign_vrf_comes_back(world):
    world.commit(VPN)
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.put(VrfPort("eth1", "theirs"))

    world.repair()

    assert world.kernel.objects["port eth1"].object == VrfPort("eth1", "red")


def test_an_interface_that_went_to_a_foreign_vrf_stays_there_when_it_is_undeclared(world):
    world.commit(VPN)
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.put(VrfPort("eth1", "theirs"))

    world.commit(small_vpn())

    assert world.kernel.objects["port eth1"].object == VrfPort("eth1", "theirs")
    assert "port eth1" not in world.journal


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
        return Observed(objects, found.interfaces)


def test_what_reads_back_otherwise_refuses_the_commit():
    world = World(ForgetfulKernel())
    there = world.state()

    text = refusal(world, desired(locator(), sid("fcbb:0:1:1::/64")))

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
        now[0] += 0.02
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


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (
            SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986, metric=1, device="eth2"),
            "route fcbb:0:1:1::/64 metric 1: End",
        ),
        (
            UnknownRoute("x", 6, 8986, net("fcbb:0:1:1:7::/80"), 1024, "not seg6local, dev lo"),
            "route fcbb:0:1:1:7::/80 metric 1024: not seg6local, dev lo",
        ),
    ],
)
def test_what_stands_in_front_is_said_and_not_removed(world, other, what):
    world.commit(VPN)
    if isinstance(other, SidRoute):
        other = UnknownRoute("x", 6, 8986, other.prefix, other.metric, f"{other.action}")
    world.kernel.add_foreign(other)
    writes = world.writes

    report = world.repair()

    assert report.outcomes[END] == Outcome(
        InstallStatus.DRIFTED,
        "SID fcbb:0:1:1::/64: something that srv6mgr did not make takes packets of it"
        f" ({what}); remove it",
    )
    assert report.outcomes[DT46] == INSTALLED
    assert world.writes == writes
    world.kernel.remove(other.key)
    assert world.repair().outcomes[END] == INSTALLED


LOOKUP = Rule(100, net("fcbb:0:1::/48"), 77)
PART = Rule(1999, net("fcbb:0:1:1::/64"), 254, IPv6Address("fcbb:0:9::9"))
DROP = UnknownRule(
    "rule 100 to ::/0", 100, net("::/0"), "blackhole, from fc00::/8", net("fc00::/8")
)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (LOOKUP, "rule 100 to fcbb:0:1::/48: table 77"),
        (PART, "rule 1999 to fcbb:0:1:1::/64: table 254"),
        (DROP, "rule 100 to ::/0: blackhole, from fc00::/8"),
    ],
)
def test_a_rule_in_front_is_said_and_not_removed(world, other, what):
    world.commit(VPN)
    world.kernel.add_foreign(other)
    writes = world.writes

    report = world.repair()

    assert report.outcomes[MAIN] == Outcome(
        InstallStatus.DRIFTED,
        "rule 2000 that looks up fcbb:0:1::/48 in table 8986: something that srv6mgr did not make"
        f" takes packets of it ({what}); remove it",
    )
    assert world.writes == writes
    world.kernel.remove(other.key)
    assert world.repair().outcomes[MAIN] == INSTALLED


@pytest.mark.parametrize(
    "other",
    [
        replace(LOOKUP, priority=2001),
        replace(LOOKUP, priority=2000, to=net("fcbb:0::/47")),
        replace(LOOKUP, priority=991, to=net("fcbb:0:2::/48")),
        replace(LOOKUP, priority=991, table=8986, source=IPv6Address("fcbb:0:9::9")),
    ],
    ids=["behind", "younger, same priority", "of another destination", "into the same table"],
)
def test_a_rule_that_takes_nothing_is_none_in_front(world, other):
    world.commit(VPN)
    world.kernel.add_foreign(other)

    assert world.repair().outcomes[MAIN] == INSTALLED


def test_an_older_rule_of_the_same_priority_is_in_front(world):
    world.kernel.add_foreign(replace(LOOKUP, priority=2000, to=net("fcbb:0::/47")))

    assert world.commit(VPN).outcomes[MAIN].status is InstallStatus.DRIFTED


# Repair.


@pytest.mark.parametrize(
    "key", [k for k in target(VPN, {"eth1": 2}).objects if not k.startswith("sysctl")]
)
def test_what_was_removed_by_hand_comes_back(world, key):
    world.commit(VPN)
    world.kernel.remove(key)

    report = world.repair()

    assert world.stands(VPN)
    assert key in {a.object.key for a in report.actions}
    assert set(report.outcomes.values()) == {INSTALLED}


CHANGED = {
    "another action": SidRoute(net("fcbb:0:1:1::/64"), Behavior.END_DT46, 8986, 10),
    "another device": SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986, device="eth1"),
    "another metric": SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986, metric=1),
    "more than we know": UnknownRoute(END_KEY, 6, 8986, net("fcbb:0:1:1::/64"), 1024, "srh"),
    "another rule table": Rule(2000, net("fcbb:0:1::/48"), 254),
    "VRF is down": VrfDevice("red", 10, vrf_ifindex(10), up=False),
    "another encapsulation source": EncapSource(IPv6Address("fcbb:0:9::9")),
    "strict mode off": Sysctl(STRICT_MODE, "0"),
    "port in another VRF": VrfPort("eth1", "theirs"),
}


@pytest.mark.parametrize("ours", [True, False], ids=["marked", "unmarked"])
@pytest.mark.parametrize("case", CHANGED)
def test_what_was_changed_by_hand_is_set_right(world, case, ours):
    world.commit(VPN)
    world.kernel.put(CHANGED[case], ours=ours)

    report = world.repair()

    assert world.stands(VPN)
    assert [a.object.key for a in report.actions] == [CHANGED[case].key]


def test_a_vrf_recreated_by_hand_gets_its_index_and_ports_back(world):
    world.commit(VPN)
    world.kernel.remove("link red")
    world.kernel.add_foreign(VrfDevice("red", 10, 7))

    world.repair()

    assert world.stands(VPN)
    assert world.kernel.forwards(SidRoute(net("fcbb:0:1:64::/64"), Behavior.END_DT46, 8986, 10))


def test_one_failure_is_contained(world):
    world.commit(VPN)
    world.kernel.remove(END_KEY)
    world.kernel.remove("rule 2000 to fcbb:0:1::/48")
    world.kernel.refuse(lambda a: a.object.key == END_KEY, errno.ENOMEM)

    report = world.repair()

    assert report.outcomes[END] == Outcome(
        InstallStatus.FAILED,
        "SID fcbb:0:1:1::/64: the kernel refused it: Cannot allocate memory (ENOMEM); "
        "see the kernel's words, correct the configuration and try again",
    )
    assert {ref for ref, out in report.outcomes.items() if out == INSTALLED} == {
        MAIN,
        RED,
        DT46,
        RED_BGP,
    }
    assert [a.object.key for a in report.actions] == ["rule 2000 to fcbb:0:1::/48"]


def test_the_reason_is_the_root_not_what_follows_from_it(world):
    world.kernel.refuse(lambda a: a.object.key == "link red", errno.ENOMEM)

    report = world.repair(VPN)

    assert report.outcomes[RED].reason.startswith("VRF red: the kernel refused it")


def test_repair_does_not_touch_the_foreign_and_says_so(world):
    world.kernel.add_foreign(VrfDevice("red", 77, 9))

    report = world.repair(desired(locator(), vrf("red", 10), sid("fcbb:0:1:1::/64")))

    assert world.kernel.objects["link red"].object == VrfDevice("red", 77, 9)
    assert report.outcomes[RED].status is InstallStatus.FAILED
    assert report.outcomes[END] == INSTALLED


# Ownership.


def test_a_lost_journal_adopts_what_is_declared_and_marked(world):
    state = desired(locator(), vrf("red", 10), dt46("fcbb:0:1:64::/64", "red"))
    world.commit(state)
    world.journal = Journal(None)
    world.restart()
    writes = world.writes

    world.repair(state)
    assert world.writes == writes

    world.commit(NOTHING)
    assert {k for k in world.kernel.objects if not k.startswith("sysctl")} == set()


def test_nothing_is_removed_when_the_journal_is_lost(world):
    world.commit(VPN)
    there = dict(world.kernel.objects)
    world.journal = Journal(None)
    world.restart()

    world.repair(NOTHING)

    assert world.kernel.objects == there


def test_what_is_gone_when_it_is_undeclared_is_disowned(world):
    world.commit(VPN)
    world.kernel.remove("link red")

    world.commit(NOTHING)

    assert list(world.journal.keys) == []


def test_an_operator_may_take_what_we_gave_up(world):
    world.commit(VPN)
    world.kernel.remove("port eth1")
    world.kernel.remove("encap-source")
    world.kernel.add_foreign(VrfDevice("theirs", 77, 9))
    theirs = [VrfPort("eth1", "theirs"), EncapSource(IPv6Address("fcbb:0:9::9"))]
    for obj in theirs:
        world.kernel.add_foreign(obj)

    world.commit(NOTHING)

    assert [world.kernel.objects[o.key].object for o in theirs] == theirs


@pytest.mark.parametrize("count", range(4))
def test_a_crash_before_a_write_does_not_make_the_operators_value_ours(world, count):
    theirs = EncapSource(IPv6Address("fcbb:0:9::9"))
    world.kernel.add_foreign(theirs)
    world.kernel.refuse(lambda a: isinstance(a.object, EncapSource))
    world.kernel.crash_after(count)
    with pytest.raises(Crash):
        world.commit(VPN)
    world.kernel.accept_all()
    world.restart()

    world.repair(NOTHING)

    assert world.kernel.objects[theirs.key].object == theirs


# FRR.


def test_without_frr_the_kernel_is_served_and_exports_wait(world):
    world.frr.unreachable = "bgpd.vty: no such file"

    report = world.commit(VPN)

    assert report.outcomes[RED_BGP] == Outcome(InstallStatus.PENDING, FRR_ABSENT)
    assert report.outcomes[DT46] == INSTALLED
    assert world.stands(VPN, blocks=[])


def test_when_frr_comes_back_it_gets_its_part(world):
    world.frr.unreachable = "bgpd.vty: no such file"
    world.commit(VPN)
    world.frr.unreachable = ""

    report = world.repair()

    assert world.stands(VPN)
    assert report.outcomes[RED_BGP] == INSTALLED
    assert RED_BGP in report.touched


def test_a_restarted_frr_is_written_again(world):
    world.commit(VPN)
    world.frr.restart()

    world.repair()

    assert world.stands(VPN)


def test_while_frr_is_away_its_part_stays_ours(world):
    world.commit(VPN)
    world.frr.unreachable = "bgpd.vty: no such file"
    world.commit(NOTHING)
    world.frr.unreachable = ""

    world.repair()

    assert world.frr.contexts == {}


def test_frr_that_goes_away_in_the_middle_refuses_the_commit(world):
    there = world.state()
    world.frr.refuse = {"": "zebra is not running"}

    assert "zebra is not running" in refusal(world, VPN)
    assert without_sysctls(world.state()) == without_sysctls(there)


def test_the_operators_lines_in_our_contexts_stay(world):
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp bestpath as-path ignore")
    world.frr.operator("bgpd", BGP_RED, "network 10.9.0.0/16")
    world.frr.operator("zebra", ("interface eth0",), "description uplink")
    theirs = dict(world.frr.contexts)

    world.commit(VPN)
    world.commit(replace(VPN, vrfs={"red": replace(VPN.vrfs["red"], bgp=vpn("65000:11"))}))
    world.commit(NOTHING)

    assert world.frr.contexts == theirs


def test_a_line_of_ours_that_the_operator_removed_comes_back(world):
    world.commit(VPN)
    key = f"frr bgpd {' / '.join(BGP_RED)}"
    block = world.frr.contexts[key]
    world.frr.contexts[key] = replace(block, lines=block.lines[1:])

    world.repair()

    assert set(world.frr.contexts[key].lines) == set(block.lines)


def test_a_line_that_the_operator_wrote_too_stays_his(world):
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp router-id 10.0.0.1")
    theirs = dict(world.frr.contexts)

    world.commit(VPN)
    world.commit(NOTHING)

    assert world.frr.contexts == theirs


def test_the_operators_line_stays_his_after_a_refused_commit_that_wanted_it_too(world):
    key = "frr bgpd router bgp 65000"
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp router-id 10.0.0.1")
    world.frr.refuse = {"rd vpn export": "Malformed rd"}
    with pytest.raises(RefusedError):
        world.commit(VPN)

    world.commit(NOTHING)

    assert world.frr.contexts[key].lines == ("bgp router-id 10.0.0.1",)


# Dry run.


def test_a_dry_run_shows_the_plan_and_writes_nothing(world):
    found = world.reconciler.dry_run(VPN)

    assert {a.object for a in found.actions} == set(new_objects(NOTHING, VPN)) | set(render(VPN))
    assert world.writes == 0
    assert list(world.journal.keys) == []


def test_a_dry_run_refuses_what_a_commit_would(world):
    with pytest.raises(RefusedError):
        world.reconciler.dry_run(desired(vrf("red", 8986)))


def test_what_the_node_lacks_is_refused_or_unsupported():
    kernel, lacking = FakeKernel(), replace(EVERYTHING, behaviors=frozenset({Behavior.END}))
    reconciler = Reconciler(kernel, FakeFrr(), Journal(None), render, capabilities=lacking)
    wanted = small_vpn()
    with pytest.raises(RefusedError, match="End"):
        reconciler.commit(wanted)
    assert not kernel.objects
    with pytest.raises(RefusedError):
        reconciler.dry_run(wanted)
    report = reconciler.commit(replace(wanted, accept_unsupported=True))
    outcome = report.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:64::/64")]
    assert outcome.status is InstallStatus.UNSUPPORTED
    assert outcome.reason
    assert report.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:1::/64")].status is (
        InstallStatus.INSTALLED
    )
    # A kernel that offers less than the one before: the rest stays.
    again = reconciler.repair(wanted)
    assert again.outcomes[ObjectRef(Kind.SID, "fcbb:0:1:64::/64")].status is (
        InstallStatus.UNSUPPORTED
    )
    assert not again.actions


LESS = replace(
    EVERYTHING,
    behaviors=frozenset({Behavior.END}),
    missing={"End.DT46": "Operation not supported"},
)


def test_what_stands_goes_on_standing_whatever_the_node_is_said_to_lack(world):
    world.commit(VPN)
    writes = world.writes
    world.reconciler.capabilities = LESS

    assert world.repair().outcomes[DT46] == INSTALLED
    # Not refused either, when something else is changed.
    world.commit(replace(VPN, encapsulation_source=None))
    assert world.reconciler.repair().outcomes[RED_BGP] == INSTALLED
    assert f"route6 table 8986 {DT46.name}" in world.kernel.objects
    assert world.writes > writes


def test_what_the_node_lacks_and_does_not_stand_becomes_unsupported(world):
    world.commit(VPN)
    world.reconciler.capabilities = LESS
    world.kernel.remove(f"route6 table 8986 {DT46.name}")

    outcomes = world.repair().outcomes

    assert outcomes[DT46].status is InstallStatus.UNSUPPORTED
    assert "Operation not supported" in outcomes[DT46].reason
    assert outcomes[RED_BGP].status is InstallStatus.UNSUPPORTED
    assert outcomes[END] == outcomes[RED] == INSTALLED
    world.reconciler.capabilities = EVERYTHING
    assert world.repair().outcomes[DT46] == INSTALLED
