"""The monitor of service functions over a function that is made here."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_interface
from typing import Any

import pytest

from srv6mgrd.function_health.checks import Port
from srv6mgrd.function_health.packet import mark_of
from srv6mgrd.function_monitor import FunctionMonitor, Outside
from srv6mgrd.model.chains import Chains, FailureAction, FunctionState, HealthCheck
from srv6mgrd.model.condition import Condition, Severity
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.proxy.health_checks import Returned
from tests.unit.model.service_chaining import desired

RULES = HealthCheck(interval=20, failures=2, successes=3)
FIREWALL = replace(desired().chains.functions["firewall"], health_check=RULES)


@dataclass
class World:
    """Packets come back at once where ``works`` is set."""

    works: bool = True
    run: int = 5
    is_current: bool = True
    is_up: bool = True
    drain: bool = False
    on_failure: FailureAction = FailureAction.BYPASS
    resolved: list[str] = field(default_factory=list)
    states: list[Mapping[str, FunctionState]] = field(default_factory=list)
    staged: Mapping[str, Any] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    neighbors: bool = True
    before: Mapping[str, FunctionState] = field(default_factory=dict)
    bypassed: Collection[IPv6Network] = ()
    chained: bool = True
    names: Sequence[str] = ("firewall",)
    rules: HealthCheck = RULES
    elsewhere: bool = False
    problem: tuple[str, bool] = "", False
    expected: int = 0
    looks: int = 0
    look_takes: float = 0.0
    rejects: bool = False
    answers: dict[int, Returned] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._desired = self._made()

    def _made(self) -> Desired:
        function = replace(FIREWALL, drain=self.drain, health_check=self.rules)
        if self.elsewhere:
            function = replace(function, proxied=None)
        functions = {name: replace(function, name=name) for name in self.names}
        web = desired().chains.chains["web"]
        hops = tuple(replace(hop, on_failure=self.on_failure) for hop in web.hops)
        chains = {"web": replace(web, hops=hops)} if self.chained else {}
        return replace(desired(), chains=Chains(functions=functions, chains=chains))

    def declare(self, **changed: Any) -> None:
        for name, value in changed.items():
            setattr(self, name, value)
        self._desired = self._made()

    def desired(self) -> Desired:
        return self._desired

    def steer(self, states: Mapping[str, FunctionState], bypassed: Collection[IPv6Network]) -> None:
        self.states.append(states)
        self.bypassed = bypassed

    def steered(self) -> Mapping[str, FunctionState]:
        return self.before

    def read(self) -> dict[str, Port]:
        self.looks += 1
        time.sleep(self.look_takes)
        return {
            "fw-in": Port(
                3, self.is_up, b"\2" * 6, (ip_interface("10.9.0.1/24"), ip_interface("fd09::1/64"))
            ),
            "fw-out": Port(
                4, True, b"\4" * 6, (ip_interface("10.9.1.1/24"), ip_interface("fd09:1::1/64"))
            ),
        }

    def macs(self) -> dict[tuple[int, str], bytes]:
        if not self.neighbors:
            return {}
        return {
            (index, address): b"\6" * 6
            for index in (3, 4)
            for address in ("10.9.0.2", "fd09::2", "10.9.1.2", "fd09:1::2")
        }

    def keep(self, ports: Mapping[str, Port], names: Iterable[str]) -> None:
        pass

    def send(self, name: str, index: int, frames: Sequence[bytes]) -> tuple[str, bool]:
        if self.problem[0]:
            return self.problem
        for one in frames:
            mark = mark_of(one)
            assert mark is not None
            assert mark.run == self.run
            if self.works:
                self.answers[mark.check] = Returned(mark.number, time.monotonic_ns())
        return "", False

    def expect(self, checks: Iterable[int]) -> bool:
        self.expected += 1
        self.is_current = True
        if self.rejects:
            raise KernelError("health checks", "no room", "check fewer functions")
        return True

    def returned(self, check: int) -> Returned | None:
        return self.answers.get(check)

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        self.staged = members

    def publish(self) -> None:
        pass

    def report(self, source: str, conditions: Iterable[Condition]) -> None:
        self.conditions = list(conditions)

    def resolve(self, name: str, address: IPv4Address | IPv6Address) -> None:
        self.resolved.append(f"{address} on {name}")

    @property
    def state(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.staged[CHAINING]["service-function"][0]["state"]
        return found


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def monitor(world: World) -> FunctionMonitor:
    return FunctionMonitor(world.desired, _outside(world))


def _outside(world: World) -> Outside:
    return Outside(world, world, world, world, world, world.steer, world.steered, world.resolve)


def _run(monitor: FunctionMonitor, seconds: float) -> None:
    """Until so much time has passed, by the monitor's own pauses."""

    async def beats() -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(await monitor.beat())

    asyncio.run(beats())


