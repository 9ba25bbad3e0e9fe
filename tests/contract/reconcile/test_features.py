"""What is declared of one feature goes, and what is declared of another stays: for every two of
them, on the real kernel and real FRR. What one of them takes out of the kernel may be the other's.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Interface, IPv6Network
from itertools import permutations
from pathlib import Path

import pytest

from lab.waiting import wait_until
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.limits import limits
from srv6mgrd.frr.render import render
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Role, SteeredRoute, Vrf
from srv6mgrd.model.interfaces import Interface, Vlan
from srv6mgrd.model.isis import Isis, IsisInterface
from srv6mgrd.model.ospf import Ospf, OspfInterface
from srv6mgrd.model.routing_policy import (
    ApplyPolicy,
    Conditions,
    Policy,
    PrefixRange,
    RoutingPolicy,
    Statement,
)
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from tests.builders import speaker, vpn
from tests.contract.kernel.conftest import Run
from tests.contract.reconcile.router import picture
from tests.transitions import DYNAMIC, LOCATOR, PATH, SOURCE, sid

pytestmark = [pytest.mark.contract, pytest.mark.usefixtures("vrf", "own_pins")]

DAEMONS = ("mgmtd", "zebra", "staticd", "bgpd", "isisd", "ospfd", "ospf6d")
END = sid(1)
RED, EXPORTED = Vrf("red", 100, ("eth2",)), sid(16, Behavior.END_DT46, vrf="red")


@dataclass(frozen=True, slots=True)
class Feature:
    """What is declared of it, added to a state; ``needs`` are the features that it can't do
    without."""

    add: Callable[[Desired], Desired]
    needs: tuple[str, ...] = ()


def _bgp(state: Desired) -> Desired:
    """The speaker, and what VRFs say of BGP."""
    spoken = replace(state, bgp=speaker("fcbb:0:9::1"))
    if state.routing_policy.policies and spoken.bgp is not None:
        applied = replace(spoken.bgp.neighbors[0], apply_policy=ApplyPolicy("some", "some"))
        spoken = replace(spoken, bgp=replace(spoken.bgp, neighbors=(applied,)))
    if "red" not in state.vrfs:
        return spoken
    exported = str(EXPORTED.prefix) if EXPORTED.prefix in state.sids else None
    red = replace(state.vrfs["red"], bgp=vpn("65000:100", exported))
    return replace(spoken, vrfs={"red": red})


def _vrfs(state: Desired) -> Desired:
    sids = {**state.sids, EXPORTED.prefix: EXPORTED} if state.locators else state.sids
    return replace(state, vrfs={"red": RED}, sids=sids)


def _isis(state: Desired) -> Desired:
    interfaces = (IsisInterface("lo", passive=True), IsisInterface("eth1"))
    return replace(
        state, isis=Isis("49.0001", "0000.0000.0001", LOCATOR.name, interfaces=interfaces)
    )


def _proxies(state: Desired) -> Desired:
    return replace(state, sids={**state.sids, DYNAMIC.prefix: DYNAMIC})


STEERED = (
    SteeredRoute(None, IPv6Network("fc00:9::/64"), "path"),
    SteeredRoute(None, IPv4Network("198.51.100.0/24"), "path"),
)
POLICY = RoutingPolicy(
    {"some": Policy("some", (Statement(10, Conditions(prefix_set="ours")),))},
    {"ours": (PrefixRange(IPv6Network("2001:db8::/32")),)},
)
DECLARED = (
    Interface("eth9", addresses=(IPv6Interface("fc00:42::1/64"),)),
    Interface("eth9.7", vlan=Vlan("eth9", 7), addresses=(IPv4Interface("192.0.2.1/24"),)),
)
STATIC = StaticRoute(
    "red", IPv4Network("198.51.100.0/24"), (NextHop(1, special=SpecialNextHop.BLACKHOLE),)
)
OSPF = {
    version: Ospf("red", version, IPv4Address("192.0.2.1"), (OspfInterface("eth2"),))
    for version in (2, 3)
}
# In the order in which they are added.
FEATURES = {
    "encapsulation": Feature(
        lambda s: replace(s, encapsulation_source=SOURCE, hop_limit=42, flow_label="compute")
    ),
    "locators": Feature(
        lambda s: replace(s, locators={LOCATOR.name: LOCATOR}, sids={END.prefix: END})
    ),
    "interfaces": Feature(lambda s: replace(s, interfaces={i.name: i for i in DECLARED})),
    "vrfs": Feature(_vrfs),
    "static-routes": Feature(lambda s: replace(s, static_routes={STATIC.name: STATIC}), ("vrfs",)),
    "ospf": Feature(
        lambda s: replace(s, ospf={"red": OSPF[2]}, ospfv3={"red": OSPF[3]}), ("vrfs",)
    ),
    "proxies": Feature(_proxies, ("locators",)),
    "steering": Feature(
        lambda s: replace(s, segment_lists={"path": PATH}, routes={r.name: r for r in STEERED})
    ),
    "boundary": Feature(lambda s: replace(s, roles={"eth9": Role.CORE}, default_role=Role.CORE)),
    "routing-policy": Feature(lambda s: replace(s, routing_policy=POLICY)),
    "isis": Feature(_isis, ("locators",)),
    "bgp": Feature(_bgp),
}


def declared(*names: str) -> Desired:
    """A state of these features."""
    state = Desired()
    for name, feature in FEATURES.items():
        if name in names:
            state = feature.add(state)
    return state


def closure(*names: str) -> tuple[str, ...]:
    return tuple({*names, *(need for name in names for need in FEATURES[name].needs)})


PAIRS = [(gone, kept) for gone, kept in permutations(FEATURES, 2) if gone not in closure(kept)]


@pytest.fixture
def frr(run: Run) -> Iterator[FrrSockets]:
    """Daemons in the namespace of the test."""
    run("mkdir -p /run/frr /var/tmp/frr && chown frr:frr /run/frr")
    for daemon in DAEMONS:
        start = f"/usr/lib/frr/{daemon} -d -F datacenter --log file:/tmp/{daemon}.log"
        start += "" if daemon in ("mgmtd", "staticd") else " -f /dev/null"
        run(f"{start} </dev/null >/tmp/{daemon}.out 2>&1")
    sockets = FrrSockets()
    wait_until(lambda: sockets.observe() is not None, "FRR")
    yield sockets
    for daemon in reversed(DAEMONS):
        pid = Path(f"/run/frr/{daemon}.pid").read_text().strip()
        subprocess.run(["kill", "-KILL", pid], check=False)
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), f"end of {daemon}")


@pytest.fixture
def reconciler(
    run: Run, kernel: LinuxKernel, frr: FrrSockets, tmp_path: Path
) -> Iterator[Reconciler]:
    run("for i in 1 2 9; do ip link add eth$i type dummy; ip link set eth$i up; done")
    journal = Journal(tmp_path / "journal.sqlite")
    yield Reconciler(kernel, frr, journal, render, limits=limits)
    journal.close()


def settled(reconciler: Reconciler, frr: FrrSockets, state: Desired) -> list[object]:
    """Commit; what differs when FRR has done all that it had under way."""
    reconciler.commit(state)
    frr.let_go([])
    return list(reconciler.dry_run(state).actions)


def seen(run: Run) -> set[str]:
    """The kernel as others see it. Numbers of next hops are zebra's choice."""
    lines = (re.sub(r'"nhid": \d+, ', "", line) for line in picture(run))
    return {*lines, run("ip sr tunsrc show")}


@pytest.mark.timeout(300)
def test_one_goes_and_another_stays(
    reconciler: Reconciler, frr: FrrSockets, run: Run, subtests: pytest.Subtests
) -> None:
    alone = {}
    for kept in FEATURES:
        assert settled(reconciler, frr, declared(*closure(kept))) == []
        alone[kept] = seen(run)
        assert settled(reconciler, frr, Desired()) == []
    for gone, kept in PAIRS:
        with subtests.test(f"{gone} goes, {kept} stays"):
            assert settled(reconciler, frr, declared(*closure(gone, kept))) == []
            assert settled(reconciler, frr, declared(*closure(kept))) == []
            # isisd takes its time.
            differs = partial(lambda kept: seen(run) ^ alone[kept], kept)
            wait_until(lambda differs=differs: not differs(), "the same kernel", 20, seen=differs)
