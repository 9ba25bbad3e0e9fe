"""Actions carried out, in order, with the journal before and after."""

import errno
import logging

import pytest

from srv6mgrd.apply.executor import Executor
from srv6mgrd.apply.journal import Journal
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.target import vrf_ifindex
from srv6mgrd.ports import AdapterError
from tests.builders import net
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import Crash, FakeKernel

DUMMY = DummyDevice("srv6mgr")
RULE = Rule(2000, net("fcbb:0:1::/48"), 8986)
ONE, TWO = (SidRoute(net(f"fcbb:0:1:{i}::/64"), Behavior.END, 8986) for i in (1, 2))
OLD = SidRoute(net("fcbb:0:1:3::/64"), Behavior.END, 8986, device="eth1")
STRICT = Sysctl("net/vrf/strict_mode", "1")


def device(name, table):
    return VrfDevice(name, table, vrf_ifindex(table))


def bgp(*lines):
    return FrrBlock("bgpd", ("router bgp 65000",), lines, order=10)


class World:
    def __init__(self):
        self.kernel = FakeKernel({"eth1": 2})
        self.frr = FakeFrr()
        self.journal = Journal(None)
        self.executor = Executor(self.kernel, self.frr, self.journal)

    def apply(self, *actions, atomic=True):
        rejected = self.executor.apply(actions, atomic=atomic)
        if not (rejected and atomic):
            self.executor.settle(actions, rejected)
        return rejected

    def reject(self, obj, number=errno.EINVAL):
        self.kernel.reject(lambda a: a.object == obj and not isinstance(a, Delete), number)

    def state(self):
        return (
            dict(self.kernel.objects),
            dict(self.kernel.sysctls),
            dict(self.frr.contexts),
            dict(self.journal.checkpoint()),
        )


@pytest.fixture
def world():
    return World()


def test_actions_are_carried_out_in_order_and_journaled(world):
    actions = [Create(DUMMY), Create(ONE), Create(RULE), Create(bgp("a"))]

    assert world.apply(*actions) == []

    assert world.kernel.applied == actions[:3]
    assert world.frr.applied == actions[3:]
    assert sorted(world.journal.keys) == sorted(a.object.key for a in actions)


def test_what_is_removed_is_disowned(world):
    world.apply(Create(DUMMY), Create(ONE))

    world.apply(Delete(ONE))

    assert list(world.journal.keys) == [DUMMY.key]


def test_what_is_removed_and_put_in_again_stays_ours(world):
    world.apply(Create(device("red", 10)))

    world.apply(Delete(device("red", 10)), Create(device("red", 20)))

    assert list(world.journal.keys) == ["link red"]


def test_what_is_put_in_again_in_vain_is_not_ours(world):
    world.apply(Create(device("red", 10)))
    world.reject(device("red", 20))

    world.apply(Delete(device("red", 10)), Create(device("red", 20)), atomic=False)

    assert list(world.journal.keys) == []


def test_the_journal_names_what_a_crash_leaves_behind(world):
    world.kernel.crash_after(2)

    with pytest.raises(Crash):
        world.apply(Create(DUMMY), Create(ONE), Create(TWO))

    assert set(world.kernel.objects) <= set(world.journal.keys)


def test_the_journal_names_what_a_crash_failed_to_remove(world):
    world.apply(Create(DUMMY), Create(ONE), Create(TWO))
    world.kernel.crash_after(1)

    with pytest.raises(Crash):
        world.apply(Delete(TWO), Delete(ONE))

    assert ONE.key in world.journal


@pytest.mark.parametrize("bad", [DUMMY, ONE, TWO, RULE])
def test_a_rejection_anywhere_leaves_all_as_it_was(world, bad):
    world.kernel.put(OLD)
    world.journal.intend([OLD])
    before = world.state()
    world.reject(bad)

    rejected = world.apply(
        Create(DUMMY), Create(ONE), Create(TWO), Create(RULE), Create(bgp("a")), Delete(OLD)
    )

    assert bad in [r.action.object for r in rejected]
    assert world.state() == before


def test_a_rejection_by_frr_takes_back_what_the_kernel_did(world):
    world.apply(Create(DUMMY), Create(bgp("a")))
    before = world.state()
    world.frr.reject = {"bad": "Malformed"}

    rejected = world.apply(
        Create(ONE), Replace(bgp("a"), bgp("a", "b")), Create(FrrBlock("bgpd", ("x",), ("bad",)))
    )

    assert [r.message for r in rejected] == ["bgpd: Malformed (at 'bad')"]
    assert world.state() == before


def test_nothing_that_stood_on_it_is_lost_when_a_removal_is_rejected(world):
    port = VrfPort("eth1", "red")
    world.apply(Create(device("red", 10)), Create(port))
    before = world.state()
    world.kernel.reject(lambda a: a == Delete(port))

    rejected = world.apply(Delete(port), Delete(device("red", 10)))

    assert [r.action for r in rejected] == [Delete(port)]
    assert world.state() == before


def test_nothing_is_tried_in_frr_after_the_kernel_rejected(world):
    world.reject(ONE)

    world.apply(Create(DUMMY), Create(ONE), Create(bgp("a")))

    assert world.frr.writes == 0


