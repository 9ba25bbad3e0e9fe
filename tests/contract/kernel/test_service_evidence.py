"""What the kernel has of the parts that services need: read once, and again when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest

from lab.waiting import wait_until
from srv6mgrd.kernel.service_evidence import KernelServiceEvidence
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, SegmentList, SteeredRoute, Vrf
from srv6mgrd.service_state.evidence import KernelEvidence, Reachability, RouteCount
from tests.contract.kernel.conftest import Run

pytestmark = pytest.mark.contract

SID, OTHER, STEERED = (IPv6Address(f"fc00:{n}::") for n in (2, 3, 4))
NEIGHBOR = IPv6Address("2001:db8::2")
DESIRED = Desired(
    encapsulation_source=IPv6Address("2001:db8::1"),
    vrfs={"red": Vrf("red", 10), "blue": Vrf("blue", 20)},
    bgp=Bgp(65000, IPv4Address("192.0.2.1"), (Neighbor(str(NEIGHBOR), 65000),)),
    segment_lists={"path": SegmentList("path", (STEERED, SID))},
    routes={"blue": SteeredRoute("blue", IPv4Network("192.0.2.0/24"), "path")},
)

Read = Callable[[], KernelEvidence]


@pytest.fixture
def evidence(run: Run) -> Iterator[KernelServiceEvidence]:
    run(
        "ip link add core type veth peer name far; ip link set core mtu 9000 up; ip link set far up"
    )
    run("ip address add 2001:db8::1/128 dev lo; ip address add fd00::1/64 dev core nodad")
    run("ip link set far up; ip link add site type veth peer name ce; ip link set site up")
    for segment in (SID, OTHER, NEIGHBOR):
        run(f"ip -6 route add {segment}/128 via fd00::2 dev core")
    made = KernelServiceEvidence()
    yield made
    made.close()


def tunnel(prefix: str, segments: str, table: int = 10) -> str:
    encap = f"encap seg6 mode encap segs {segments} dev core"
    return f"ip route add {prefix} {encap} table {table} proto bgp"


def heard(evidence: KernelServiceEvidence) -> KernelEvidence:
    """What is read when the kernel has reported something."""

    def is_stale() -> bool:
        evidence.hear()
        return evidence.is_stale

    wait_until(is_stale, "a notification")
    return evidence.read(DESIRED)


def test_all_of_it(evidence: KernelServiceEvidence, run: Run) -> None:
    run(tunnel("10.1.0.0/24", str(SID)))
    run(tunnel("10.2.0.0/24", f"{SID},{OTHER}"))
    run(f"ip -6 {tunnel('fd01::/64', str(OTHER))[3:]}")
    run("ip route add 10.3.0.0/24 dev core table 10 proto bgp")
    found = evidence.read(DESIRED)
    assert found.tunnels == {"red": {SID: 2, OTHER: 1}, "blue": {STEERED: 1}}
    path = Reachability("", "core", "fd00::2", 9000)
    assert found.reachability[SID] == found.reachability[NEIGHBOR] == path
    assert found.reachability[STEERED].failure.startswith("no route (")
    assert IPv6Address("2001:db8::1") in found.addresses
    core, site = found.links["core"], found.links["site"]
    assert (core.is_up, core.has_carrier, core.mtu) == (True, True, 9000)
    assert (site.is_up, site.has_carrier, site.mtu) == (True, False, 1500)
    assert not evidence.is_stale


def test_nexthop_objects_and_several_paths(evidence: KernelServiceEvidence, run: Run) -> None:
    run(f"ip nexthop add id 1 encap seg6 mode encap segs {SID} via fd00::2 dev core")
    run(f"ip nexthop add id 2 encap seg6 mode encap segs {OTHER} via fd00::2 dev core")
    run("ip nexthop add id 3 group 1/2")
    run("ip -6 route add fd01::/64 nhid 1 table 10 proto bgp")
    run("ip -6 route add fd02::/64 nhid 3 table 10 proto bgp")
    one, two = (f"nexthop encap seg6 mode encap segs {sid} dev core" for sid in (SID, OTHER))
    run(f"ip route add 10.1.0.0/24 table 10 proto bgp {one} {two}")
    assert evidence.read(DESIRED).tunnels["red"] == {SID: 3, OTHER: 2}


def test_routes_go_with_the_carrier_without_a_notification(
    evidence: KernelServiceEvidence, run: Run
) -> None:
    desired = replace(DESIRED, vrfs={"red": Vrf("red", 10, bgp=VrfBgp("65000:1", (), ()))})
    run("ip nexthop add id 1 via fd00::2 dev core")
    run("ip -6 route add fd01::/64 nhid 1 table 10 proto bgp")
    run("ip route add 10.3.0.0/24 nhid 1 table 10 proto bgp")
    run(tunnel("10.1.0.0/24", str(SID)))
    assert evidence.read(desired).bgp_routes == {"red": RouteCount(2, 1)}
    run("ip link set far down")
    wait_until(lambda: run("ip -6 route show table 10 proto bgp") == "", "a flush")
    evidence.hear()
    assert evidence.read(desired).bgp_routes == {"red": RouteCount(1, 0)}


def test_routes_come_and_go(evidence: KernelServiceEvidence, run: Run) -> None:
    evidence.read(DESIRED)
    run(tunnel("10.1.0.0/24", str(SID)))
    assert heard(evidence).tunnels["red"] == {SID: 1}
    run(tunnel("10.1.0.0/24", str(OTHER), table=20))
    found = heard(evidence)
    assert (found.tunnels["red"], found.tunnels["blue"]) == ({SID: 1}, {OTHER: 1, STEERED: 1})
    run("ip route del 10.1.0.0/24 table 10")
    assert "red" not in heard(evidence).tunnels


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        (f"ip -6 route del {SID}/128", "no route (Network is unreachable)"),
        (f"ip -6 route add unreachable {SID}/128 metric 1", "no route (No route to host)"),
        (f"ip -6 route add blackhole {SID}/128 metric 1", "no route (Invalid argument)"),
        (f"ip -6 rule add pref 9 to {SID} unreachable", "no route (Network is unreachable)"),
    ],
)
def test_the_route_to_a_sid_goes(
    evidence: KernelServiceEvidence, run: Run, change: str, failure: str
) -> None:
    run(tunnel("10.1.0.0/24", str(SID)))
    assert evidence.read(DESIRED).reachability[SID].failure == ""
    run(change)
    assert heard(evidence).reachability[SID].failure == failure


def test_an_address_of_an_interface_that_is_down_is_none(
    evidence: KernelServiceEvidence, run: Run
) -> None:
    """It stays with ``keep_addr_on_down``, and one of ``lo`` without."""
    address = IPv6Address("2001:db8::1")
    assert address in evidence.read(DESIRED).addresses
    run("sysctl -qw net.ipv6.conf.lo.keep_addr_on_down=1; ip link set lo down")
    assert address not in heard(evidence).addresses
    run("ip link set lo up")
    assert address in heard(evidence).addresses


def test_links_addresses_and_path_mtus(evidence: KernelServiceEvidence, run: Run) -> None:
    run(tunnel("10.1.0.0/24", str(SID)))
    evidence.read(DESIRED)
    run(f"ip -6 route replace {SID}/128 via fd00::2 dev core mtu 1400")
    assert heard(evidence).reachability[SID].mtu == 1400
    run("ip link set core mtu 1300")
    found = heard(evidence)
    assert (found.links["core"].mtu, found.reachability[SID].mtu) == (1300, 1300)
    run("ip address del 2001:db8::1/128 dev lo")
    assert IPv6Address("2001:db8::1") not in heard(evidence).addresses
    run("ip link set far down")

    def has_carrier() -> bool:
        evidence.hear()
        return evidence.read(DESIRED).links["core"].has_carrier

    wait_until(lambda: not has_carrier(), "no carrier")


def test_a_neighbor_that_does_not_answer(evidence: KernelServiceEvidence, run: Run) -> None:
    assert evidence.read(DESIRED).unanswered == frozenset()
    run("sysctl -qw net.ipv6.neigh.core.mcast_solicit=1 net.ipv6.neigh.core.retrans_time_ms=10")
    run("ping -6 -c1 -W1 fd00::2 || true")
    assert heard(evidence).unanswered == {("core", ip_address("fd00::2"))}
    run("ip neigh replace fd00::2 lladdr 02:00:00:00:00:02 dev core")
    assert heard(evidence).unanswered == frozenset()


def test_what_concerns_nobody_is_not_heard(evidence: KernelServiceEvidence, run: Run) -> None:
    evidence.read(DESIRED)
    run("ip -6 route add fd09::/64 dev core table 77; ip route add 10.9.0.0/24 dev core table 77")
    evidence.hear()
    assert not evidence.is_stale
