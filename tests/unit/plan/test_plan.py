"""The actions that lead from the observed to the desired state, and their order."""

from ipaddress import IPv4Network, IPv6Address

import pytest

from srv6mgrd.kinds.device import UnknownLink
from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior, Headend
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.diff import Conflict, in_order, plan
from srv6mgrd.plan.target import target
from srv6mgrd.plan.target_objects import vrf_ifindex
from tests.builders import by_key, desired, dt46, locator, net, seen, small_vpn, vrf

BGP = FrrBlock("bgpd", ("router bgp 65000",), ("bgp router-id 10.0.0.1",), order=10)
BGP_RED = FrrBlock("bgpd", ("router bgp 65000 vrf red",), ("sid vpn per-vrf export 1",), order=20)
SOURCE = EncapSource(IPv6Address("fcbb:0:1::1"))
STRICT = Sysctl("net/vrf/strict_mode", "1")
ROUTE = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986)
RULE = Rule(2000, net("fcbb:0:1::/48"), 8986)
DEFAULT = UnreachableDefault(6, 10)


def device(name, table):
    return VrfDevice(name, table, vrf_ifindex(table))


RED = device("red", 10)
MARKED = [DummyDevice("srv6mgr"), RED, DEFAULT, ROUTE, RULE]
UNMARKED = [VrfPort("eth1", "red"), SOURCE, BGP]


def keys(actions):
    return [a.object.key for a in actions]


def planned(wanted, observed=None, owned=()):
    return plan(by_key(wanted), observed or {}, owned)


def named(obj):
    return type(obj).__name__


# Order.


def test_creation_starts_with_what_others_stand_on():
    wanted = target(small_vpn("eth1"), {"eth1": 2}, [BGP_RED, BGP]).objects

    actions = plan(wanted, {}, ()).actions

    assert actions == [Create(wanted[key]) for key in keys(actions)]
    assert keys(actions) == [
        "link red",
        "link srv6mgr",
        "l3mdev rule IPv4",
        "l3mdev rule IPv6",
        "boundary",
        "route4 table 10 default",
        "route6 table 10 default",
        "route6 table 10 fcbb:0:1:64::/64 metric 4278198272",
        "encap-source",
        "sysctl net/ipv4/conf/red/rp_filter",
        "sysctl net/ipv4/ip_forward",
        "sysctl net/ipv6/conf/all/forwarding",
        "sysctl net/ipv6/conf/eth1/keep_addr_on_down",
        "sysctl net/ipv6/conf/eth1/seg6_enabled",
        "sysctl net/ipv6/conf/red/seg6_enabled",
        "sysctl net/vrf/strict_mode",
        "port eth1",
        "route6 table 8986 fcbb:0:1:1::/64",
        "route6 table 8986 fcbb:0:1:64::/64",
        "rule 2000 to fcbb:0:1::/48",
        "rule 989 to fcbb:0:1::/48",
        "rule 990 to fcbb::/32",
        "frr bgpd router bgp 65000",
        "frr bgpd router bgp 65000 vrf red",
    ]


def test_removal_runs_backwards():
    standing = target(small_vpn("eth1"), {"eth1": 2}, [BGP_RED, BGP]).objects
    created = keys(plan(standing, {}, ()).actions)

    actions = plan({}, seen(*standing.values()), standing.keys()).actions

    assert actions == [Delete(standing[key]) for key in keys(actions)]
    assert keys(actions) == [key for key in reversed(created) if not standing[key].is_kept]


def test_what_is_new_comes_before_what_is_old_goes():
    old = SidRoute(net("fcbb:0:1:9::/64"), Behavior.END, 8986)

    assert planned([ROUTE], seen(old), [old.key]).actions == [Create(ROUTE), Delete(old)]


# Difference.


@pytest.mark.parametrize("obj", [*MARKED, *UNMARKED, STRICT], ids=named)
def test_what_stands_already_needs_nothing(obj):
    assert planned([obj], seen(obj), [obj.key]).actions == []


