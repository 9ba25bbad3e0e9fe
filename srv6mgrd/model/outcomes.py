"""The declared objects that have a status, and the outcome of each. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef


@dataclass(frozen=True, slots=True)
class Outcome:
    """Status and reason of one declared object."""

    status: InstallStatus
    reason: str = ""


INSTALLED = Outcome(InstallStatus.INSTALLED)


def declared(desired: Desired) -> list[ObjectRef]:
    """Every declared object that has a status."""
    return [
        *(ObjectRef(Kind.LOCATOR, name) for name in desired.locators),
        *(ObjectRef(Kind.VRF, name) for name in desired.vrfs),
        *(ObjectRef(Kind.INTERFACE, name) for name in {**desired.roles, **desired.interfaces}),
        *(ObjectRef(Kind.SID, str(prefix)) for prefix in desired.sids),
        *(ObjectRef(Kind.SID, str(prefix)) for prefix in desired.malformed),
        *exports(desired),
        *(ObjectRef(Kind.SEGMENT_LIST, name) for name in desired.segment_lists),
        *(ObjectRef(Kind.ROUTE, name) for name in desired.routes),
        *policies(desired),
        *(ObjectRef(Kind.STATIC_ROUTE, name) for name in desired.static_routes),
        *leaks(desired),
        *ospf(desired),
        *(ObjectRef(Kind.SERVICE_FUNCTION, name) for name in desired.chains.functions),
        *(ObjectRef(Kind.SERVICE_FUNCTION_GROUP, name) for name in desired.chains.groups),
        *(ObjectRef(Kind.SERVICE_FUNCTION_CHAIN, name) for name in desired.chains.chains),
        *(ObjectRef(Kind.CLASSIFIER, name) for name in desired.chains.classifiers),
    ]


def exports(desired: Desired) -> list[ObjectRef]:
    """The configuration of VRFs in FRR."""
    return [ObjectRef(Kind.VRF_BGP, v.name) for v in desired.vrfs.values() if v.bgp]


def policies(desired: Desired) -> list[ObjectRef]:
    """Routing policies, which are FRR's, too."""
    return [ObjectRef(Kind.ROUTING_POLICY, name) for name in desired.routing_policy.policies]


def leaks(desired: Desired) -> list[ObjectRef]:
    """Imports from other VRFs, by FRR's bgpd."""
    return [ObjectRef(Kind.ROUTE_LEAK, name) for name in desired.leaks]


def ospf(desired: Desired) -> list[ObjectRef]:
    """OSPF of VRFs, by its version."""
    return [
        *(ObjectRef(Kind.OSPF, vrf) for vrf in desired.ospf),
        *(ObjectRef(Kind.OSPFV3, vrf) for vrf in desired.ospfv3),
    ]


def followed(desired: Desired) -> list[ObjectRef]:
    """What FRR has taken is not in place until its daemons say so, beside ``exports``."""
    isis = desired.isis
    names = (isis.locator, *isis.additional_locators) if isis is not None else ()
    locators = [ObjectRef(Kind.LOCATOR, name) for name in names]
    static = (ObjectRef(Kind.STATIC_ROUTE, name) for name in desired.static_routes)
    return [*locators, *static, *ospf(desired), *leaks(desired)]


def carried(desired: Desired) -> list[ObjectRef]:
    """The declared objects that are not in place until FRR says so."""
    return [*exports(desired), *followed(desired), *policies(desired)]
