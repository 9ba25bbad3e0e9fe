"""What became of each declared object. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from srv6mgrd.counters.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.model.desired import Desired
from srv6mgrd.plan.target import Target

FRR_ABSENT = "FRR can't be reached; is it running?"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Status and reason of one declared object."""

    status: InstallStatus
    reason: str = ""


INSTALLED = Outcome(InstallStatus.INSTALLED)


def outcomes(
    desired: Desired,
    t: Target,
    reasons: Mapping[str, str],
    lacking: Mapping[ObjectRef, str],
    shadowed: Mapping[str, str],
    *,
    frr_up: bool,
) -> dict[ObjectRef, Outcome]:
    """Status of every declared object that is not installed, from the failures of the objects
    that serve it, and from what stands in front of them, by their keys."""
    out: dict[ObjectRef, Outcome] = {}
    for ref, reason in t.pending.items():
        out[ref] = Outcome(InstallStatus.PENDING, reason)
    if not frr_up:
        for ref in carried(desired):
            out[ref] = Outcome(InstallStatus.PENDING, FRR_ABSENT)
    for key, reason in shadowed.items():
        for ref in t.serves.get(key, ()):
            out[ref] = Outcome(InstallStatus.DRIFTED, reason)
    # The first reason is the root of those that follow from it.
    for key, reason in reversed(list(reasons.items())):
        for ref in t.serves.get(key, ()):
            out[ref] = Outcome(InstallStatus.FAILED, reason)
    out |= {ref: Outcome(InstallStatus.UNSUPPORTED, reason) for ref, reason in lacking.items()}
    return out


def declared(desired: Desired) -> list[ObjectRef]:
    """Every declared object that has a status."""
    return [
        *(ObjectRef(Kind.LOCATOR, name) for name in desired.locators),
        *(ObjectRef(Kind.VRF, name) for name in desired.vrfs),
        *(ObjectRef(Kind.INTERFACE, name) for name in desired.roles),
        *(ObjectRef(Kind.SID, str(prefix)) for prefix in desired.sids),
        *exports(desired),
        *(ObjectRef(Kind.SEGMENT_LIST, name) for name in desired.segment_lists),
        *(ObjectRef(Kind.ROUTE, name) for name in desired.routes),
    ]


def exports(desired: Desired) -> list[ObjectRef]:
    """What FRR is told of VRFs."""
    return [ObjectRef(Kind.VRF_BGP, v.name) for v in desired.vrfs.values() if v.bgp]


def carried(desired: Desired) -> list[ObjectRef]:
    """The declared objects that are not in place until FRR says so."""
    isis = desired.isis
    locators = [ObjectRef(Kind.LOCATOR, isis.locator)] if isis is not None else []
    return [*exports(desired), *locators]
