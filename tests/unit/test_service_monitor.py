"""When services are looked at, and what is made known of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address
from typing import Any

import pytest

from srv6mgrd.frr.neighbors import peer
from srv6mgrd.model.arrivals import Arrivals
from srv6mgrd.model.condition import Condition
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.service import ServiceReport, ServiceState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.service_monitor import PART, ServiceMonitor, Sources, Statuses
from srv6mgrd.service_state.evidence import (
    BgpEvidence,
    KernelEvidence,
    ReturnPath,
    RouteCount,
    Silence,
)
from tests.unit.service_state.samples import BGP, BOTH_OF_PE2, DESIRED, KERNEL, PE2, RED, UP

INSTALLED = ObjectStatus(InstallStatus.INSTALLED)
MEASURED = {
    "srv6mgr-path-measurement:path-measurement": {
        "session": [{"name": "to-pe2", "state": {"path-state": "down", "reason": "no answer"}}]
    }
}


@dataclass
class World:
    """All that the monitor asks and reports to; ``time`` goes on by hand."""

    desired: Desired = DESIRED
    statuses: Statuses = field(default_factory=dict)
    bgp: BgpEvidence | None = BGP
    kernel: KernelEvidence = KERNEL
    error: Exception | None = None
    is_stale: bool = True
    time: float = 100.0
    reads: int = 0
    asked: int = 0
    doubted: int = 0
    asked_next_hops: int = 0
    published: int = 0
    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    descriptors: tuple[int, ...] = ()
    reports: Mapping[ObjectRef, ServiceReport] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lost_return_paths = frozenset[ReturnPath]()
        self.silent_neighbors: Mapping[IPv6Address, Silence] = {}
        self.arrivals = Arrivals(0.0, 0.0)
        sources = Sources(
            desired=lambda: self.desired,
            statuses=lambda: self.statuses,
            bgp=lambda: self.bgp,
            peer=peer,
            ask_frr=self.ask_frr,
            doubt_routes=self.doubt_routes,
            lost_return_paths=lambda: self.lost_return_paths,
            silent_neighbors=lambda: self.silent_neighbors,
            read_next_hops=self.read_next_hops,
            arrivals=lambda: self.arrivals,
        )
        self.monitor = ServiceMonitor(
            sources, self, self, self, self, published=self.before, clock=lambda: self.time
        )

    def ask_frr(self) -> None:
        self.asked += 1

    def doubt_routes(self) -> None:
        self.doubted += 1

    def read_next_hops(self) -> None:
        self.asked_next_hops += 1

    def hear(self) -> None:
        pass

    def forget(self) -> None:
        self.is_stale = True

    def read(self, desired: Desired) -> KernelEvidence:
        assert desired is self.desired
        self.reads += 1
        if self.error is not None:
            raise self.error
        self.is_stale = False
        return self.kernel

    def stage(self, part: str, members: Mapping[str, Any]) -> None:
        self.parts[part] = members
        self.staged_by = threading.current_thread()

    def staged(self, part: str) -> Mapping[str, Any]:
        return self.parts.get(part, NOTHING)

    def publish_services(self, services: Mapping[ObjectRef, ServiceReport]) -> None:
        self.reports = services

    def publish(self) -> None:
        self.published += 1

    def report(self, source: str, conditions: Any) -> None:
        assert source == "service"
        self.conditions = list(conditions)

    def look(self) -> None:
        asyncio.run(self.monitor.look())

    def types(self) -> list[str]:
        return [one.type.value for one in self.conditions]

    def state(self, vrf: str) -> str:
        listed = self.parts[PART]["vrfs"]["vrf"]
        found: str = next(e["service"]["service-state"] for e in listed if e["name"] == vrf)
        return found


NOTHING: Mapping[str, Any] = {}


def test_a_healthy_edge() -> None:
    world = World()
    world.look()
    assert (world.state("red"), world.state("blue")) == ("up", "up")
    assert (world.reads, world.published, world.conditions) == (1, 1, [])


def test_the_event_loop_encodes_nothing() -> None:
    world = World()
    world.look()
    assert world.staged_by is not threading.current_thread()


def test_what_is_the_same_is_not_judged_again() -> None:
    world = World()
    for _ in range(3):
        world.look()
        world.time += 1
    assert (world.reads, world.published) == (1, 1)


def restarted(world: World) -> World:
    return World(before=world.parts[PART], bgp=None, time=world.time)


def test_a_restart_is_no_change() -> None:
    world = World()
    world.look()
    again = restarted(world)
    assert again.parts[PART] == world.parts[PART]
    assert again.reports == world.reports
    again.look()
    assert again.published == 0
    again.bgp = BGP
    again.look()
    assert again.parts[PART] == world.parts[PART]
    assert again.reports == world.reports
    assert again.published == 1


def test_what_broke_during_a_restart_is_reported() -> None:
    world = World()
    world.look()
    again = restarted(world)
    again.bgp = BGP
    again.kernel = replace(KERNEL, links={**KERNEL.links, "blue1": replace(UP, is_up=False)})
    again.look()
    assert again.state("blue") == "down"


def test_a_state_that_can_not_be_judged_again_becomes_unknown() -> None:
    world = World()
    world.look()
    again = restarted(world)
    again.look()
    again.time += 31
    again.look()
    assert again.state("red") == "unknown"


def test_state_of_another_release_is_not_taken_over() -> None:
    world = World(before={"vrfs": {"vrf": [{"name": "red", "service": {"state": 1}}]}})
    assert (world.parts, world.reports) == ({}, {})


def test_the_kernel_reports_a_breakage_and_its_end() -> None:
    world = World()
    world.look()
    world.kernel = replace(KERNEL, links={**KERNEL.links, "blue1": replace(UP, is_up=False)})
    world.is_stale = True
    world.look()
    assert world.types() == ["vrf-interface-down"]
    assert world.state("blue") == "down"
    report = world.reports[ObjectRef(Kind.VRF, "blue")]
    assert (report.state, report.condition) == (ServiceState.DOWN, world.conditions[0])
    # FRR may have noticed, too.
    assert world.asked == 1
    world.kernel, world.is_stale = KERNEL, True
    world.look()
    assert (world.conditions, world.state("blue")) == ([], "up")


def test_a_finding_that_has_to_last_counts_in_time() -> None:
    world = World()
    world.look()
    world.bgp = replace(BGP, exports={"red": "zebra has not given SID to bgpd yet", "blue": ""})
    world.look()
    assert world.conditions == []
    world.time += 3
    world.look()
    assert world.types() == ["export-incomplete"]


def test_objects_and_paths() -> None:
    world = World()
    world.statuses = {
        ObjectRef(Kind.SID, str(RED)): ObjectStatus(InstallStatus.FAILED, "no memory"),
        ObjectRef(Kind.VRF, "red"): INSTALLED,
    }
    world.stage("path-measurement", MEASURED)
    world.look()
    assert world.types() == ["not-installed", "path-down"]
    (sid,) = world.parts[PART]["local-sids"]["sid"]
    assert (sid["prefix"], sid["service"]["service-state"]) == (str(RED), "down")


@pytest.mark.parametrize("error", [KernelError("netlink", "no memory", "wait"), OSError()])
def test_what_can_not_be_read_is_read_at_the_next_look(error: Exception) -> None:
    world = World(error=error)
    world.look()
    assert (world.reads, world.published) == (1, 0)
    world.error = None
    world.look()
    assert (world.reads, world.state("red")) == (2, "up")


def test_routes_that_the_kernel_lacks_are_counted_again_before_they_are_reported() -> None:
    world = World()
    world.kernel = replace(KERNEL, bgp_routes={"red": RouteCount(0, 1), "blue": RouteCount(0, 1)})
    world.look()
    assert (world.doubted, world.asked, world.types()) == (1, 1, [])
    assert not world.monitor.lacking_routes
    world.time += 2
    world.look()
    assert world.types() == ["route-not-in-kernel"]
    assert world.monitor.lacking_routes == {"red"}
    # Others had withdrawn them.
    world.bgp = replace(BGP, routes={"red": RouteCount(0, 1)})
    world.look()
    assert (world.types(), world.doubted) == ([], 2)
    assert not world.monitor.lacking_routes


def test_a_silent_edge_takes_down_what_receives_nothing_since() -> None:
    world = World()
    world.look()
    world.silent_neighbors = {PE2: Silence(100.0)}
    world.arrivals = Arrivals(99.5, 100.5)
    world.look()
    # FRR is asked which edges remote SIDs are of.
    assert (world.asked_next_hops, world.asked) == (1, 1)
    world.bgp = replace(BGP, next_hops=BOTH_OF_PE2)
    world.look()
    # As long as it is silent: routes may come meanwhile.
    assert (world.asked_next_hops, world.asked) == (2, 1)
    assert world.state("red") == "degraded"
    world.arrivals = Arrivals(100.5, 101.5)
    world.look()
    assert (world.state("red"), world.state("blue")) == ("down", "down")
    # A packet in any VRF is one of that edge; and it may send few.
    world.arrivals = Arrivals(101.5, 102.5, frozenset({str(RED)}))
    world.look()
    assert (world.state("red"), world.state("blue")) == ("degraded", "degraded")
    world.arrivals = Arrivals(102.5, 103.5)
    world.look()
    assert (world.state("red"), world.state("blue")) == ("degraded", "degraded")
    world.silent_neighbors = {PE2: Silence(104.0)}
    world.look()
    world.arrivals = Arrivals(104.1, 105.1)
    world.look()
    assert (world.state("red"), world.state("blue")) == ("down", "down")
    world.silent_neighbors = {}
    world.look()
    assert (world.state("red"), world.types()) == ("up", [])
    # While nobody is silent, a new sample is no reason to judge.
    looked, world.arrivals = world.reads, Arrivals(105.1, 106.1)
    world.look()
    assert world.reads == looked


def test_everything_is_read_now_and_then() -> None:
    world = World()
    world.look()
    world.time += 29
    world.look()
    assert world.reads == 1
    world.time += 2
    world.look()
    assert world.reads == 2


def test_what_is_declared_is_judged_at_once() -> None:
    world = World()
    world.look()
    world.desired = replace(DESIRED, vrfs={"red": DESIRED.vrfs["red"]})
    world.look()
    assert [entry["name"] for entry in world.parts[PART]["vrfs"]["vrf"]] == ["red"]


def test_since_when() -> None:
    world = World()
    world.look()
    before = world.parts[PART]["vrfs"]["vrf"][0]["service"]["last-change"]
    world.kernel = replace(KERNEL, links={**KERNEL.links, "blue1": replace(UP, is_up=False)})
    world.is_stale = True
    world.look()
    red, blue = (entry["service"]["last-change"] for entry in world.parts[PART]["vrfs"]["vrf"])
    assert (red, blue > before) == (before, True)
