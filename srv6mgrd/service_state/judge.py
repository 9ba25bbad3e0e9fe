"""From evidence to findings, and from findings to the state of each service."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Network

from srv6mgrd.model.condition import Condition
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state import (
    attachments,
    bgp_sessions,
    core,
    measured_paths,
    objects,
    remote_sids,
    return_paths,
    silent_edges,
    vpn_routes,
)
from srv6mgrd.service_state.bgp_sessions import PeerName
from srv6mgrd.service_state.evidence import Evidence
from srv6mgrd.service_state.finding import FIRST_CONTACT, Finding
from srv6mgrd.service_state.scope import Scope


@dataclass(frozen=True, slots=True)
class Verdict:
    """State of a service, and the conditions that it is due to, the worst first. ``remote_sids``:
    how many SIDs of other routers the routes of a VRF lead to."""

    state: ServiceState = ServiceState.UP
    conditions: tuple[Condition, ...] = ()
    remote_sids: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """``vrfs`` are all that are declared, ``sids`` those that are not up. ``conditions`` are all
    that exist, with those that affect no service."""

    vrfs: Mapping[str, Verdict] = field(default_factory=dict)
    sids: Mapping[IPv6Network, Verdict] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


def findings(scope: Scope, evidence: Evidence, peer: PeerName) -> Iterator[Finding]:
    """All that is wrong. ``peer`` names a neighbor as FRR does."""
    bgp, kernel = evidence.bgp, evidence.kernel
    yield from objects.objects(scope, evidence.not_installed)
    if bgp is not None:
        yield from bgp_sessions.daemon(scope, bgp, kernel)
        yield from bgp_sessions.sessions(scope, bgp, kernel, peer)
        yield from vpn_routes.exported(scope, bgp)
        yield from vpn_routes.unresolved(scope, bgp, kernel)
        yield from remote_sids.unresolved(scope, bgp, kernel)
    if kernel is not None:
        yield from vpn_routes.next_hop_of_sessions(scope, kernel)
        yield from core.interfaces(scope, kernel)
        yield from remote_sids.unreachable(scope, kernel)
        yield from core.mtus(scope, kernel)
        yield from attachments.vrf_interfaces(scope, kernel)
        yield from attachments.next_hops(scope, kernel)
    if bgp is not None and kernel is not None:
        yield from vpn_routes.not_in_kernel(scope, bgp, kernel)
        silent = silent_edges.silent_neighbors(scope, evidence)
        lost = silent_edges.without_others(scope, evidence, silent)
        yield from bgp_sessions.unreachable(scope, bgp, kernel, silent, lost)
    yield from measured_paths.measured_paths(scope, evidence.paths)
    yield from return_paths.return_paths(scope, evidence.lost_return_paths)


def judge(
    scope: Scope, evidence: Evidence, found: Collection[Finding], held: Collection[Finding] = ()
) -> Judgement:
    """``held`` are findings that do not count yet: a service that one of them keeps from its first
    contact with the others is not known to be up."""
    unknown = set(_unknown(scope, evidence))
    for finding in held:
        if finding.hold >= FIRST_CONTACT:
            unknown.update(finding.vrfs)
    by_vrf: dict[str, list[tuple[ServiceState, Condition]]] = {}
    by_sid: dict[IPv6Network, list[tuple[ServiceState, Condition]]] = {}
    conditions: list[Condition] = []
    for finding in found:
        condition = finding.condition
        conditions.append(condition)
        for vrf, state in finding.vrfs.items():
            by_vrf.setdefault(vrf, []).append((state, condition))
        for sid, state in finding.sids.items():
            by_sid.setdefault(sid, []).append((state, condition))
    least = {
        v: ServiceState.UNKNOWN if v in unknown else ServiceState.UP for v in scope.desired.vrfs
    }
    tunnels = evidence.kernel.tunnels if evidence.kernel is not None else {}
    return Judgement(
        {
            vrf: _verdict(by_vrf.get(vrf, ()), state, len(tunnels.get(vrf, ())))
            for vrf, state in least.items()
        },
        {sid: _verdict(reasons, ServiceState.UP) for sid, reasons in by_sid.items()},
        tuple(conditions),
    )


def _unknown(scope: Scope, evidence: Evidence) -> Iterator[str]:
    """VRFs of which nothing has been read yet."""
    if evidence.kernel is None:
        yield from scope.desired.vrfs
    if evidence.bgp is None:
        yield from scope.vpn


def _verdict(
    reasons: Collection[tuple[ServiceState, Condition]], least: ServiceState, remote_sids: int = 0
) -> Verdict:
    if not reasons:
        return Verdict(least, (), remote_sids)
    ranked = sorted(reasons, key=lambda reason: (-reason[0], -reason[1].severity, reason[1].key))
    worst = max(least, ranked[0][0])
    return Verdict(worst, tuple(condition for _, condition in ranked), remote_sids)
