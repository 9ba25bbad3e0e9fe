"""Rules, unreachable defaults, sysctls, the encapsulation source."""

from __future__ import annotations

import errno
import subprocess
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.route import Family
from srv6mgrd.kinds.rule.object import Rule, UnknownRule
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.observed import ObservedObject
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

LOCATOR = IPv6Network("fc00:1::/48")
RULE = Rule(2000, LOCATOR, SID_TABLE)
SOURCE = IPv6Address("fc00::1")


def test_rule(kernel: LinuxKernel, run: Run) -> None:
    assert kernel.apply([Create(RULE)]) == []
    seen = kernel.observe([]).objects[RULE.key]
    assert seen.object == RULE
    assert seen.ours
    assert "2000:\tfrom all to fc00:1::/48 lookup 8986 proto 86" in run("ip -6 rule")
    (rejected,) = kernel.apply([Create(RULE)])
    assert rejected.errno == errno.EEXIST
    assert kernel.apply([Delete(RULE), Delete(RULE)]) == []
    assert RULE.key not in kernel.observe([]).objects


@pytest.mark.usefixtures("vrf")
@pytest.mark.parametrize("family", [4, 6])
def test_l3mdev_rule(kernel: LinuxKernel, run: Run, family: Family) -> None:
    rule, rules = L3mdevRule(family), f"ip -{family} rule"
    # The kernel has made it, with the first VRF.
    assert kernel.apply([Create(VrfDevice("red", 100, 1000)), Create(rule)]) == []

    by_kernel = run(rules)
    assert by_kernel.count("l3mdev") == 1
    assert kernel.observe([]).objects[rule.key] == ObservedObject(rule, ours=False)

    run(f"{rules} del priority 1000")
    assert rule.key not in kernel.observe([]).objects
    assert kernel.apply([Create(rule)]) == []
    assert run(rules) == by_kernel
    assert rule.key in kernel.observe([]).objects

    assert kernel.apply([Delete(rule)]) == []
    assert run(rules) == by_kernel


@pytest.mark.parametrize(
    ("command", "serves"),
    [
        ("ip -6 rule add priority 500 l3mdev", True),
        ("ip -6 rule add priority 500 l3mdev iif lo", False),
        ("ip -6 rule add priority 500 to fc00::/7 l3mdev", False),
        # Behind the rule for SIDs.
        ("ip -6 rule add priority 2001 l3mdev", False),
        ("ip rule add priority 2001 l3mdev", True),
        ("ip rule add priority 40000 l3mdev", False),
    ],
)
def test_a_moved_l3mdev_rule(kernel: LinuxKernel, run: Run, command: str, serves: bool) -> None:
    run(command)
    observed = kernel.observe([]).objects
    assert any(isinstance(item.object, L3mdevRule) for item in observed.values()) is serves


def test_rule_moves_to_another_table(kernel: LinuxKernel) -> None:
    before = Rule(2000, LOCATOR, 77)
    assert kernel.apply([Create(before), Replace(before, RULE)]) == []
    objects = kernel.observe([]).objects
    assert [k for k in objects if k.startswith("rule")] == [RULE.key]
    assert objects[RULE.key].object == RULE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RULE, replace(RULE, source=SOURCE)),
        (replace(RULE, source=SOURCE), RULE),
        (replace(RULE, source=SOURCE), replace(RULE, source=IPv6Address("fc00::2"))),
    ],
    ids=["gets a source", "loses its source", "gets another source"],
)
def test_rule_with_a_source(kernel: LinuxKernel, run: Run, before: Rule, after: Rule) -> None:
    run("ip -6 rule add pref 2000 from fc00::7 to fc00:1::/48 lookup 8986")
    assert kernel.apply([Create(before), Replace(before, after)]) == []
    seen = kernel.observe([]).objects
    assert [(s.object, s.ours) for s in seen.values() if s.ours] == [(after, True)]
    assert kernel.apply([Replace(after, before), Delete(before)]) == []
    assert run("ip -6 rule").count("2000:") == 1