def test_a_function_that_lets_packets_through_is_up(monitor: FunctionMonitor, world: World) -> None:
    _run(monitor, 0.1)
    assert world.states == [{"firewall": FunctionState.UP}]
    assert world.state["function-state"] == "up"
    assert "function-state-reason" not in world.state
    assert world.conditions == []


def test_one_that_does_not_is_down_and_chains_learn_it(
    monitor: FunctionMonitor, world: World
) -> None:
    _run(monitor, 0.1)
    world.works = False
    _run(monitor, 0.1)
    assert world.states[-1] == {"firewall": FunctionState.DOWN}
    assert world.state["function-state-reason"] == (
        "ipv4 forward: no packet came back by fw-out within 20 ms"
    )
    assert [str(sid) for sid in world.bypassed] == [
        f"fcbb:0:1:{number}::/64" for number in (1000, 1001, 1002, 1003)
    ]
    (condition,) = world.conditions
    assert condition.severity is Severity.MINOR
    assert condition.cause.startswith("service function firewall is down: ipv4 forward")
    world.works = True
    _run(monitor, 0.15)
    assert world.states[-1] == {"firewall": FunctionState.UP}
    assert world.conditions == []


def test_a_function_that_drains(monitor: FunctionMonitor, world: World) -> None:
    _run(monitor, 0.05)
    world.declare(drain=True)
    _run(monitor, 0.05)
    assert world.states[-1] == {"firewall": FunctionState.DRAINING}


def test_a_next_hop_that_does_not_resolve(monitor: FunctionMonitor, world: World) -> None:
    world.neighbors = False
    _run(monitor, 0.1)
    assert world.states[-1] == {"firewall": FunctionState.DOWN}
    assert "next hop 10.9.0.2 on fw-in does not resolve" in world.state["function-state-reason"]
    assert "10.9.0.2 on fw-in" in world.resolved


def test_an_interface_that_is_down_is_seen_at_once(monitor: FunctionMonitor, world: World) -> None:
    world.is_up = False
    asyncio.run(monitor.beat())
    assert world.states == [{"firewall": FunctionState.DOWN}]


def test_what_was_down_before_a_restart_stays_so_until_it_answers(
    monitor: FunctionMonitor, world: World
) -> None:
    world.before = {"firewall": FunctionState.DOWN}
    world.works = False
    asyncio.run(monitor.beat())
    assert world.states == [{"firewall": FunctionState.DOWN}]
    world.works = True
    _run(monitor, 0.1)
    assert world.states[-1] == {"firewall": FunctionState.UP}


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ({"on_failure": FailureAction.DROP}, Severity.MAJOR),
        ({"chained": False}, Severity.WARNING),
    ],
)
def test_how_bad_it_is_depends_on_its_chains(
    monitor: FunctionMonitor, world: World, changed: dict[str, Any], severity: Severity
) -> None:
    world.declare(is_up=False, **changed)
    asyncio.run(monitor.beat())
    assert [condition.severity for condition in world.conditions] == [severity]
    assert list(world.bypassed) == []


def test_without_chains_nothing_is_steered(world: World) -> None:
    asyncio.run(FunctionMonitor(Desired, _outside(world)).beat())
    assert world.states == []