@pytest.mark.parametrize("obj", [*MARKED, *UNMARKED, STRICT], ids=named)
def test_what_somebody_else_put_there_alike_needs_nothing_and_is_no_conflict(obj):
    found = planned([obj], seen(obj, ours=False))

    assert (found.actions, found.conflicts) == ([], [])


def test_the_same_again_needs_nothing():
    wanted = target(small_vpn("eth1"), {"eth1": 2}, [BGP]).objects

    found = plan(wanted, seen(*wanted.values()), wanted.keys())

    assert (found.actions, found.conflicts) == ([], [])


CHANGED = {
    "SID with another action": (ROUTE, SidRoute(ROUTE.prefix, Behavior.END_DT46, 8986, 10)),
    "SID on another device": (ROUTE, SidRoute(ROUTE.prefix, Behavior.END, 8986, device="eth0")),
    "SID with another metric": (ROUTE, SidRoute(ROUTE.prefix, Behavior.END, 8986, metric=1)),
    "SID without counters": (ROUTE, SidRoute(ROUTE.prefix, Behavior.END, 8986, counters=False)),
    "SID with unknown attributes": (
        ROUTE,
        UnknownRoute(ROUTE.key, 6, 8986, ROUTE.prefix, 1024, "two next hops"),
    ),
    "rule into another table": (RULE, Rule(2000, RULE.to, 254)),
    "rule with more selectors": (RULE, UnknownRule(RULE.key, 2000, RULE.to, "from ::/8")),
    "VRF that is down": (RED, VrfDevice("red", 10, RED.ifindex, up=False)),
    "link of another kind": (RED, UnknownLink("red", "bridge")),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_differs_is_replaced(case):
    wanted, found = CHANGED[case]

    assert planned([wanted], seen(found), [wanted.key]).actions == [Replace(found, wanted)]


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_journaled_is_taken_back_when_its_mark_is_gone(case):
    wanted, found = CHANGED[case]
    # Rules are beside each other: one without the mark is not ours to take away.
    back = Create(wanted) if isinstance(wanted, Rule) else Replace(found, wanted)

    assert planned([wanted], seen(found, ours=False), [wanted.key]).actions == [back]


@pytest.mark.parametrize(
    "obj", [ROUTE, RED, DummyDevice("srv6mgr"), UnreachableDefault(4, 10)], ids=lambda o: o.key
)
def test_a_mark_that_is_gone_comes_back_where_the_journal_says_it_was(obj):
    standing = seen(obj, ours=False)

    assert planned([obj], standing, [obj.key]).actions == [Replace(obj, obj)]
    assert planned([obj], standing).actions == []


def test_an_equal_rule_of_somebody_else_does_as_well():
    assert planned([RULE], seen(RULE, ours=False), [RULE.key]).actions == []


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_foreign_and_in_the_way_is_a_conflict(case):
    wanted, found = CHANGED[case]

    result = planned([wanted], seen(found, ours=False))

    assert result.actions == []
    assert result.conflicts == [Conflict(wanted, found)]


def test_a_conflict_does_not_keep_the_others_waiting():
    found = planned([RED, ROUTE], seen(UnknownLink("red", "bridge"), ours=False))

    assert found.actions == [Create(ROUTE)]


def test_a_value_is_set_whoever_set_it_before():
    other = EncapSource(IPv6Address("fcbb:0:1::9"))
    off = Sysctl("net/vrf/strict_mode", "0")

    found = planned([SOURCE, STRICT], seen(other, off, ours=False))

    assert found.actions == [Replace(other, SOURCE), Replace(off, STRICT)]


# Ownership.


@pytest.mark.parametrize("obj", MARKED, ids=named)
@pytest.mark.parametrize(
    ("marked", "journaled", "removed"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_what_bears_a_mark_is_removed_when_it_is_marked_and_journaled(
    obj, marked, journaled, removed
):
    found = planned([], seen(obj, ours=marked), [obj.key] if journaled else [])

    assert found.actions == ([Delete(obj)] if removed else [])


@pytest.mark.parametrize("obj", UNMARKED, ids=named)
@pytest.mark.parametrize("journaled", [True, False])
def test_what_bears_no_mark_is_removed_when_it_is_journaled(obj, journaled):
    found = planned([], seen(obj, ours=False), [obj.key] if journaled else [])

    assert found.actions == ([Delete(obj)] if journaled else [])


def test_a_sysctl_is_never_set_back():
    assert planned([], seen(STRICT), [STRICT.key]).actions == []


# VRFs: the device can't be changed in place, and a table has one VRF.


def vrfs(*devices, ports=()):
    """VRF devices with their defaults and ports."""
    defaults = [UnreachableDefault(f, d.table) for d in devices for f in (4, 6)]
    return [*devices, *defaults, *ports]


def moved(before, after):
    return planned(after, seen(*before), [o.key for o in before]).actions


def test_a_vrf_that_changes_its_table_is_rebuilt_and_its_ports_put_in_again():
    port = VrfPort("eth1", "red")

    actions = moved(vrfs(RED, ports=[port]), vrfs(device("red", 20), ports=[port]))

    assert actions == [
        Delete(port),
        Delete(RED),
        Create(device("red", 20)),
        Create(UnreachableDefault(4, 20)),
        Create(UnreachableDefault(6, 20)),
        Create(port),
        Delete(UnreachableDefault(6, 10)),
        Delete(UnreachableDefault(4, 10)),
    ]


def test_a_vrf_with_another_ifindex_is_rebuilt():
    found = VrfDevice("red", 10, 7)

    assert planned([RED], seen(found), [RED.key]).actions == [Delete(found), Create(RED)]
    assert planned([RED], seen(found, ours=False)).conflicts == [Conflict(RED, found)]


def test_a_vrf_that_is_only_down_keeps_its_ports():
    port = VrfPort("eth1", "red")
    down = VrfDevice("red", 10, RED.ifindex, up=False)

    assert planned([RED, port], seen(down, port), [RED.key, port.key]).actions == [
        Replace(down, RED)
    ]


def test_a_sid_moves_with_the_table_of_its_vrf():
    parts = locator(), dt46("fcbb:0:1:1::/64", "red")
    before = target(desired(vrf("red", 10), *parts), {}).objects
    after = target(desired(vrf("red", 20), *parts), {}).objects
    key = "route6 table 8986 fcbb:0:1:1::/64"

    actions = plan(after, seen(*before.values()), before.keys()).actions

    assert Replace(before[key], after[key]) in actions


def test_a_renamed_vrf_leaves_its_table_before_the_new_one_takes_it():
    before = vrfs(RED, ports=[VrfPort("eth1", "red")])
    after = vrfs(device("blue", 10), ports=[VrfPort("eth1", "blue")])

    assert moved(before, after) == [
        Delete(VrfPort("eth1", "red")),
        Delete(RED),
        Create(device("blue", 10)),
        Create(VrfPort("eth1", "blue")),
    ]


def test_a_table_is_free_before_another_vrf_takes_it():
    before = vrfs(RED, device("blue", 20), ports=[VrfPort("eth1", "red")])
    after = vrfs(device("blue", 10), ports=[VrfPort("eth1", "blue")])

    assert moved(before, after) == [
        Delete(VrfPort("eth1", "red")),
        Delete(RED),
        Delete(device("blue", 20)),
        Create(device("blue", 10)),
        Create(VrfPort("eth1", "blue")),
        Delete(UnreachableDefault(6, 20)),
        Delete(UnreachableDefault(4, 20)),
    ]


def test_two_vrfs_swap_their_tables():
    before = vrfs(RED, device("blue", 20))
    after = vrfs(device("red", 20), device("blue", 10))

    assert moved(before, after) == [
        Delete(RED),
        Delete(device("blue", 20)),
        Create(device("blue", 10)),
        Create(device("red", 20)),
    ]


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")])
def test_tables_are_handed_on_in_a_row(names):
    one, two, three = names
    before = vrfs(device(one, 10), device(two, 20), device(three, 30))
    after = vrfs(device(one, 20), device(two, 30), device(three, 40))

    free = {40}
    for action in moved(before, after):
        if isinstance(action.object, VrfDevice):
            if isinstance(action, Delete):
                free.add(action.object.table)
            else:
                assert action.object.table in free
                free.remove(action.object.table)


def test_a_vrf_that_lost_its_mark_is_rebuilt_in_one_step_since_its_removal_would_be_rejected():
    port, other = VrfPort("eth1", "red"), VrfDevice("red", 20, 7)
    observed = seen(other, ours=False) | seen(port)

    assert planned([RED, port], observed, [RED.key, port.key]).actions == [
        Delete(port),
        Replace(other, RED),
        Create(port),
    ]


def test_a_port_moves_between_vrfs_that_stay():
    before = vrfs(RED, device("blue", 20), ports=[VrfPort("eth1", "red")])
    after = vrfs(RED, device("blue", 20), ports=[VrfPort("eth1", "blue")])

    assert moved(before, after) == [Replace(VrfPort("eth1", "red"), VrfPort("eth1", "blue"))]


def test_a_foreign_port_of_a_vrf_that_is_rebuilt_does_not_become_ours():
    observed = seen(*vrfs(RED)) | seen(VrfPort("eth9", "red"), ours=False)

    actions = plan(by_key(vrfs(device("red", 20))), observed, [RED.key]).actions

    assert "port eth9" not in keys(actions)


def test_frr_forgets_a_vrf_before_its_device_goes():
    actions = moved([*vrfs(RED), BGP_RED], vrfs(device("blue", 10)))

    assert actions == [Delete(BGP_RED), Delete(RED), Create(device("blue", 10))]


def test_the_way_back_is_ordered_like_any_plan():
    port, to_10 = VrfPort("eth1", "red"), SidRoute(ROUTE.prefix, Behavior.END_DT46, 8986, 10)
    to_20 = SidRoute(ROUTE.prefix, Behavior.END_DT46, 8986, 20)
    there = moved(
        [*vrfs(RED, ports=[port]), to_10], [*vrfs(device("red", 20), ports=[port]), to_20]
    )

    back = in_order([a.undo for a in there])

    assert [a for a in back if not isinstance(a.object, UnreachableDefault)] == [
        Delete(port),
        Delete(device("red", 20)),
        Create(RED),
        Create(port),
        Replace(to_20, to_10),
    ]


def test_nothing_is_put_on_the_table_of_a_foreign_vrf():
    into_it = SidRoute(ROUTE.prefix, Behavior.END_DT46, 8986, vrf_table=10)
    steered = EncapRoute(IPv4Network("10.0.0.0/8"), 10, Headend.H_ENCAPS, (IPv6Address("fcbb::1"),))
    wanted = [*vrfs(device("blue", 10)), into_it, steered]

    found = planned(wanted, seen(RED, ours=False))

    assert found.actions == []
    assert found.conflicts == [Conflict(obj, RED) for obj in wanted]


def test_a_foreign_vrf_on_the_main_table_is_in_nobodys_way():
    steered = EncapRoute(
        IPv4Network("10.0.0.0/8"), 254, Headend.H_ENCAPS, (IPv6Address("fcbb::1"),)
    )

    found = planned([steered], seen(VrfDevice("theirs", 254, 7), ours=False))

    assert found.actions == [Create(steered)]


def test_a_foreign_vrf_that_came_to_the_table_later_changes_nothing():
    observed = seen(*vrfs(RED)) | seen(VrfDevice("theirs", 10, 7), ours=False)

    assert planned(vrfs(RED), observed, [RED.key]).actions == []


# Undo.


@pytest.mark.parametrize(
    ("action", "undo"),
    [
        (Create(RED), Delete(RED)),
        (Delete(RED), Create(RED)),
        (Replace(RED, device("red", 20)), Replace(device("red", 20), RED)),
    ],
)
def test_each_action_knows_its_undo(action, undo):
    assert action.undo == undo
    assert undo.undo == action
