"""The core as this router sees it: its interfaces, and the routes to SIDs of other routers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv6Address, ip_address

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.paths import interface_path, vrf_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.evidence import KernelEvidence, LinkEvidence, Reachability
from srv6mgrd.service_state.finding import CONVERGENCE, Finding
from srv6mgrd.service_state.scope import Scope

# The outer IPv6 header, and a segment routing header with one segment: what BGP's routes get
# (net/ipv6/seg6_iptunnel.c).
_ENCAPSULATION = 40 + 8 + 16
_SHOWN = 3


def interfaces(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """With one of several interfaces to the core a service goes on."""
    problems = {name: link_problem(name, kernel) for name in scope.core}
    some = not all(problems.values())
    for name, problem in problems.items():
        if problem:
            state = ServiceState.DEGRADED if some else ServiceState.DOWN
            cause, remedy = problem
            yield Finding(
                ConditionType.CORE_INTERFACE_DOWN,
                interface_path(name),
                f"interface {name} to the core {cause}",
                remedy,
                dict.fromkeys(scope.vpn, state),
                is_shared=True,
            )


def link_problem(name: str, kernel: KernelEvidence) -> tuple[str, str] | None:
    """Why an interface carries nothing, and what to do."""
    link = kernel.links.get(name)
    if link is None:
        return "does not exist", "create it, or remove it from the configuration"
    if not link.is_up:
        return "is down", f"ip link set {name} up, or declare it enabled false"
    if not link.has_carrier:
        return "has no carrier", "check the cable, and the interface at the other end"
    return None


def remote_sids(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """Packets to other sites are encapsulated to SIDs that the underlay has to lead to."""
    alive = {name for name in scope.core if link_problem(name, kernel) is None}
    problems = {
        sid: (problem, certain)
        for sid, found in kernel.reachability.items()
        for problem, certain in [_problem(found, kernel, alive)]
        if problem
    }
    if not problems:
        return
    for vrf, tunnels in kernel.tunnels.items():
        lost = {sid: problems[sid] for sid in tunnels if sid in problems}
        if not lost or vrf not in scope.desired.vrfs:
            continue
        whole = len(lost) == len(tunnels) and all(certain for _, certain in lost.values())
        yield Finding(
            ConditionType.REMOTE_SID_UNREACHABLE,
            vrf_path(vrf),
            _cause(lost, tunnels),
            f"restore the underlay's route to the locator of the other edge: ip -6 route get"
            f" {next(iter(lost))}",
            {vrf: ServiceState.DOWN if whole else ServiceState.DEGRADED},
            hold=CONVERGENCE,
        )


def _problem(
    found: Reachability, kernel: KernelEvidence, alive: Collection[str]
) -> tuple[str, bool]:
    """Why packets do not get to a SID; False with it where another interface to the core, one of
    those ``alive``, may carry some of them."""
    alone = not any(name != found.interface for name in alive)
    if found.failure:
        return found.failure, True
    link = kernel.links.get(found.interface)
    if link is not None and not (link.is_up and link.has_carrier):
        return f"interface {found.interface} has no carrier", alone
    next_hop = ip_address(found.next_hop) if found.next_hop else None
    if next_hop is not None and (found.interface, next_hop) in kernel.unanswered:
        message = f"next hop {next_hop} on {found.interface} does not answer neighbor discovery"
        return message, alone
    return "", True


def _cause(lost: Mapping[IPv6Address, tuple[str, bool]], tunnels: Mapping[IPv6Address, int]) -> str:
    listed = list(lost.items())
    shown = "; ".join(f"{sid}: {problem}" for sid, (problem, _) in listed[:_SHOWN])
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    routes = sum(tunnels[sid] for sid in lost)
    return f"packets of {routes} route{'s' * (routes != 1)} do not get to remote SID {shown}{more}"


def mtus(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """A packet as large as a customer's interface takes has to fit into the core with its outer
    headers. Where only those are too much, senders learn the path MTU (``kernel.path_mtu``)."""
    narrow: dict[str, dict[str, ServiceState]] = {}
    needed: dict[str, int] = {}
    found: dict[str, int] = {}
    for vrf, tunnels in kernel.tunnels.items():
        declared = scope.desired.vrfs.get(vrf)
        largest = _largest(declared, kernel.links) if declared is not None else 0
        paths = {
            reach.interface: reach.mtu
            for sid in tunnels
            if (reach := kernel.reachability.get(sid)) is not None and reach.mtu
        }
        for interface, mtu in paths.items():
            if mtu >= largest + _ENCAPSULATION:
                continue
            affected = narrow.setdefault(interface, {})
            if mtu < largest:
                affected[vrf] = ServiceState.DEGRADED
            needed[interface] = max(needed.get(interface, 0), largest + _ENCAPSULATION)
            found[interface] = min(found.get(interface, mtu), mtu)
    for interface, affected in narrow.items():
        yield Finding(
            ConditionType.CORE_MTU_TOO_SMALL,
            _resource(interface, scope.desired),
            f"the path through {interface} takes packets of {found[interface]} bytes, and"
            f" full-sized ones of customers have {needed[interface]} with their outer headers",
            f"give the core an MTU of {needed[interface]}: ip link set {interface} mtu"
            f" {needed[interface]}, on all routers of the path; or customers a smaller one",
            affected,
            hold=CONVERGENCE,
        )


def _largest(vrf: Vrf, links: Mapping[str, LinkEvidence]) -> int:
    mtus = (links[name].mtu for name in vrf.interfaces if name in links and links[name].is_up)
    return max(mtus, default=0)


def _resource(interface: str, desired: Desired) -> str:
    if interface in desired.roles or interface in desired.interfaces:
        return interface_path(interface)
    return "/srv6mgr-srv6:srv6/encapsulation"
