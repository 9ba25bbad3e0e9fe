"""What customers are attached by: interfaces of VRFs, and those that SIDs send to."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.paths import sid_path, vrf_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.core import link_problem
from srv6mgrd.service_state.evidence import KernelEvidence
from srv6mgrd.service_state.finding import COMMIT, CONVERGENCE, Finding
from srv6mgrd.service_state.scope import Scope, is_to_be_up


def vrf_interfaces(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """A VRF with one of several interfaces has some of its sites."""
    for vrf in scope.desired.vrfs.values():
        wanted = [name for name in vrf.interfaces if is_to_be_up(name, scope.desired)]
        problems = {name: found for name in wanted if (found := link_problem(name, kernel))}
        some = len(problems) < len(wanted)
        state = ServiceState.DEGRADED if some else ServiceState.DOWN
        for name, (cause, remedy) in problems.items():
            yield Finding(
                ConditionType.VRF_INTERFACE_DOWN,
                f"{vrf_path(vrf.name)}/interface[.='{name}']",
                f"interface {name} of VRF {vrf.name} {cause}",
                remedy,
                {vrf.name: state},
                dict.fromkeys(scope.sids_of(vrf.name), state),
                hold=0.0 if name in kernel.links else COMMIT,
            )


def next_hops(scope: Scope, kernel: KernelEvidence) -> Iterator[Finding]:
    """SIDs that send to a next hop, or out of an interface."""
    for sid in scope.adjacent:
        assert sid.interface is not None
        if not is_to_be_up(sid.interface, scope.desired):
            continue
        if (problem := link_problem(sid.interface, kernel)) is not None:
            cause, remedy = f"interface {sid.interface} {problem[0]}", problem[1]
        elif (sid.interface, sid.next_hop) in kernel.unanswered:
            cause = f"next hop {sid.next_hop} on {sid.interface} does not answer"
            remedy = f"see that {sid.next_hop} is up: ping {sid.next_hop}%{sid.interface}"
        else:
            continue
        yield Finding(
            ConditionType.NEXT_HOP_UNREACHABLE,
            sid_path(sid.prefix),
            f"SID {sid.prefix} sends to where nothing gets: {cause}",
            remedy,
            {sid.vrf: ServiceState.DEGRADED} if sid.vrf is not None else {},
            {sid.prefix: ServiceState.DOWN},
            hold=CONVERGENCE,
        )
