"""Declared objects that are not installed in the kernel or in FRR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Network

from srv6mgrd.model import names
from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.paths import bgp_path, locator_path, sid_path, vrf_path
from srv6mgrd.model.service import ServiceState
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.service_state.finding import COMMIT, Finding
from srv6mgrd.service_state.scope import Scope

# More SIDs than these have one condition together.
_EACH = 20
_SIDS = "/srv6mgr-srv6:srv6/local-sids"
_REMEDY = "srv6ctl explain says more; srv6mgrd tries again by itself (srv6ctl reconcile: at once)"


def objects(scope: Scope, not_installed: Mapping[ObjectRef, ObjectStatus]) -> Iterator[Finding]:
    sids = {}
    for ref, status in not_installed.items():
        if ref.kind is Kind.SID:
            sids[ref] = status
        elif (finding := _of_vrf(scope, ref, status)) is not None:
            yield finding
    if len(sids) <= _EACH:
        for ref, status in sids.items():
            yield _of_sid(scope, {ref: status}, sid_path(ref.name), names.sid(ref.name))
    else:
        yield _of_sid(scope, sids, _SIDS, f"{len(sids)} SIDs")


def _of_sid(
    scope: Scope, found: Mapping[ObjectRef, ObjectStatus], resource: str, named: str
) -> Finding:
    prefixes = [IPv6Network(ref.name) for ref in found]
    status = next(iter(found.values()))
    vrfs = {sid.vrf for p in prefixes if (sid := scope.desired.sids.get(p)) is not None}
    return Finding(
        ConditionType.NOT_INSTALLED,
        resource,
        _cause(named, status),
        _REMEDY,
        {vrf: ServiceState.DOWN for vrf in vrfs if vrf is not None},
        dict.fromkeys(prefixes, ServiceState.DOWN),
        hold=_hold(status),
    )


def _of_vrf(scope: Scope, ref: ObjectRef, status: ObjectStatus) -> Finding | None:
    """Objects without which a VRF is down, or lacks something. What FRR is still to report of an
    export is judged by ``vpn_routes``."""
    down, degraded = ServiceState.DOWN, ServiceState.DEGRADED
    vrfs: dict[str, ServiceState]
    shared = False
    match ref.kind:
        case Kind.VRF:
            resource, vrfs = vrf_path(ref.name), {ref.name: down}
        case Kind.VRF_BGP if status.status is not InstallStatus.PENDING:
            resource, vrfs = bgp_path(ref.name), {ref.name: down}
        case Kind.LOCATOR:
            resource, shared = locator_path(ref.name), True
            # What differs may concern none of its SIDs, as a foreign rule to others.
            state = degraded if status.status is InstallStatus.DRIFTED else down
            vrfs = dict.fromkeys((v.name for v in scope.exporters), state)
        case Kind.ROUTE | Kind.STATIC_ROUTE | Kind.ROUTE_LEAK | Kind.OSPF | Kind.OSPFV3:
            vrf, _, _ = ref.name.partition(" ")
            resource, vrfs = vrf_path(vrf), {vrf: degraded}
        case _:
            return None
    return Finding(
        ConditionType.NOT_INSTALLED,
        resource,
        _cause(names.of_ref(ref), status),
        _REMEDY,
        {vrf: state for vrf, state in vrfs.items() if vrf in scope.desired.vrfs},
        hold=_hold(status),
        is_shared=shared,
    )


def _cause(named: str, status: ObjectStatus) -> str:
    reason = f": {status.reason}" if status.reason else ""
    return f"{named} is {status.status.text}{reason}"


def _hold(status: ObjectStatus) -> float:
    """What is on its way, or being repaired, needs a moment."""
    under_way = (InstallStatus.PENDING, InstallStatus.DRIFTED)
    return COMMIT if status.status in under_way else 0.0