def test_without_its_last_chain_nothing_goes_on_without_a_function(
    monitor: FunctionMonitor, world: World
) -> None:
    world.is_up = False
    asyncio.run(monitor.beat())
    assert world.bypassed
    world.declare(chained=False)
    asyncio.run(monitor.beat())
    assert not world.bypassed


def test_without_its_last_function_no_sid_is_bypassed(
    monitor: FunctionMonitor, world: World
) -> None:
    """One that is made of the same prefix later."""
    world.is_up = False
    asyncio.run(monitor.beat())
    assert world.bypassed
    world.declare(names=())
    asyncio.run(monitor.beat())
    assert not world.bypassed


def test_what_was_down_here_is_up_where_another_router_has_it_now(
    monitor: FunctionMonitor, world: World
) -> None:
    world.before = {"firewall": FunctionState.DOWN}
    world.declare(elsewhere=True)
    asyncio.run(monitor.beat())
    assert world.states == [{"firewall": FunctionState.UP}]


def test_what_is_sent_late_has_as_long_to_come_back(monitor: FunctionMonitor, world: World) -> None:
    world.declare(rules=HealthCheck(interval=500))
    assert asyncio.run(monitor.beat()) > 0.3


def test_a_queue_that_is_full_is_one_failure(monitor: FunctionMonitor, world: World) -> None:
    asyncio.run(monitor.beat())
    world.problem = "interface fw-in: No buffer space available", False
    _run(monitor, 0.025)
    world.problem = "", False
    _run(monitor, 0.1)
    assert world.states == [{"firewall": FunctionState.UP}]


def test_answers_to_another_function_are_not_those_of_this_one(world: World) -> None:
    rules = HealthCheck(interval=20, failures=1)
    world.declare(names=("other", "firewall"), rules=rules)
    monitor = FunctionMonitor(world.desired, _outside(world))
    asyncio.run(monitor.beat())
    for check in range(4):
        del world.answers[check]
    world.declare(names=("firewall", "third"))
    _run(monitor, 0.03)
    assert world.states[-1] == {"firewall": FunctionState.UP, "third": FunctionState.UP}


def test_programs_that_were_loaded_again_get_the_checks_at_once(
    monitor: FunctionMonitor, world: World
) -> None:
    asyncio.run(monitor.beat())
    world.is_current = False
    asyncio.run(monitor.beat())
    assert world.expected == 2


def test_programs_that_did_not_take_the_checks_get_them_again(
    monitor: FunctionMonitor, world: World
) -> None:
    asyncio.run(monitor.beat())
    world.is_current, world.rejects = False, True
    with pytest.raises(KernelError):
        asyncio.run(monitor.beat())
    world.rejects = False
    asyncio.run(monitor.beat())
    assert world.expected == 3


def test_who_waits_for_a_neighbor_does_not_look_all_the_time(
    monitor: FunctionMonitor, world: World
) -> None:
    """Interfaces and neighbors may be thousands."""
    world.neighbors, world.look_takes = False, 0.03
    _run(monitor, 0.4)
    assert 2 <= world.looks <= 4


@pytest.mark.parametrize("case", [(OSError(5, "no"), 1), (ValueError("a defect"), 2)], ids=str)
def test_a_problem_ends_nothing_and_is_reported_once(
    monitor: FunctionMonitor,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    case: tuple[Exception, int],
) -> None:
    """Twice a beat fails; then it works again."""
    error, said = case
    monkeypatch.setattr("srv6mgrd.function_monitor._KNOWN", 0.01)
    fails = iter((error, error))
    beat = monitor.beat

    async def failing() -> float:
        for one in fails:
            raise one
        return await beat()

    monkeypatch.setattr(monitor, "beat", failing)

    async def for_a_while() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(monitor.run(), 0.2)

    asyncio.run(for_a_while())
    assert world.states[-1] == {"firewall": FunctionState.UP}
    assert len([r for r in caplog.records if r.levelname == "ERROR"]) == said
