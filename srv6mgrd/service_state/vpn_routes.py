"""VPN routes: exported as declared, and imported with next hops that bgpd can resolve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from srv6mgrd.model import names
from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import bgp_path, vrf_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.core import is_cut_off
from srv6mgrd.service_state.evidence import BgpEvidence, KernelEvidence, UnresolvedNextHop
from srv6mgrd.service_state.finding import COMMIT, CONVERGENCE, Finding
from srv6mgrd.service_state.remote_sids import counted, is_sid, left
from srv6mgrd.service_state.scope import Scope, expected

# VRFs that a cause names.
_SHOWN = 3


def exported(scope: Scope, bgp: BgpEvidence) -> Iterator[Finding]:
    for vrf in scope.exporters:
        if problem := bgp.exports.get(vrf.name, ""):
            yield Finding(
                ConditionType.EXPORT_INCOMPLETE,
                bgp_path(vrf.name),
                problem,
                "srv6mgrd tries on; if it lasts: srv6ctl reconcile, and the logs of bgpd and zebra",
                {vrf.name: ServiceState.DOWN},
                hold=COMMIT,
            )


def next_hop_of_sessions(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """Routes are announced with the address that a session is bound to. Peers hold them invalid
    when it has gone."""
    bgp = scope.desired.bgp
    if bgp is None:
        return
    sources = Counter(
        n.update_source for n in expected(bgp.neighbors) if _is_address(n.update_source)
    )
    for source, count in sources.items():
        if source is None or ip_address(source) in kernel.addresses:
            continue
        some = count < len(expected(bgp.neighbors))
        state = ServiceState.DEGRADED if some else ServiceState.DOWN
        yield Finding(
            ConditionType.BGP_NEXT_HOP_LOST,
            bgp_path(None),
            f"{source}, which BGP sessions are bound to and routes are announced with, is on no"
            " interface of this router that is up: other routers hold the routes invalid",
            f"ip link set lo up; ip address add {source}/128 dev lo; srv6mgrd then resets the"
            " sessions that need it",
            dict.fromkeys(scope.vpn, state),
            hold=CONVERGENCE,
            is_shared=True,
        )


def unresolved(scope: Scope, bgp: BgpEvidence, kernel: KernelEvidence | None) -> Iterator[Finding]:
    """Imported routes are not used while bgpd knows no route to their next hop."""
    by_resource: dict[str, list[UnresolvedNextHop]] = {}
    for hop in bgp.unresolved:
        if not is_sid(scope.desired, hop.address):
            by_resource.setdefault(_resource(scope.desired, hop.address), []).append(hop)
    for resource, hops in by_resource.items():
        routes: Counter[str] = Counter()
        for hop in hops:
            routes.update({v: n for v, n in hop.routes.items() if v in scope.desired.vrfs})
        if not routes:
            continue
        addresses = ", ".join(hop.address for hop in hops[:_SHOWN])
        yield Finding(
            ConditionType.ROUTE_UNRESOLVED,
            resource,
            f"bgpd has no route to next hop {addresses} of {_routes(routes)}",
            f"ip -6 route get {hops[0].address}; where it is no address of another edge, clear the"
            " session on the router that announces it",
            {vrf: left(vrf, kernel) for vrf in routes},
            hold=CONVERGENCE,
        )


def not_in_kernel(scope: Scope, bgp: BgpEvidence, kernel: KernelEvidence) -> Iterator[Finding]:
    """When an interface loses its carrier, the kernel flushes the routes through it without a
    notification, and zebra 10.3 does not install those of VRFs again (FRR issue 23295). It is
    held until zebra has counted once more."""
    if is_cut_off(scope, kernel):
        return
    for vrf, routes in bgp.routes.items():
        if vrf not in kernel.bgp_routes or not (missing := routes - kernel.bgp_routes[vrf]):
            continue
        yield Finding(
            ConditionType.ROUTE_NOT_IN_KERNEL,
            vrf_path(vrf),
            f"the kernel lacks {missing.ipv4} of {routes.ipv4} IPv4 and {missing.ipv6} of"
            f" {routes.ipv6} IPv6 routes that zebra has of BGP",
            "srv6mgrd has zebra install them again; if it lasts: vtysh -c 'clear bgp *'",
            {vrf: left(vrf, kernel)},
            hold=COMMIT,
        )


def _resource(desired: Desired, next_hop: str) -> str:
    for neighbor in desired.bgp.neighbors if desired.bgp is not None else ():
        if neighbor.address == next_hop:
            return f"{bgp_path(None)}/{neighbor.step}"
    return bgp_path(None)


def _routes(by_vrf: Mapping[str, int]) -> str:
    return f"{counted(by_vrf.values())} (VRF {names.some(sorted(by_vrf), _SHOWN)})"


def _is_address(text: str | None) -> bool:
    try:
        return text is not None and bool(ip_address(text))
    except ValueError:
        return False
