"""A healthy edge with two VRFs, which tests spoil in one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Any

from srv6mgrd.frr.neighbors import peer
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Role, Sid, Vrf
from srv6mgrd.model.path_measurement import PathMeasurement, Session
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.evidence import (
    SPEAKER,
    BgpEvidence,
    BgpSession,
    Evidence,
    KernelEvidence,
    LinkEvidence,
    PathEvidence,
    Reachability,
    ReturnPath,
    RouteCount,
)
from srv6mgrd.service_state.finding import Finding
from srv6mgrd.service_state.judge import Judgement, findings, judge
from srv6mgrd.service_state.scope import Scope

SOURCE = IPv6Address("2001:db8::1")
PE2, PE3 = IPv6Address("2001:db8::2"), IPv6Address("2001:db8::3")
RED, BLUE = IPv6Network("fcbb:0:1:64::/64"), IPv6Network("fcbb:0:1:c8::/64")
CROSS = IPv6Network("fcbb:0:1:1::/64")
REMOTE_RED, REMOTE_BLUE = IPv6Address("fcbb:0:2:64::"), IPv6Address("fcbb:0:2:c8::")
# Read in one VRF: the other one's SID is of the same node.
BOTH_OF_PE2 = {REMOTE_RED: frozenset({str(PE2)})}
NEXT_HOP = IPv4Address("10.9.0.2")
UP = LinkEvidence(is_up=True, has_carrier=True, mtu=1500)
CORE = replace(UP, mtu=9000)
ESTABLISHED, ACTIVE = BgpSession("Established", True), BgpSession("Active", True)
CUSTOMER = Neighbor("10.1.0.10", 65100)


def vrf(name: str, table: int, sid: IPv6Network, *ports: str) -> Vrf:
    rd = f"65000:{table}"
    return Vrf(name, table, ports, VrfBgp(rd, (rd,), (rd,), sid, neighbors=(CUSTOMER,)))


DESIRED = Desired(
    encapsulation_source=SOURCE,
    locators={"MAIN": Locator("MAIN", IPv6Network("fcbb:0:1::/48"))},
    roles={"core1": Role.CORE, "core2": Role.CORE},
    vrfs={"red": vrf("red", 10, RED, "red1", "red2"), "blue": vrf("blue", 20, BLUE, "blue1")},
    sids={
        RED: Sid(RED, "MAIN", Behavior.END_DT46, "red"),
        BLUE: Sid(BLUE, "MAIN", Behavior.END_DT46, "blue"),
        CROSS: Sid(CROSS, "MAIN", Behavior.END_DX4, next_hop=NEXT_HOP, interface="cross"),
    },
    bgp=Bgp(
        65000,
        IPv4Address("192.0.2.1"),
        tuple(Neighbor(f"2001:db8::{n}", 65000, str(SOURCE)) for n in (2, 3)),
    ),
    path_measurement=PathMeasurement(
        sessions={"to-pe2": Session("to-pe2", IPv6Address("2001:db8::2"))}
    ),
)
BGP = BgpEvidence(
    sessions={
        (SPEAKER, "2001:db8::2"): ESTABLISHED,
        (SPEAKER, "2001:db8::3"): ESTABLISHED,
        ("red", CUSTOMER.address): ESTABLISHED,
        ("blue", CUSTOMER.address): ESTABLISHED,
    },
    exports={"red": "", "blue": ""},
    routes={"red": RouteCount(2, 1), "blue": RouteCount(0, 1)},
)
KERNEL = KernelEvidence(
    links={
        "core1": CORE, "core2": CORE, "red1": UP, "red2": UP, "blue1": UP, "cross": UP, "lo": UP,
    },
    addresses=frozenset({SOURCE}),
    tunnels={"red": {REMOTE_RED: 3}, "blue": {REMOTE_BLUE: 1}},
    reachability={
        REMOTE_RED: Reachability("", "core1", "2001:db8:1::2", 9000),
        REMOTE_BLUE: Reachability("", "core2", "2001:db8:2::2", 9000),
    },
    bgp_routes={"red": RouteCount(2, 1), "blue": RouteCount(0, 2)},
)  # fmt: skip
HEALTHY = Evidence(BGP, KERNEL, paths={"to-pe2": PathEvidence("up")})


def with_sessions(**states: BgpSession) -> Evidence:
    """Names are ``pe2``, ``pe3``, ``red`` and ``blue``."""
    keys = {"pe2": (SPEAKER, "2001:db8::2"), "pe3": (SPEAKER, "2001:db8::3")}
    keys |= {name: (name, CUSTOMER.address) for name in ("red", "blue")}
    changed = {keys[name]: state for name, state in states.items()}
    return replace(HEALTHY, bgp=replace(BGP, sessions={**BGP.sessions, **changed}))


def lost_from(*neighbors: int) -> frozenset[ReturnPath]:
    """No way back to the locator from neighbors 2001:db8::N."""
    return frozenset(ReturnPath(IPv6Address(f"2001:db8::{n}"), "MAIN") for n in neighbors)


def with_links(**links: LinkEvidence | None) -> Evidence:
    changed = {**KERNEL.links, **links}
    found = {name: link for name, link in changed.items() if link is not None}
    return with_kernel(links=found)


def with_kernel(**members: Any) -> Evidence:
    return replace(HEALTHY, kernel=replace(KERNEL, **members))


def with_reachability(**found: Reachability) -> Evidence:
    keys = {"red": REMOTE_RED, "blue": REMOTE_BLUE}
    changed = {keys[name]: one for name, one in found.items()}
    return with_kernel(reachability={**KERNEL.reachability, **changed})


def found_in(evidence: Evidence, desired: Desired = DESIRED) -> list[Finding]:
    return list(findings(Scope.of(desired), evidence, peer))


def judged(evidence: Evidence, desired: Desired = DESIRED) -> Judgement:
    return judge(Scope.of(desired), evidence, found_in(evidence, desired))


def states(evidence: Evidence, desired: Desired = DESIRED) -> Mapping[str, str]:
    """State of each VRF, and of each SID that is not up, in words."""
    found = judged(evidence, desired)
    sids = {str(prefix): verdict.state.text for prefix, verdict in found.sids.items()}
    vrfs = {name: verdict.state.text for name, verdict in found.vrfs.items()}
    up = ServiceState.UP.text
    return {name: state for name, state in {**vrfs, **sids}.items() if state != up}