def test_a_rule_of_somebody_else_stays_beside_ours(kernel: LinuxKernel, run: Run) -> None:
    for what in ("lookup 253", "from fc00::7 lookup 8986", "fwmark 7 lookup 8986"):
        run(f"ip -6 rule add pref 2000 to fc00:1::/48 {what} proto 99")

        assert kernel.apply([Create(RULE)]) == []

        assert kernel.observe([]).objects[RULE.key] == ObservedObject(RULE, ours=True)
        assert kernel.apply([Delete(RULE)]) == []
        assert run("ip -6 rule").count("2000:") == 1
        run("ip -6 rule del pref 2000")


def test_foreign_rules(kernel: LinuxKernel, run: Run) -> None:
    run("ip -6 rule add pref 2000 to fc00:1::/48 lookup 8986")
    run("ip -6 rule add pref 2001 to fc00:1::/48 iif lo lookup 8986 proto 86")
    run("ip -6 rule add pref 2002 to fc00:1::/48 blackhole")
    run("ip -6 rule add pref 2003 lookup 8986")
    objects = kernel.observe([]).objects
    assert objects[RULE.key].object == RULE
    assert not objects[RULE.key].ours
    selector = objects["rule 2001 to fc00:1::/48"]
    assert isinstance(selector.object, UnknownRule)
    assert selector.ours
    assert isinstance(objects["rule 2002 to fc00:1::/48"].object, UnknownRule)
    assert isinstance(objects["rule 2003 to ::/0"].object, UnknownRule)
    # rule_exists distinguishes rules by protocol too: ours is beside an equal foreign one.
    assert kernel.apply([Create(RULE)]) == []
    objects = kernel.observe([]).objects
    assert objects[RULE.key].ours
    assert not objects[f"{RULE.key} table 8986"].ours
    assert kernel.apply([Delete(s.object) for s in objects.values()]) == []
    left = run("ip -6 rule")
    assert "2000:" in left
    assert "2001:" not in left
    assert "2002:" in left
    assert "2003:" in left


def test_rules_in_front(kernel: LinuxKernel, run: Run) -> None:
    """In the order in which the kernel asks them, with whom they take and where they lead."""
    assert kernel.apply([Create(RULE)]) == []
    run("ip -6 rule add pref 2000 from fc00:7::/64 to fc00:1::/48 lookup 77")
    run("ip -6 rule add pref 100 from fc00:8::/64 blackhole")
    run("ip -6 rule add pref 200 to fc00:1:0:5::/64 iif lo lookup 77")
    run("ip -6 rule add pref 300 lookup 77; ip -6 rule add pref 301 nop to fc00:1::/48")
    seen = kernel.observe([]).objects
    found = [s.object for key, s in seen.items() if key.startswith("rule")]
    assert found == [
        UnknownRule(
            "rule 100 to ::/0",
            100,
            IPv6Network("::/0"),
            "blackhole, from fc00:8::/64",
            IPv6Network("fc00:8::/64"),
        ),
        UnknownRule(
            "rule 200 to fc00:1:0:5::/64",
            200,
            IPv6Network("fc00:1:0:5::/64"),
            "table 77, with iif",
            table=77,
        ),
        RULE,
        UnknownRule(
            f"{RULE.key} table 77, from fc00:7::/64",
            2000,
            LOCATOR,
            "table 77, from fc00:7::/64",
            IPv6Network("fc00:7::/64"),
            77,
        ),
    ]


def test_two_rules_at_one_place(kernel: LinuxKernel, run: Run) -> None:
    run("ip -6 rule add pref 2000 to fc00:1::/48 lookup 77")
    assert kernel.apply([Create(RULE)]) == []
    objects = kernel.observe([]).objects
    assert objects[RULE.key].object == RULE
    assert objects[RULE.key].ours
    assert not objects[f"{RULE.key} table 77"].ours


@pytest.mark.parametrize("family", [4, 6])
def test_unreachable_default(kernel: LinuxKernel, run: Run, family: Family) -> None:
    route = UnreachableDefault(family, 100)
    assert kernel.apply([Create(route)]) == []
    seen = kernel.observe([]).objects[route.key]
    assert seen.object == route
    assert seen.ours
    shown = run(f"ip -{family} route show table 100")
    assert shown.startswith("unreachable default")
    assert "proto 86 metric 4278198272" in shown
    (rejected,) = kernel.apply([Create(route)])
    assert rejected.errno == errno.EEXIST
    assert kernel.apply([Replace(route, route), Delete(route), Delete(route)]) == []
    assert route.key not in kernel.observe([]).objects


