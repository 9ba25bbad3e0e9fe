"""One thing is wrong: what it is called, how bad it is, and which services have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from typing import Any

import pytest

from srv6mgrd.model.arrivals import Arrivals
from srv6mgrd.model.bgp import PeerKind
from srv6mgrd.model.desired import Desired, Role
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.service_state.evidence import (
    BgpEvidence,
    BgpSession,
    Evidence,
    PathEvidence,
    Reachability,
    RouteCount,
    Silence,
    UnresolvedNextHop,
)
from tests.unit.service_state.samples import (
    ACTIVE,
    BGP,
    BLUE,
    BOTH_OF_PE2,
    CORE,
    CROSS,
    DESIRED,
    HEALTHY,
    KERNEL,
    NEXT_HOP,
    PE2,
    PE3,
    RED,
    REMOTE_BLUE,
    REMOTE_RED,
    UP,
    found_in,
    judged,
    lost_from,
    states,
    vrf,
    with_kernel,
    with_links,
    with_reachability,
    with_sessions,
)

DOWN = replace(UP, is_up=False, has_carrier=False)
DARK = replace(UP, has_carrier=False)
SILENT = {PE2: Silence(100.0)}
SINCE_THEN = Arrivals(100.1, 101.1)
OTHER = IPv6Address("fcbb:0:3:64::")
NO_ROUTE = Reachability("no route (Network is unreachable)")
BOTH_DOWN = {"red": "down", "blue": "down"}
BOTH_DEGRADED = {"red": "degraded", "blue": "degraded"}


def with_bgp(**members: Any) -> Evidence:
    return replace(HEALTHY, bgp=replace(BGP, **members))


def not_installed(kind: Kind, name: str, status: InstallStatus) -> Evidence:
    return replace(HEALTHY, not_installed={ObjectRef(kind, name): ObjectStatus(status, "why")})


def silent(evidence: Evidence) -> Evidence:
    """The same, when the kernel has no routes to other sites."""
    assert evidence.kernel is not None
    return replace(evidence, kernel=replace(evidence.kernel, tunnels={}))


BROKEN: Mapping[str, tuple[Evidence, str, str, Mapping[str, str]]] = {
    "one of two sessions": (
        with_sessions(pe2=ACTIVE), "bgp-session-down", "minor", BOTH_DEGRADED,
    ),
    "all sessions": (
        silent(with_sessions(pe2=ACTIVE, pe3=ACTIVE)), "bgp-session-down", "critical", BOTH_DOWN,
    ),
    "all sessions, routes are kept": (
        with_sessions(pe2=ACTIVE, pe3=ACTIVE), "bgp-session-down", "minor", BOTH_DEGRADED,
    ),
    "the session with a customer": (
        with_sessions(red=ACTIVE), "bgp-session-down", "major", {"red": "down"},
    ),
    "bgpd": (
        silent(replace(HEALTHY, bgp=BgpEvidence("bgpd can't be reached"))),
        "routing-daemon-down", "critical", BOTH_DOWN,
    ),
    "an export": (
        with_bgp(exports={"red": "zebra has not given SID to bgpd yet", "blue": ""}),
        "export-incomplete", "major", {"red": "down"},
    ),
    "the next hop of some imported routes": (
        with_bgp(unresolved=(UnresolvedNextHop("2001:db8::2", {"red": 3}),)),
        "route-unresolved", "minor", {"red": "degraded"},
    ),
    "the next hop of all imported routes": (
        silent(with_bgp(unresolved=(UnresolvedNextHop("2001:db8::2", {"red": 3}),))),
        "route-unresolved", "major", {"red": "down"},
    ),
    "the SID of all imported routes, which FRR resolves": (
        silent(with_bgp(unresolved=(UnresolvedNextHop(str(REMOTE_RED), {"red": 3}),))),
        "remote-sid-unreachable", "major", {"red": "down"},
    ),
    "some imported routes in the kernel": (
        with_bgp(routes={"red": RouteCount(3, 1), "foreign": RouteCount(1, 1)}),
        "route-not-in-kernel", "minor", {"red": "degraded"},
    ),
    "all imported routes in the kernel": (
        silent(with_bgp(routes={"red": RouteCount(2, 2)})),
        "route-not-in-kernel", "major", {"red": "down"},
    ),
    "the route to a neighbor": (
        with_kernel(
            reachability={**KERNEL.reachability, IPv6Address("2001:db8::2"): NO_ROUTE}
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "a neighbor that was heard": (
        replace(HEALTHY, silent_neighbors=SILENT), "bgp-neighbor-unreachable", "minor",
        BOTH_DEGRADED,
    ),
    "the edge of all imported routes": (
        replace(
            with_bgp(next_hops=BOTH_OF_PE2), silent_neighbors=SILENT, arrivals=SINCE_THEN
        ),
        "bgp-neighbor-unreachable", "critical", BOTH_DOWN,
    ),
    "the edge of all imported routes, before a sample says whether packets arrive": (
        replace(
            with_bgp(next_hops=BOTH_OF_PE2), silent_neighbors=SILENT,
            arrivals=Arrivals(99.9, 100.9),
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "the echoes of the edge of all imported routes": (
        replace(
            with_bgp(next_hops=BOTH_OF_PE2), silent_neighbors=SILENT,
            arrivals=replace(SINCE_THEN, sids=frozenset({str(RED)})),
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "the usual address of the edge, which answers to a locator": (
        replace(
            with_bgp(next_hops=BOTH_OF_PE2),
            silent_neighbors={PE2: Silence(100.0, is_whole=False)}, arrivals=SINCE_THEN,
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "the edge of some imported routes": (
        replace(
            with_bgp(next_hops={REMOTE_RED: frozenset({str(PE2)}), OTHER: frozenset({str(PE3)})}),
            kernel=replace(KERNEL, tunnels={"red": {REMOTE_RED: 3, OTHER: 1}, "blue": {OTHER: 1}}),
            silent_neighbors=SILENT, arrivals=SINCE_THEN,
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "a route reflector": (
        replace(
            with_bgp(next_hops={REMOTE_RED: frozenset({str(PE3)})}),
            silent_neighbors=SILENT, arrivals=SINCE_THEN,
        ),
        "bgp-neighbor-unreachable", "minor", BOTH_DEGRADED,
    ),
    "all core interfaces, and so neighbors": (
        replace(with_links(core1=None, core2=DARK), silent_neighbors=SILENT), "core-interface-down",
        "critical", BOTH_DOWN,
    ),
    "a neighbor that was heard, whose session has ended": (
        replace(with_sessions(pe2=ACTIVE), silent_neighbors=SILENT), "bgp-session-down", "minor",
        BOTH_DEGRADED,
    ),
    "bgpd, which hangs": (
        with_bgp(problem="bgpd does not answer; see why", is_silent=True), "routing-daemon-down",
        "minor", BOTH_DEGRADED,
    ),
    "the address of the sessions": (
        with_kernel(addresses=frozenset()), "bgp-next-hop-lost", "critical", BOTH_DOWN,
    ),
    "one of two core interfaces": (
        with_links(core1=replace(CORE, is_up=False)), "core-interface-down", "minor",
        BOTH_DEGRADED,
    ),
    "a core interface that no tunnel uses": (
        with_reachability(red=KERNEL.reachability[REMOTE_BLUE]), "", "", {},
    ),
    "all core interfaces": (
        with_links(core1=None, core2=DARK), "core-interface-down", "critical", BOTH_DOWN,
    ),
    "the route to a remote SID": (
        with_reachability(red=NO_ROUTE), "remote-sid-unreachable", "major", {"red": "down"},
    ),
    "the route to one of two remote SIDs": (
        with_kernel(
            tunnels={"red": {REMOTE_RED: 1, REMOTE_BLUE: 1}},
            reachability={**KERNEL.reachability, REMOTE_RED: NO_ROUTE},
        ),
        "remote-sid-unreachable", "minor", {"red": "degraded"},
    ),
    "the neighbor on one of two paths": (
        with_kernel(unanswered=frozenset({("core1", IPv6Address("2001:db8:1::2"))})),
        "remote-sid-unreachable", "minor", {"red": "degraded"},
    ),
    "a core MTU below that of customers": (
        with_reachability(red=Reachability("", "core1", "", 1400)), "core-mtu-too-small",
        "minor", {"red": "degraded"},
    ),
    "a core MTU without room for the outer headers": (
        with_reachability(red=Reachability("", "core1", "", 1563)), "core-mtu-too-small",
        "warning", {},
    ),
    "one of two interfaces of a VRF": (
        with_links(red1=DOWN), "vrf-interface-down", "minor",
        {"red": "degraded", str(RED): "degraded"},
    ),
    "the interface of a VRF": (
        with_links(blue1=DARK), "vrf-interface-down", "major",
        {"blue": "down", str(BLUE): "down"},
    ),
    "the interface of a SID": (
        with_links(cross=None), "next-hop-unreachable", "major", {str(CROSS): "down"},
    ),
    "the next hop of a SID": (
        with_kernel(unanswered=frozenset({("cross", NEXT_HOP)})), "next-hop-unreachable",
        "major", {str(CROSS): "down"},
    ),
    "a SID": (
        not_installed(Kind.SID, str(RED), InstallStatus.FAILED), "not-installed", "major",
        {"red": "down", str(RED): "down"},
    ),
    "a VRF": (
        not_installed(Kind.VRF, "blue", InstallStatus.DRIFTED), "not-installed", "major",
        {"blue": "down"},
    ),
    "the locator": (
        not_installed(Kind.LOCATOR, "MAIN", InstallStatus.FAILED), "not-installed", "critical",
        BOTH_DOWN,
    ),
    "something of the locator that may concern none of its SIDs": (
        not_installed(Kind.LOCATOR, "MAIN", InstallStatus.DRIFTED),
        "not-installed",
        "minor",
        BOTH_DEGRADED,
    ),
    "a static route": (
        not_installed(Kind.STATIC_ROUTE, "red 192.0.2.0/24", InstallStatus.PENDING),
        "not-installed", "minor", {"red": "degraded"},
    ),
    "a measured path": (
        replace(HEALTHY, paths={"to-pe2": PathEvidence("down", "no answer")}), "path-down",
        "minor", BOTH_DEGRADED,
    ),
    "a measured path's thresholds": (
        replace(HEALTHY, paths={"to-pe2": PathEvidence("degraded", "loss 3%")}),
        "path-degraded", "minor", BOTH_DEGRADED,
    ),
    "the way back from all neighbors": (
        replace(HEALTHY, lost_return_paths=lost_from(2, 3)),
        "locator-unreachable", "critical", BOTH_DOWN,
    ),
    "the way back from one of two neighbors": (
        replace(HEALTHY, lost_return_paths=lost_from(3)),
        "locator-unreachable", "minor", BOTH_DEGRADED,
    ),
}  # fmt: skip


def test_nothing_is_wrong_with_a_healthy_edge() -> None:
    assert found_in(HEALTHY) == []
    assert states(HEALTHY) == {}


@pytest.mark.parametrize("what", BROKEN)
def test_broken(what: str) -> None:
    evidence, kind, severity, affected = BROKEN[what]
    conditions = judged(evidence).conditions
    assert {(c.type, c.severity.text) for c in conditions} == (
        {(kind, severity)} if kind else set()
    )
    assert all(c.cause and c.remedy and c.resource.startswith("/srv6mgr-srv6:") for c in conditions)
    assert states(evidence) == affected


def test_the_worst_condition_comes_first() -> None:
    evidence = with_links(core1=DARK, red1=DOWN, red2=DOWN)
    verdict = judged(evidence).vrfs["red"]
    assert verdict.state.text == "down"
    assert [c.type.value for c in verdict.conditions] == [
        "vrf-interface-down",
        "vrf-interface-down",
        "core-interface-down",
    ]


def test_what_is_not_known_yet_is_not_up() -> None:
    unknown = {"red": "unknown", "blue": "unknown"}
    assert states(Evidence()) == unknown
    assert states(replace(HEALTHY, bgp=None)) == unknown
    assert states(replace(HEALTHY, kernel=None)) == unknown


def off(name: str) -> Desired:
    return replace(DESIRED, interfaces={name: Interface(name, enabled=False)})


def with_neighbors(**members: Any) -> Desired:
    assert DESIRED.bgp is not None
    first, *others = DESIRED.bgp.neighbors
    changed = replace(first, **members)
    return replace(DESIRED, bgp=replace(DESIRED.bgp, neighbors=(changed, *others)))


QUIET: Mapping[str, tuple[Desired, Evidence]] = {
    "an interface to the core is declared to be down": (
        off("core1"),
        replace(
            with_links(core1=DOWN),
            kernel=replace(
                KERNEL,
                links={**KERNEL.links, "core1": DOWN},
                reachability=dict.fromkeys(
                    KERNEL.reachability, KERNEL.reachability[REMOTE_BLUE]
                ),
            ),
        ),
    ),
    "an interface of a VRF is declared to be down": (off("red1"), with_links(red1=DOWN)),
    "the interface of a SID is declared to be down": (off("cross"), with_links(cross=DOWN)),
    "a session is declared to be down": (
        with_neighbors(enabled=False), with_sessions(pe2=ACTIVE),
    ),
    "who connects by itself is away": (
        with_neighbors(kind=PeerKind.DYNAMIC), with_sessions(pe2=ACTIVE),
    ),
    "a VRF has no routes of other sites yet": (DESIRED, silent(HEALTHY)),
    "a neighbor filters echoes, and its session outlives the hold time": (
        DESIRED,
        replace(HEALTHY, silent_neighbors=SILENT, arrivals=Arrivals(101.0, 286.0)),
    ),
    "a core interface is a loopback": (
        replace(
            DESIRED,
            roles={**DESIRED.roles, "dummy0": Role.CORE},
            interfaces={"dummy0": Interface("dummy0", loopback=True)},
        ),
        HEALTHY,
    ),
    "a foreign VRF has routes": (
        DESIRED, with_kernel(tunnels={**KERNEL.tunnels, "green": {REMOTE_RED: 1}}),
    ),
    "a session has routes of an undeclared VRF": (
        DESIRED, with_bgp(unresolved=(UnresolvedNextHop("2001:db8::2", {"green": 3}),)),
    ),
    "the core has just enough room": (
        DESIRED, with_reachability(red=Reachability("", "core1", "", 1564)),
    ),
    "nothing is declared": (Desired(), HEALTHY),
}  # fmt: skip


@pytest.mark.parametrize("what", QUIET)
def test_no_false_alarm(what: str) -> None:
    desired, evidence = QUIET[what]
    assert found_in(evidence, desired) == []
    assert states(evidence, desired) == {}


def test_a_session_that_was_never_up_has_time() -> None:
    evidence = silent(
        with_sessions(pe2=BgpSession("Connect"), pe3=BgpSession("Active", was_established=True))
    )
    first, second = found_in(evidence)
    assert first.hold > second.hold


def test_many_sids_have_one_condition() -> None:
    sids = [IPv6Network((int(RED.network_address) + (n << 64), 64)) for n in range(1000)]
    failed = ObjectStatus(InstallStatus.FAILED, "no memory")
    evidence = replace(
        HEALTHY, not_installed={ObjectRef(Kind.SID, str(sid)): failed for sid in sids}
    )
    (condition,) = judged(evidence).conditions
    assert condition.resource == "/srv6mgr-srv6:srv6/local-sids"
    assert condition.cause == "1000 SIDs is failed: no memory"
    assert len(judged(evidence).sids) == 1000


def test_many_vrfs_without_a_remote_sid_have_one_condition() -> None:
    vrfs = {f"v{n}": vrf(f"v{n}", n + 1, RED) for n in range(100)}
    evidence = replace(
        HEALTHY,
        kernel=replace(
            KERNEL,
            tunnels={name: {REMOTE_RED: 2} for name in vrfs},
            reachability={REMOTE_RED: NO_ROUTE},
        ),
    )
    desired = replace(DESIRED, vrfs=vrfs, bgp=None)
    found = [f for f in found_in(evidence, desired) if f.type == "remote-sid-unreachable"]
    (one,) = found
    assert one.resource == "/srv6mgr-srv6:srv6/vrfs"
    assert one.cause.startswith("of 100 VRFs, in VRF v0: packets of 2 imported routes do not get")
    assert set(one.vrfs) == set(vrfs)


@pytest.mark.parametrize(
    ("state", "detail"),
    [
        ("Active", ""),
        ("Idle", ""),
        ("Idle (Admin)", ": it is shut down"),
        ("Idle (PfxCt)", ": it exceeded its prefix limit"),
        ("NoNeg", ": the neighbor does not exchange these routes"),
    ],
)
def test_a_condition_stays_the_same_while_a_session_is_tried_again(state: str, detail: str) -> None:
    (condition,) = judged(with_sessions(red=BgpSession(state, was_established=True))).conditions
    named = "the session with BGP neighbor 10.1.0.10 of VRF red"
    assert condition.cause == f"{named} is not established{detail}"
