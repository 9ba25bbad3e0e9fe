"""BGP sessions: those for VPN routes, and those with customers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from ipaddress import IPv6Address

from srv6mgrd.model import names
from srv6mgrd.model.bgp import Neighbor
from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.paths import bgp_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state import core
from srv6mgrd.service_state.evidence import SPEAKER, BgpEvidence, BgpSession, KernelEvidence
from srv6mgrd.service_state.finding import AT_ONCE, CONVERGENCE, FIRST_CONTACT, Finding
from srv6mgrd.service_state.scope import Scope, expected

_UNKNOWN = BgpSession("not known to bgpd")

# The name of a neighbor in FRR.
PeerName = Callable[[Neighbor], str]


def daemon(scope: Scope, bgp: BgpEvidence, kernel: KernelEvidence | None) -> Iterator[Finding]:
    """bgpd itself, or zebra. Routes that are left in the kernel go on forwarding."""
    if bgp.problem and scope.vpn:
        cause, _, remedy = bgp.problem.partition("; ")
        yield Finding(
            ConditionType.ROUTING_DAEMON_DOWN,
            bgp_path(None),
            cause,
            remedy
            if bgp.is_silent
            else f"{remedy or 'start frr'}; systemctl status frr says why it ended",
            {vrf: _without_updates(vrf, kernel) for vrf in scope.vpn},
            hold=AT_ONCE if bgp.is_silent else CONVERGENCE,
            is_shared=True,
        )


def sessions(
    scope: Scope, bgp: BgpEvidence, kernel: KernelEvidence | None, peer: PeerName
) -> Iterator[Finding]:
    """A service goes on with one of several sessions; without any it lives on what the kernel
    still has."""
    if bgp.problem:
        return
    desired = scope.desired
    if desired.bgp is not None:
        neighbors = expected(desired.bgp.neighbors)
        silent = _silent(SPEAKER, neighbors, bgp, peer)
        some = len(silent) < len(neighbors)
        effects = {
            vrf: ServiceState.DEGRADED if some else _without_updates(vrf, kernel)
            for vrf in scope.vpn
        }
        for neighbor, session in silent:
            yield _finding(None, neighbor, session, effects)
    for vrf in desired.vrfs.values():
        if vrf.bgp is None or not vrf.bgp.neighbors:
            continue
        neighbors = expected(vrf.bgp.neighbors)
        silent = _silent(vrf.name, neighbors, bgp, peer)
        some = len(silent) < len(neighbors)
        state = ServiceState.DEGRADED if some else ServiceState.DOWN
        for neighbor, session in silent:
            yield _finding(vrf.name, neighbor, session, {vrf.name: state})


def unreachable(
    scope: Scope,
    bgp: BgpEvidence,
    kernel: KernelEvidence,
    silent: Collection[IPv6Address],
    lost: Collection[str],
) -> Iterator[Finding]:
    """A session lives on for its hold time when nothing gets to the neighbor any more. ``lost`` are
    VRFs that have no other edge than silent ones."""
    if scope.desired.bgp is None:
        return
    cut_off = core.is_cut_off(scope, kernel)
    for neighbor in expected(scope.desired.bgp.neighbors):
        session = bgp.sessions.get((SPEAKER, neighbor.address))
        address = IPv6Address(neighbor.address) if ":" in neighbor.address else None
        found = kernel.reachability.get(address) if address is not None else None
        if session is None or not session.is_established:
            continue
        name, hold = names.bgp_neighbor(neighbor.address), CONVERGENCE
        effects = dict.fromkeys(scope.vpn, ServiceState.DEGRADED)
        if found is not None and found.failure:
            cause = f"{found.failure} to {name}: its session will end"
            remedy = f"restore the underlay's route to it: ip -6 route get {neighbor.address}"
        elif address in silent and not cut_off:
            # Several echoes in a row are missing by now.
            hold = AT_ONCE
            effects |= dict.fromkeys(lost, ServiceState.DOWN)
            cause = f"{name} answers no echo any more: its session will end"
            remedy = (
                f"see where packets to it end: traceroute {neighbor.address}; and that it runs and"
                " answers echoes"
            )
        else:
            continue
        yield Finding(
            ConditionType.BGP_NEIGHBOR_UNREACHABLE,
            f"{bgp_path(None)}/{neighbor.step}",
            cause,
            remedy,
            effects,
            hold=hold,
            is_shared=True,
        )


def _silent(
    vrf: str, neighbors: Sequence[Neighbor], bgp: BgpEvidence, peer: PeerName
) -> list[tuple[Neighbor, BgpSession]]:
    found = ((n, bgp.sessions.get((vrf, peer(n)), _UNKNOWN)) for n in neighbors)
    return [(neighbor, session) for neighbor, session in found if not session.is_established]


def _without_updates(vrf: str, kernel: KernelEvidence | None) -> ServiceState:
    kept = kernel is not None and kernel.tunnels.get(vrf)
    return ServiceState.DEGRADED if kept else ServiceState.DOWN


def _finding(
    vrf: str | None, neighbor: Neighbor, session: BgpSession, effects: dict[str, ServiceState]
) -> Finding:
    name = names.bgp_neighbor(neighbor.address, vrf)
    of_vrf = f" vrf {vrf}" if vrf else ""
    return Finding(
        ConditionType.BGP_SESSION_DOWN,
        f"{bgp_path(vrf)}/{neighbor.step}",
        f"the session with {name} is not established{_detail(session)}",
        f"ping {neighbor.address}; srv6ctl show neighbors says why it ended; its AS, password and"
        f" families: vtysh -c 'show bgp{of_vrf} neighbors {neighbor.address}'",
        effects,
        hold=CONVERGENCE if session.was_established else FIRST_CONTACT,
        is_shared=vrf is None,
    )


def _detail(session: BgpSession) -> str:
    """What will not pass by itself. The states of a session that is tried again and again come and
    go, and would change the condition each time."""
    if session.state == "NoNeg":
        return ": the neighbor does not exchange these routes"
    words = {"Idle (Admin)": "it is shut down", "Idle (PfxCt)": "it exceeded its prefix limit"}
    return f": {words[session.state]}" if session.state in words else ""
