"""Kernels with SEG6_IPTUNNEL_TABLE and without, one after the other."""

from dataclasses import replace

import pytest

from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.capabilities import EVERYTHING, ROUTE_LOOKUP_TABLE
from srv6mgrd.model.desired import SegmentList, SteeredRoute
from tests.builders import desired, locator, net, small_vpn, vrf
from tests.unit.reconciler.world import World

WITHOUT = EVERYTHING
WITH = replace(EVERYTHING, facilities=EVERYTHING.facilities | {ROUTE_LOOKUP_TABLE})
ROUTE = SteeredRoute("red", net("fc00:7::/64"), "path")
STATE = replace(
    desired(locator(), vrf("red", 10), source="fcbb:0:1::1"),
    segment_lists={"path": SegmentList("path", (net("fcbb:0:2::/128").network_address,))},
    routes={ROUTE.name: ROUTE},
)
VPN = small_vpn("eth1")


def rules(world: World) -> set[str]:
    """Those before the l3mdev rule."""
    return {key for key in world.kernel.objects if key.startswith("rule 9")}


def ways_out(world: World) -> tuple[int | None, set[str]]:
    """Table of the route's lookup, and rules before the l3mdev rule."""
    objects = world.kernel.objects
    (encap,) = (o.object for o in objects.values() if isinstance(o.object, EncapRoute))
    return encap.lookup_table, rules(world)


RULES = {"rule 989 to fcbb:0:1::/48", "rule 990 to fcbb::/32"}


@pytest.mark.parametrize("restarted", [False, True])
def test_each_way_is_put_in_place_once(world: World, restarted: bool) -> None:
    world.reconciler.capabilities = WITHOUT
    world.commit(STATE)
    assert ways_out(world) == (None, RULES)

    for capabilities, expected in ((WITH, (254, set())), (WITHOUT, (None, RULES))):
        if restarted:
            world.restart()
        world.reconciler.capabilities = capabilities
        world.repair(STATE)
        assert ways_out(world) == expected
        writes = world.writes
        assert not world.repair().actions
        assert world.writes == writes


def test_the_table_is_there_before_the_rules_go(world: World) -> None:
    world.commit(STATE)
    world.kernel.applied.clear()

    world.reconciler.capabilities = WITH
    world.repair()

    keys = [action.object.key for action in world.kernel.applied]
    assert keys.index("route6 table 10 fc00:7::/64 metric 1024") < min(map(keys.index, RULES))


def test_rules_for_bgp_follow_the_frr_that_runs(world: World) -> None:
    """Patched, stock, gone, and back: the rules are there unless each of its routes names the
    table."""
    world.reconciler.capabilities = WITH
    world.frr.patched = True
    world.commit(VPN)
    assert rules(world) == set()
    writes = world.writes
    assert not world.repair().actions
    assert world.writes == writes

    world.frr.patched = False
    world.repair()
    assert rules(world) == RULES

    world.frr.patched = True
    world.repair()
    assert rules(world) == set()

    world.frr.unreachable = "zebra can't be reached"
    world.repair()
    assert rules(world) == RULES

    world.frr.unreachable = ""
    world.restart()
    world.reconciler.capabilities = WITH
    world.repair(VPN)
    assert rules(world) == set()
    assert not world.repair().actions


def test_the_rules_are_there_before_another_frr_has_bgp(world: World) -> None:
    world.reconciler.capabilities = WITH
    world.frr.patched = True
    world.commit(VPN)
    written: list[str] = []
    world.reconciler.before_writing = lambda actions: written.extend(
        action.object.key for action in actions
    )

    world.frr.patched = False
    world.frr.restart()
    world.repair()

    first = min(at for at, key in enumerate(written) if key.startswith("frr bgpd"))
    assert max(map(written.index, RULES)) < first


def test_an_old_kernel_keeps_the_rules_whatever_frr_says(world: World) -> None:
    world.frr.patched = True
    world.commit(VPN)
    assert rules(world) == RULES
