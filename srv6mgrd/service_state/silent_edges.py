"""Neighbors that have fallen silent, and VRFs whose other sites are all behind such edges.

A neighbor that answers no echo may have begun to filter them. So a VRF is taken to be down only if
nothing arrives from these edges either, and the way to a locator is lost as that to the usual
address is; and a session that outlives its hold time has a neighbor
that is well (RFC 4271 section 6.5).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.service_state.evidence import SPEAKER, Evidence
from srv6mgrd.service_state.scope import Scope, expected

# Of FRR, in seconds; a neighbor may ask for less. And what a timer may be late.
_HOLD_TIME, _LATE = 180, 5


def silent_neighbors(scope: Scope, evidence: Evidence) -> frozenset[IPv6Address]:
    """Those that have not outlived their hold time."""
    if evidence.arrivals is None or evidence.bgp is None or scope.desired.bgp is None:
        return frozenset(evidence.silent_neighbors)
    now, found = evidence.arrivals.until, set(evidence.silent_neighbors)
    for neighbor in expected(scope.desired.bgp.neighbors):
        session = evidence.bgp.sessions.get((SPEAKER, neighbor.address))
        hold_time = max(neighbor.hold_time or 0, _HOLD_TIME) + _LATE
        if session is not None and session.is_established and ":" in neighbor.address:
            address = IPv6Address(neighbor.address)
            silence = evidence.silent_neighbors.get(address)
            if silence is not None and now - silence.since > hold_time:
                found.discard(address)
    return frozenset(found)


def without_others(
    scope: Scope, evidence: Evidence, silent: Collection[IPv6Address]
) -> frozenset[str]:
    """VRFs that have no other edge than silent ones. A route reflector is the next hop of no
    route."""
    kernel, bgp, arrivals = evidence.kernel, evidence.bgp, evidence.arrivals
    silences = {n: evidence.silent_neighbors[n] for n in silent}
    gone = {n: silence.since for n, silence in silences.items() if silence.is_whole}
    if kernel is None or bgp is None or arrivals is None or not gone:
        return frozenset()
    # A sample that began before has packets that were on their way.
    if arrivals.since < max(gone.values()):
        return frozenset()
    by_node = _next_hops_of_nodes(scope, bgp.next_hops)
    names = frozenset(map(str, gone))
    edges: dict[str, frozenset[str]] = {}
    for vrf in scope.vpn:
        found = [
            by_node.get(scope.node_of(sid), frozenset()) for sid in kernel.tunnels.get(vrf, ())
        ]
        if found and all(hops and hops <= names for hops in found):
            edges[vrf] = frozenset().union(*found)
    # Which of its edges a packet of a VRF came from is not known.
    heard = frozenset().union(
        *(
            edges[vrf]
            for vrf in edges
            if any(str(sid) in arrivals.sids for sid in scope.sids_of(vrf))
        )
    )
    return frozenset(vrf for vrf, hops in edges.items() if not hops & heard)


def _next_hops_of_nodes(
    scope: Scope, by_sid: Mapping[IPv6Address, frozenset[str]]
) -> Mapping[IPv6Network, frozenset[str]]:
    """Those of one VRF's SID are those of all SIDs of the node."""
    found: dict[IPv6Network, frozenset[str]] = {}
    for sid, hops in by_sid.items():
        node = scope.node_of(sid)
        found[node] = found.get(node, frozenset()) | hops
    return found
