"""Repairs, and whose things are whose."""

import errno
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.plan.target import target, vrf_ifindex
from tests.builders import desired, dt46, locator, net, sid, vrf
from tests.fakes.kernel import STRICT_MODE, Crash, FakeKernel
from tests.unit.reconciler.world import (
    BGP_RED,
    DT46,
    END,
    END_KEY,
    INSTALLED,
    MAIN,
    NOTHING,
    RED,
    RED_BGP,
    VPN,
    World,
)


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
    world.kernel.reject(lambda a: a.object.key == END_KEY, errno.ENOMEM)

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
    world.kernel.reject(lambda a: a.object.key == "link red", errno.ENOMEM)

    report = world.repair(VPN)

    assert report.outcomes[RED].reason.startswith("VRF red: the kernel refused it")


def test_repair_does_not_touch_the_foreign_and_says_so(world):
    world.kernel.add_foreign(VrfDevice("red", 77, 9))

    report = world.repair(desired(locator(), vrf("red", 10), sid("fcbb:0:1:1::/64")))

    assert world.kernel.objects["link red"].object == VrfDevice("red", 77, 9)
    assert report.outcomes[RED].status is InstallStatus.FAILED
    assert report.outcomes[END] == INSTALLED


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


def test_a_lost_journal_leaves_nothing_of_a_commit_that_it_was_lost_in(world):
    """srv6mgrd is killed in a commit, and its journal is damaged before it starts again."""
    before = desired(locator(), sid("fcbb:0:1:1::/64"))
    world.commit(desired(locator(), vrf("red", 10), sid("fcbb:0:1:1::/64"), sid("fcbb:0:1:2::/64")))
    world.journal = Journal(None)
    world.restart()

    world.repair(before)

    assert world.stands(before)


def test_a_lost_journal_removes_nothing_without_our_mark(world):
    foreign = VrfDevice("theirs", 77, 9)
    world.kernel.add_foreign(foreign)
    world.commit(VPN)
    world.journal = Journal(None)
    world.restart()

    world.repair(VPN)

    assert world.kernel.objects["link theirs"].object == foreign


@pytest.mark.parametrize("case", CHANGED)
def test_what_was_adopted_is_ours_though_no_journal_can_be_written(world, case, tmp_path):
    world.commit(VPN)
    world.journal = Journal(tmp_path)  # a folder
    world.restart()
    world.repair(VPN)
    world.kernel.put(CHANGED[case], ours=False)

    world.repair()

    assert world.stands(VPN)


def test_a_lost_journal_adopts_what_is_declared_in_frr(world):
    world.commit(VPN)
    world.journal = Journal(None)
    world.restart()
    writes = world.writes
    world.repair(VPN)
    world.reconciler.stored()
    assert world.writes == writes

    world.commit(NOTHING)

    assert world.frr.contexts == {}
    assert not [k for k in world.kernel.objects if k.startswith("port")]


def test_a_lost_journal_adopts_frr_s_part_when_frr_comes_back(world):
    world.commit(VPN)
    world.journal = Journal(None)
    world.restart()
    world.frr.unreachable = "bgpd.vty: no such file"
    world.repair(VPN)
    world.frr.unreachable = ""
    world.repair()

    world.commit(NOTHING)

    assert world.frr.contexts == {}


def test_of_frr_a_lost_journal_adopts_nothing_that_is_not_declared(world):
    world.commit(VPN)
    world.frr.operator("bgpd", BGP_RED, "network 10.9.0.0/16")
    world.frr.operator("bgpd", ("router bgp 65000 vrf theirs",), "bgp router-id 10.9.9.9")
    theirs = dict(world.frr.contexts)
    world.journal = Journal(None)
    world.restart()
    world.repair(VPN)

    world.commit(NOTHING)

    lines = {line for block in world.frr.contexts.values() for line in block.lines}
    assert lines == {"network 10.9.0.0/16", "bgp router-id 10.9.9.9"}
    assert theirs.keys() > world.frr.contexts.keys()


def test_a_first_start_adopts_nothing_of_the_operator(world):
    """It begins with nothing declared: what a commit finds in its place is the operator's."""
    world.repair(NOTHING)
    world.reconciler.stored()
    world.restart()
    world.frr.operator("bgpd", ("router bgp 65000",), "bgp router-id 10.0.0.1")
    theirs = dict(world.frr.contexts)
    world.repair(NOTHING)
    world.commit(VPN)
    world.reconciler.stored()

    world.commit(NOTHING)

    assert world.frr.contexts == theirs


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
    world.kernel.reject(lambda a: isinstance(a.object, EncapSource))
    world.kernel.crash_after(count)
    with pytest.raises(Crash):
        world.commit(VPN)
    world.kernel.accept_all()
    world.restart()

    world.repair(NOTHING)

    assert world.kernel.objects[theirs.key].object == theirs


class DeafKernel(FakeKernel):
    """Reports no change in the SID table, until it is in doubt."""

    def observe(self, sysctls):
        found = super().observe(sysctls)
        return replace(found, changed=found.changed and found.changed - {END_KEY})


def test_only_sid_routes_that_something_was_reported_of_are_compared():
    world = World(DeafKernel({"eth1": 2}))
    world.commit(VPN)
    world.kernel.remove(END_KEY)

    assert world.repair().actions == []
    world.kernel.force_full_resync()
    assert [a.object.key for a in world.repair().actions] == [END_KEY]


def test_what_was_rejected_is_tried_again_though_nothing_was_reported_of_it():
    world = World()
    world.commit(VPN)
    world.kernel.remove(END_KEY)
    world.kernel.reject(lambda action: action.object.key == END_KEY)
    assert world.repair().outcomes[END].status is InstallStatus.FAILED
    assert world.repair().outcomes[END].status is InstallStatus.FAILED

    world.kernel.accept_all()

    assert world.repair().outcomes[END] == INSTALLED
    assert world.stands(VPN)


def test_what_stands_in_front_is_reported_as_long_as_it_does():
    world = World()
    world.commit(VPN)
    front = SidRoute(net("fcbb:0:1:1:1::/80"), Behavior.END, 8986, device="eth1")
    world.kernel.add_foreign(front)

    for _ in range(2):
        assert world.repair().outcomes[END].status is InstallStatus.DRIFTED
    world.kernel.remove(front.key)
    assert world.repair().outcomes[END] == INSTALLED


RULE_KEY = "rule 2000 to fcbb:0:1::/48"


def test_a_rule_without_our_mark_stays_and_ours_stands_beside_it():
    world = World()
    world.commit(VPN)
    theirs = Rule(2000, net("fcbb:0:1::/48"), 253)
    world.kernel.put(theirs, ours=False)

    report = world.repair()

    assert [a.object.key for a in report.actions] == [RULE_KEY]
    assert world.stands(VPN)
    assert f"{RULE_KEY} table 253" in world.kernel.objects
    assert report.outcomes[MAIN].status is InstallStatus.DRIFTED
    assert "table 253" in report.outcomes[MAIN].reason


def test_undoing_leaves_no_rule_of_ours_in_the_place_of_theirs():
    world = World()
    world.commit(VPN)
    world.kernel.put(Rule(2000, net("fcbb:0:1::/48"), 253), ours=False)
    there = dict(world.kernel.objects)
    rejected = sid("fcbb:0:1:2::/64")
    world.kernel.reject(lambda action: "fcbb:0:1:2::/64" in action.object.key)

    with pytest.raises(RejectedError):
        world.commit(replace(VPN, sids={**VPN.sids, rejected.prefix: rejected}))

    assert world.kernel.objects == there
