"""SIDs of other edges, which packets to other sites are encapsulated to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from srv6mgrd.model import names
from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import vrf_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.core import is_cut_off, link_problem
from srv6mgrd.service_state.evidence import BgpEvidence, KernelEvidence, Reachability
from srv6mgrd.service_state.finding import CONVERGENCE, Finding
from srv6mgrd.service_state.scope import Scope

_SHOWN = 3
# More VRFs than these have one condition together.
_EACH = 20
_VRFS = "/srv6mgr-srv6:srv6/vrfs"


@dataclass(frozen=True, slots=True)
class _Lost:
    """What a VRF has lost: SIDs, each with the reason, and the number of their routes."""

    sids: Mapping[str, str]
    routes: int
    state: ServiceState

    @property
    def cause(self) -> str:
        sids = [f"{sid}: {problem}" for sid, problem in self.sids.items()]
        shown = names.some(sids, _SHOWN, "; ")
        return f"packets of {counted([self.routes])} do not get to remote SID {shown}"


def unreachable(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """The underlay does not lead to SIDs of the kernel's routes."""
    problems = {
        sid: problem
        for sid, found in kernel.reachability.items()
        if (problem := _problem(found, kernel, scope.core))
    }
    # Where there are several ways into the core, those packets of a SID may get there that take
    # another one than the kernel's lookup gave.
    others = len([name for name in scope.core if not link_problem(name, kernel)]) > 1
    if not problems or is_cut_off(scope, kernel):
        return
    lost = {}
    for vrf, tunnels in kernel.tunnels.items():
        sids = {str(sid): problems[sid] for sid in tunnels if sid in problems}
        if sids and vrf in scope.desired.vrfs:
            certain = not others or all(kernel.reachability[s].failure for s in tunnels)
            whole = len(sids) == len(tunnels) and certain
            state = ServiceState.DOWN if whole else ServiceState.DEGRADED
            routes = sum(count for sid, count in tunnels.items() if sid in problems)
            lost[vrf] = _Lost(sids, routes, state)
    yield from _findings(lost)


def unresolved(scope: Scope, bgp: BgpEvidence, kernel: KernelEvidence | None) -> Iterator[Finding]:
    """FRR 10.3 resolves the SID of a route in place of its next hop, and takes the route away when
    it can't: the kernel does not know of the SID then."""
    if kernel is not None and is_cut_off(scope, kernel):
        return
    by_vrf: dict[str, dict[str, int]] = {}
    for hop in bgp.unresolved:
        if is_sid(scope.desired, hop.address):
            for vrf, count in hop.routes.items():
                by_vrf.setdefault(vrf, {})[hop.address] = count
    yield from _findings(
        {
            vrf: _Lost(
                dict.fromkeys(sids, "no route in the underlay"),
                sum(sids.values()),
                left(vrf, kernel),
            )
            for vrf, sids in by_vrf.items()
            if vrf in scope.desired.vrfs
        }
    )


def is_sid(desired: Desired, next_hop: str) -> bool:
    """Whether it is of the SID block of a locator of this router, which edges share."""
    address = ip_address(next_hop)
    return isinstance(address, IPv6Address) and any(
        address in locator.block for locator in desired.locators.values()
    )


def left(vrf: str, kernel: KernelEvidence | None) -> ServiceState:
    """What a VRF is without some of its imported routes."""
    others = kernel is not None and kernel.tunnels.get(vrf)
    return ServiceState.DEGRADED if others else ServiceState.DOWN


def counted(routes: Iterable[int]) -> str:
    count = sum(routes)
    return "1 imported route" if count == 1 else f"{count} imported routes"


def _problem(found: Reachability, kernel: KernelEvidence, core: Iterable[str]) -> str:
    """Why packets do not get to a SID, unless an interface to the core is the reason."""
    if found.failure:
        return found.failure
    link = kernel.links.get(found.interface)
    if link is not None and not (link.is_up and link.has_carrier):
        return "" if found.interface in core else f"interface {found.interface} has no carrier"
    next_hop = ip_address(found.next_hop) if found.next_hop else None
    if next_hop is not None and (found.interface, next_hop) in kernel.unanswered:
        return f"next hop {next_hop} on {found.interface} does not answer neighbor discovery"
    return ""


def _findings(lost: Mapping[str, _Lost]) -> Iterator[Finding]:
    if len(lost) <= _EACH:
        for vrf, one in lost.items():
            yield _finding(vrf_path(vrf), one.cause, {vrf: one})
    else:
        vrf, first = next(iter(lost.items()))
        yield _finding(_VRFS, f"of {len(lost)} VRFs, in VRF {vrf}: {first.cause}", lost)


def _finding(resource: str, cause: str, lost: Mapping[str, _Lost]) -> Finding:
    first = next(iter(lost.values()))
    return Finding(
        ConditionType.REMOTE_SID_UNREACHABLE,
        resource,
        cause,
        "restore the underlay's route to the locator of the other edge: ip -6 route get"
        f" {next(iter(first.sids))}",
        {vrf: one.state for vrf, one in lost.items()},
        hold=CONVERGENCE,
    )
