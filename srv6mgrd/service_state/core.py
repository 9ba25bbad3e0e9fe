"""The core as this router sees it: its interfaces, and what fits through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.paths import interface_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.evidence import KernelEvidence, LinkEvidence
from srv6mgrd.service_state.finding import CONVERGENCE, Finding
from srv6mgrd.service_state.scope import Scope

# The outer IPv6 header, and a segment routing header with one segment: what BGP's routes get
# (net/ipv6/seg6_iptunnel.c).
_ENCAPSULATION = 40 + 8 + 16


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
                dict.fromkeys(scope.tunnelled, state),
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


def is_cut_off(scope: Scope, kernel: KernelEvidence) -> bool:
    """All interfaces to the core are down: that is reported, rather than each of its effects."""
    return bool(scope.core) and all(link_problem(name, kernel) for name in scope.core)


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