@pytest.mark.parametrize("family", [4, 6])
def test_foreign_default(kernel: LinuxKernel, run: Run, family: Family) -> None:
    route = UnreachableDefault(family, 100)
    run(f"ip -{family} route add unreachable default table 100 metric 4278198272")
    run(f"ip -{family} route add unreachable default table 101 metric 50")
    objects = kernel.observe([]).objects
    assert objects[route.key].object == route
    assert not objects[route.key].ours
    assert f"route{family} table 101 default" not in objects
    assert kernel.apply([Delete(route)]) == []
    assert "unreachable" in run(f"ip -{family} route show table 100")


def test_unreachable_sid(kernel: LinuxKernel, run: Run) -> None:
    route, moved = UnreachableSid(LOCATOR, 100), UnreachableSid(LOCATOR, 101)
    run("ip -6 route add unreachable fc00:1::/48 table 102 metric 4278198272")
    assert kernel.apply([Create(UnreachableDefault(6, 100)), Create(route)]) == []
    objects = kernel.observe([]).objects
    assert objects[route.key] == ObservedObject(route, ours=True)
    assert UnreachableSid(LOCATOR, 102).key not in objects
    shown = run("ip -6 route show table 100 fc00:1::/48")
    assert shown.startswith("unreachable fc00:1::/48")
    assert "proto 86 metric 4278198272" in shown
    (rejected,) = kernel.apply([Create(route)])
    assert rejected.errno == errno.EEXIST
    assert kernel.apply([Replace(route, route), Replace(route, moved)]) == []
    objects = kernel.observe([]).objects
    assert route.key not in objects
    assert objects[moved.key].object == moved
    assert kernel.apply([Delete(moved), Delete(moved)]) == []
    assert moved.key not in kernel.observe([]).objects


def test_sysctl(kernel: LinuxKernel, run: Run) -> None:
    run("ip link add eth0 type veth peer name eth1; ip link set eth0 name eth0.100")
    path = "net/ipv6/conf/eth0.100/keep_addr_on_down"
    value = Sysctl(path, "1")
    assert kernel.apply([Replace(Sysctl(path, "0"), value)]) == []
    assert kernel.observe([path]).objects[value.key].object == value
    assert kernel.apply([Delete(value)]) == []
    assert kernel.observe([path]).objects[value.key].object == value


def test_missing_sysctl(kernel: LinuxKernel) -> None:
    value = Sysctl("net/nowhere", "1")
    assert value.key not in kernel.observe([value.path]).objects
    (rejected,) = kernel.apply([Create(value)])
    assert rejected.errno == errno.ENOENT


def test_sysctl_stays_below_proc_sys(kernel: LinuxKernel) -> None:
    (rejected,) = kernel.apply([Create(Sysctl("../../tmp/x", "1"))])
    assert rejected.errno == errno.EINVAL


def test_encap_source(kernel: LinuxKernel, run: Run) -> None:
    source = EncapSource(IPv6Address("fc00::1"))
    assert source.key not in kernel.observe([]).objects
    assert kernel.apply([Create(source)]) == []
    assert kernel.observe([]).objects[source.key].object == source
    assert "fc00::1" in run("ip sr tunsrc show")
    other = EncapSource(IPv6Address("fc00::2"))
    assert kernel.apply([Replace(source, other)]) == []
    assert kernel.observe([]).objects[source.key].object == other
    assert kernel.apply([Delete(other)]) == []
    assert source.key not in kernel.observe([]).objects


def test_observes_while_links_come_and_go(kernel: LinuxKernel, run: Run) -> None:
    # So many that a dump takes several datagrams, between which it can be interrupted.
    run("for i in $(seq 100); do echo link add a$i type veth peer name b$i; done | ip -batch -")
    churn = subprocess.Popen(
        ["sh", "-c", "while ip link add x type veth peer name y; do ip link del x; done"]
    )
    try:
        for _ in range(100):
            assert len(kernel.observe([]).interfaces) in (201, 203)
    finally:
        churn.kill()
        churn.wait()
