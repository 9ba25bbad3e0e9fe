"""What became of each declared object. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.outcomes import Outcome, carried
from srv6mgrd.model.status import InstallStatus, ObjectRef
from srv6mgrd.plan.target_objects import Target

FRR_ABSENT = "FRR can't be reached; is it running?"


def outcomes(
    desired: Desired,
    t: Target,
    reasons: Mapping[str, str],
    left_out: Mapping[ObjectRef, Outcome],
    shadowed: Mapping[str, str],
    *,
    frr_up: bool,
) -> dict[ObjectRef, Outcome]:
    """Status of every declared object that is not installed, from the failures of the objects
    that serve it, and from what blocks them, by their keys; ``left_out`` are those
    that are not tried."""
    out: dict[ObjectRef, Outcome] = {}
    for ref, reason in t.pending.items():
        out[ref] = Outcome(InstallStatus.PENDING, reason)
    if not frr_up:
        for ref in carried(desired):
            out[ref] = Outcome(InstallStatus.PENDING, FRR_ABSENT)
    for key, reason in shadowed.items():
        for ref in t.refs(key):
            out[ref] = Outcome(InstallStatus.DRIFTED, reason)
    # The first reason is the root of those that follow from it.
    for key, reason in reversed(list(reasons.items())):
        for ref in t.refs(key):
            out[ref] = Outcome(InstallStatus.FAILED, reason)
    return {**out, **left_out}
