"""Objects that guard the boundary of the SRv6 domain. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from srv6mgrd.kinds.boundary.object import boundary
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.model import domain
from srv6mgrd.model.desired import Desired, Role
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.target_objects import (
    Target,
)


def need_boundary(t: Target, desired: Desired, interfaces: Mapping[str, int]) -> None:
    if domain.is_guarded(desired):
        outside, closed = domain.customers(desired), domain.is_closed(desired)
        filtered = boundary(
            domain.core(desired) if closed else outside,
            domain.sids(desired),
            domain.sources(desired),
            closed=closed,
        )
        refs = [ObjectRef(Kind.VRF, name) for name in desired.vrfs]
        t.need(filtered, *refs, *(ObjectRef(Kind.INTERFACE, name) for name in desired.roles))
        if not t.serves[filtered.key]:
            # Without the filter nothing keeps anybody from the SIDs.
            t.need(filtered, *(ObjectRef(Kind.LOCATOR, name) for name in desired.locators))
        for vrf in desired.vrfs.values():
            for name in outside.intersection((vrf.name, *vrf.interfaces)):
                if name in interfaces or name == vrf.name:
                    t.need(_srh(name, "0"), ObjectRef(Kind.VRF, vrf.name))
    for name, role in desired.roles.items():
        ref = ObjectRef(Kind.INTERFACE, name)
        if name not in interfaces:
            t.pending[ref] = f"interface {name} does not exist yet"
        elif role is Role.CORE:
            # Both say yes, or it is no (ipv6_srh_rcv).
            t.need(Sysctl("net/ipv6/conf/all/seg6_enabled", "1"), ref)
            t.need(_srh(name, "1"), ref)
        else:
            t.need(_srh(name, "0"), ref)


def _srh(interface: str, value: str) -> Sysctl:
    """Whether an SRH is processed that comes in here to an address which is no SID."""
    return Sysctl(f"net/ipv6/conf/{interface}/seg6_enabled", value)
