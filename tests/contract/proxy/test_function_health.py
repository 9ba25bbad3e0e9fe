"""Health of functions: packets that go through one for real, and what is said of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ipaddress import IPv6Network, ip_address
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.function_health.ports import Ports, Senders, resolve
from srv6mgrd.function_monitor import FunctionMonitor, Outside
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import (
    Chain,
    Chains,
    Egress,
    FunctionState,
    HealthCheck,
    Hop,
    ProxiedFunction,
    ServiceFunction,
    Way,
)
from srv6mgrd.model.condition import Condition
from srv6mgrd.model.desired import Desired, Locator
from srv6mgrd.model.expand import expand
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.proxy.health_checks import HealthChecks
from srv6mgrd.proxy.programs import Programs
from tests.contract.proxy.network import LOCATOR, Network

pytestmark = pytest.mark.contract

INSIDE, OUTSIDE = "fw-in", "fw-out"
_ADDRESSES = {
    INSIDE: ("10.19.0", "2001:db8:19"),
    OUTSIDE: ("10.19.1", "2001:db8:191"),
}
UP, DOWN = FunctionState.UP, FunctionState.DOWN


class Watched:
    """A firewall with two links, and the monitor of it."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self.states: list[Mapping[str, FunctionState]] = []
        self.staged: Mapping[str, Any] = {}
        self.desired = Desired()
        self._answers = HealthChecks(folder)
        self._senders, self._ports = Senders(), Ports()
        outside = Outside(
            self._ports, self._senders, self._answers, self, self, self.steer, dict, resolve
        )
        self.monitor = FunctionMonitor(lambda: self.desired, outside)

    def build(self, *families: Family) -> None:
        run, on = self.network.run, self.network.on
        name = self.network.name("function")
        for link, (ipv4, ipv6) in _ADDRESSES.items():
            run(f"ip link add {link} type veth peer name {link} netns {name}")
            run(f"ip addr add {ipv4}.1/24 dev {link}; ip addr add {ipv6}::1/64 dev {link} nodad")
            run(f"ip link set {link} up")
            on("function", f"ip addr add {ipv4}.2/24 dev {link}")
            on("function", f"ip addr add {ipv6}::2/64 dev {link} nodad")
            on("function", f"ip link set {link} up")
        self.declare(*families)

    def declare(self, *families: Family, **checks: Any) -> None:
        hops = [
            {
                Family.IPV4: ip_address(f"{_ADDRESSES[link][0]}.2"),
                Family.IPV6: ip_address(f"{_ADDRESSES[link][1]}::2"),
            }
            for link in (INSIDE, OUTSIDE)
        ]
        proxied = ProxiedFunction("MAIN", 4096, families, INSIDE, OUTSIDE, *hops)
        rules = HealthCheck(interval=40, failures=2, successes=2, **checks)
        firewall = ServiceFunction("firewall", proxied, health_check=rules)
        # Steered is where there are chains. It has no source, and so no paths.
        chain = Chain("web", (Hop(1, "firewall"),), {Way.FORWARD: Egress()})
        self.desired = expand(
            Desired(
                locators={"MAIN": Locator("MAIN", LOCATOR)},
                chains=Chains(functions={"firewall": firewall}, chains={"web": chain}),
            )
        )
        self.network.declare(Desired(locators=self.desired.locators, sids=self.desired.sids))

    def until(self, condition: Callable[[], object], seconds: float = 5.0) -> float:
        """Have the monitor work until the condition holds; how long it took."""

        async def beats() -> float:
            began = time.monotonic()
            while not condition():
                assert time.monotonic() - began < seconds, self.staged
                await asyncio.sleep(await self.monitor.beat())
            return time.monotonic() - began

        return asyncio.run(beats())

    def is_(self, state: FunctionState) -> Callable[[], bool]:
        return lambda: bool(self.states) and self.states[-1]["firewall"] is state

    @property
    def state(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.staged[CHAINING]["service-function"][0]["state"]
        return found

    def steer(self, states: Mapping[str, FunctionState], bypassed: Collection[IPv6Network]) -> None:
        self.states.append(states)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        self.staged = members

    def publish(self) -> None:
        pass

    def report(self, source: str, conditions: Iterable[Condition]) -> None:
        pass

    @property
    def sent(self) -> int:
        """The number of the last packets."""
        return self.monitor._watched["firewall"].sent

    def errors(self) -> int:
        return sum(state.counts.errors for state in self.network.kernel.proxies().values())

    def close(self) -> None:
        self._senders.close()
        self._ports.close()
        self._answers.close()


@pytest.fixture
def watched(network: Network) -> Iterator[Watched]:
    made = Watched(network, Path(f"/sys/fs/bpf/test-{os.getpid()}"))
    yield made
    made.close()


IP = (Family.IPV4, Family.IPV6)


def test_a_function_that_forwards_is_up(watched: Watched) -> None:
    watched.build(*IP)
    watched.until(lambda: watched.is_(UP)() and "delay" in watched.state)
    assert 0 < watched.state["delay"] < 1_000_000
    assert "function-state-reason" not in watched.state
    # Packets that come back are no errors of the proxies. Reports of multicast groups are.
    before, sent = watched.errors(), watched.sent
    watched.until(lambda: watched.sent > sent + 10)
    assert watched.errors() - before < 10


@pytest.mark.parametrize("family", IP)
def test_one_that_drops_is_down_until_it_forwards_again(watched: Watched, family: Family) -> None:
    watched.build(*IP)
    watched.until(lambda: watched.is_(UP)() and "delay" in watched.state)
    table = "ip" if family is Family.IPV4 else "ip6"
    forward = "{ type filter hook forward priority 0; policy drop; }"
    watched.network.on("function", f"nft 'add table {table} t; add chain {table} t c {forward}'")
    assert watched.until(watched.is_(DOWN)) < 1
    assert watched.state["function-state-reason"].startswith(f"{family} forward: no packet came")
    watched.network.on("function", f"nft delete table {table} t")
    watched.until(watched.is_(UP))


def test_a_link_that_goes_down_is_seen_at_once(watched: Watched) -> None:
    watched.build(Family.IPV4)
    watched.until(lambda: watched.is_(UP)() and "delay" in watched.state)
    watched.network.on("function", f"ip link set {OUTSIDE} down")
    watched.until(watched.is_(DOWN))
    watched.network.on("function", f"ip link set {OUTSIDE} up")
    watched.until(watched.is_(UP))


def test_frames_through_a_bridge(watched: Watched) -> None:
    watched.build(Family.ETHERNET)
    on = watched.network.on
    for link in _ADDRESSES:
        on("function", f"ip addr flush dev {link}")
    on("function", "ip link add name bridge0 type bridge")
    on("function", "ip link set bridge0 up")
    on("function", f"sh -c 'for l in {INSIDE} {OUTSIDE}; do ip link set $l master bridge0; done'")
    watched.until(lambda: watched.is_(UP)() and "delay" in watched.state)
    on("function", f"ip link set {OUTSIDE} nomaster")
    watched.until(watched.is_(DOWN))


def test_a_function_without_checks_is_up_while_its_links_are(watched: Watched) -> None:
    watched.build(Family.IPV4)
    watched.declare(Family.IPV4, enabled=False)
    watched.network.on("function", "nft 'add table ip t; add chain ip t c { type filter hook"
                                   " forward priority 0; policy drop; }'")  # fmt: skip
    watched.until(watched.is_(UP))
    assert watched.state["function-state-reason"] == "health-check is not enabled"
    watched.network.run(f"ip link set {INSIDE} down")
    watched.until(watched.is_(DOWN))


def test_programs_that_are_loaded_again(watched: Watched, programs: Programs) -> None:
    """Their maps are others then."""
    watched.build(Family.IPV4)
    watched.until(lambda: watched.is_(UP)() and "delay" in watched.state)
    programs.remove()
    watched.network.kernel.close()
    watched.network.kernel = LinuxKernel(programs=programs)
    watched.network.repair()
    states = len(watched.states)
    watched.until(lambda: watched.state["delay"] > 0)
    assert DOWN not in {one["firewall"] for one in watched.states[states:]}
