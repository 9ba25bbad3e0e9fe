"""The valid part of a configuration, and why the rest of it is rejected. Pure.

A commit is rejected atomically, but a start finds the running configuration as it is: it may have
been written while srv6mgrd did not run. One invalid object is no reason to leave out the others,
nor to reject later commits that don't touch it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from srv6mgrd.model import names
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.references import ISIS, Ref, bgp_ref, of_path, path_of
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.model.subset import declared_as, with_dependents, without

# Every reason why a state can't be; empty when it can.
Check = Callable[[Desired], Sequence[Rejection]]

NEEDS_REJECTED = "needs-rejected"
_FRR = "frr-unsupported"


@dataclass(frozen=True, slots=True)
class Partition:
    """``declared`` is all of it, ``valid`` the part to carry out, ``rejected`` why the rest is
    not."""

    declared: Desired = field(default_factory=Desired)
    valid: Desired = field(default_factory=Desired)
    rejected: Mapping[Ref, Rejection] = field(default_factory=dict)

    def whole(self, expanded: Desired) -> Desired:
        """``expanded``, made of the valid part, with the rejected objects among its own."""
        if not self.rejected:
            return expanded
        declared = self.declared
        vrfs = dict(declared.vrfs)
        for name, vrf in expanded.vrfs.items():
            lost = bgp_ref(vrf) in self.rejected
            vrfs[name] = replace(vrf, bgp=vrfs[name].bgp) if lost else vrf
        return replace(
            expanded,
            locators={**declared.locators, **expanded.locators},
            vrfs=vrfs,
            roles={**declared.roles},
            interfaces=declared.interfaces,
            sids={**declared.sids, **expanded.sids},
            malformed=declared.malformed,
            segment_lists={**declared.segment_lists, **expanded.segment_lists},
            routes={**declared.routes, **expanded.routes},
            static_routes={**declared.static_routes, **expanded.static_routes},
            leaks={**declared.leaks, **expanded.leaks},
            ospf={**declared.ospf, **expanded.ospf},
            ospfv3={**declared.ospfv3, **expanded.ospfv3},
            chains=declared.chains,
        )


def partition(desired: Desired, check: Check) -> Partition:
    """The largest part that ``check`` passes when what it rejects is left out, with all that
    depends on that. Raises RejectedError for what names no part of the configuration."""
    rejected: dict[Ref, Rejection] = {}
    valid = desired
    while rejections := check(valid):
        found: dict[Ref, Rejection] = {}
        for rejection in rejections:
            for ref in _blamed(rejection, valid):
                found.setdefault(ref, rejection)
        if not found:
            raise RejectedError(list(rejections))
        rejected = _closure(desired, rejected | found)
        valid = without(desired, rejected.keys())
    return Partition(desired, valid, rejected)


def judge(desired: Desired, before: Partition, check: Check) -> Partition:
    """A commit on top of what a start found. Raises RejectedError with what is wrong in what the
    commit adds or changes; what was rejected before and is as it was stays so, unless the commit
    made it valid."""
    known = {
        ref: rejection
        for ref, rejection in before.rejected.items()
        if (now := declared_as(desired, ref)) is not None
        and now == declared_as(before.declared, ref)
    }
    if known:
        closed = _closure(desired, known)
        if added := [rejection for ref, rejection in closed.items() if ref not in known]:
            raise RejectedError(added)
    valid = without(desired, known.keys())
    if rejections := check(valid):
        raise RejectedError(list(rejections))
    if not known:
        return Partition(desired, desired)
    again = partition(desired, check)
    return again if again.rejected.keys() <= known.keys() else Partition(desired, valid, known)


def _blamed(rejection: Rejection, desired: Desired) -> Collection[Ref]:
    """The parts to leave out so that the reason goes away."""
    ref = of_path(rejection.path)
    if ref is None:
        return ()
    if rejection.tag != _FRR or not (isinstance(ref, ObjectRef) and ref.kind is Kind.LOCATOR):
        return (ref,)
    # The kernel takes such a locator, FRR does not: only what is given to FRR is left out.
    found: list[Ref] = [
        bgp_ref(vrf)
        for vrf in desired.vrfs.values()
        if vrf.bgp is not None
        and (
            vrf.bgp.locator == ref.name
            or any(desired.sids[sid].locator == ref.name for sid in vrf.bgp.export_sids)
        )
    ]
    if desired.isis is not None and desired.isis.locator == ref.name:
        found.append(ISIS)
    return found


def _closure(desired: Desired, rejected: Mapping[Ref, Rejection]) -> dict[Ref, Rejection]:
    reasons = {ref: rejection.cause for ref, rejection in rejected.items()}
    closed = with_dependents(desired, reasons, "rejected")
    return {
        ref: rejected.get(ref)
        or Rejection(
            names.of_ref(ref),
            reason,
            "correct that first, or remove this one",
            NEEDS_REJECTED,
            path_of(ref, desired),
        )
        for ref, reason in closed.items()
    }