def test_values_go_back_to_what_they_were(world):
    before = world.state()
    world.apply(Create(DUMMY))
    world.reject(ONE)

    world.apply(Replace(Sysctl(STRICT.path, "0"), STRICT), Create(ONE))

    assert world.kernel.sysctls[STRICT.path] == before[1][STRICT.path]


@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        (EncapSource("fcbb:0:9::9"), EncapSource("fcbb:0:1::1")),
        (VrfPort("eth1", "theirs"), VrfPort("eth1", "red")),
    ],
)
def test_what_was_not_ours_before_a_rejection_is_not_ours_after_it(world, theirs, mine):
    world.kernel.add_foreign(VrfDevice("theirs", 99, 9))
    world.kernel.add_foreign(theirs)
    before = world.state()
    world.reject(ONE)

    world.apply(Create(device("red", 10)), Replace(theirs, mine), Create(ONE))

    assert world.state() == before


def test_a_rebuilt_vrf_comes_back_with_its_ports_and_sids(world):
    port = VrfPort("eth1", "red")
    red_10, red_20 = device("red", 10), device("red", 20)
    to_10, to_20 = (SidRoute(ONE.prefix, Behavior.END_DT46, 8986, table) for table in (10, 20))
    world.apply(
        Create(DUMMY), Create(red_10), Create(STRICT), Create(port), Create(to_10), Create(bgp("a"))
    )
    before = world.state()
    world.reject(RULE)

    world.apply(
        Delete(port),
        Delete(red_10),
        Create(red_20),
        Create(port),
        Replace(to_10, to_20),
        Create(RULE),
    )

    assert world.state() == before
    assert world.kernel.forwards(to_10)


def test_a_foreign_object_met_by_a_create_is_disowned(world):
    world.kernel.add_foreign(RULE)

    rejected = world.apply(Create(RULE))

    assert [r.errno for r in rejected] == [errno.EEXIST]
    assert RULE.key not in world.journal
    assert not world.kernel.objects[RULE.key].ours


def test_without_atomicity_the_others_go_on(world):
    world.reject(ONE)

    rejected = world.apply(Create(DUMMY), Create(ONE), Create(TWO), Create(bgp("a")), atomic=False)

    assert [r.action for r in rejected] == [Create(ONE)]
    assert {DUMMY.key, TWO.key} <= set(world.kernel.objects)
    assert set(world.frr.contexts) == {bgp().key}
    assert ONE.key not in world.journal


def test_what_can_not_be_taken_back_stays_ours_and_is_said(world, caplog):
    world.kernel.reject(lambda a: a.object == TWO and isinstance(a, Create))
    world.kernel.reject(lambda a: a.object == ONE and isinstance(a, Delete))

    with caplog.at_level(logging.ERROR):
        world.apply(Create(DUMMY), Create(ONE), Create(TWO))

    assert list(world.journal.keys) == [ONE.key]
    assert f"undo of {ONE.key} rejected" in caplog.text


def test_static_routes_of_a_vrf_that_goes_are_cleared_from_its_table():
    """A zebra that died meanwhile left them; those of other VRFs and of the operator stay."""
    world = World()
    red, blue = device("red", 10), device("blue", 20)

    def route(vrf, prefix):
        family = "ipv6" if ":" in prefix else "ip"
        part = f"{family} route {prefix}"
        return FrrBlock("mgmtd", (f"vrf {vrf}",), (f"{part} blackhole",), part=part)

    ours = [route("red", "10.78.0.0/24"), route("red", "fd78::/64"), route("blue", "10.79.0.0/24")]
    world.apply(Create(red), Create(blue), *map(Create, ours))
    assert world.kernel.cleared == []
    world.apply(*map(Delete, ours[:2]), Delete(red))
    assert sorted(world.kernel.cleared) == [(10, "10.78.0.0/24"), (10, "fd78::/64")]


def test_static_routes_of_a_commit_that_is_undone_are_cleared_too():
    """They were installed later than they were taken back: once zebra knows no such VRF, it
    installs no more."""
    world, red = World(), device("red", 10)
    part = "ip route 10.78.0.0/24"
    route = FrrBlock("mgmtd", ("vrf red",), (f"{part} blackhole",), part=part)
    world.frr.reject["router bgp"] = "bgpd can't be reached"
    assert world.apply(Create(red), Create(route), Create(bgp("a")))
    assert world.kernel.cleared == [(10, "10.78.0.0/24")]
    assert world.frr.steps[-1] == ("see off", "red")


def test_a_vrf_that_goes_has_gone_though_its_table_can_not_be_cleared(caplog):
    world, red = World(), device("red", 10)
    part = "ip route 10.78.0.0/24"
    route = FrrBlock("mgmtd", ("vrf red",), (f"{part} blackhole",), part=part)
    world.apply(Create(red), Create(route))

    def fail(*_):
        raise AdapterError("netlink", "no buffer space", "try again")

    world.kernel.clear_static_routes = fail
    assert world.apply(Delete(route), Delete(red)) == []
    assert red.key not in world.kernel.objects
    assert "routes of VRF red may be left" in caplog.text
