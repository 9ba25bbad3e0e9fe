"""Objects of steered routes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.desired import Desired, SteeredRoute
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan import interfaces as declared_interfaces
from srv6mgrd.plan.objects import (
    MAIN_TABLE,
    SID_DEVICE,
    DummyDevice,
    EncapRoute,
    Rule,
)
from srv6mgrd.plan.target_objects import (
    FORWARD_IPV4,
    FORWARD_IPV6,
    LOCAL_RULE_PRIORITY,
    UNDERLAY_RULE_PRIORITY,
    Target,
    segments_of,
)


def need_route(
    t: Target, route: SteeredRoute, desired: Desired, interfaces: Mapping[str, int]
) -> None:
    ref = ObjectRef(Kind.ROUTE, route.name)
    ipv4 = route.prefix.version == 4
    table = desired.vrfs[route.vrf].table if route.vrf is not None else MAIN_TABLE
    segments = segments_of(desired, route.segment_list)
    if ipv4:
        t.need(FORWARD_IPV4, ref)
    # The outer packet is forwarded, whatever is in it.
    t.need(FORWARD_IPV6, ref)
    if route.interface is None:
        t.need(DummyDevice(SID_DEVICE), ref)
    elif why := declared_interfaces.unusable(desired, route.interface, interfaces):
        t.pending[ref] = why
        return
    if route.vrf is not None and not _underlay(t, segments[0], route, desired, ref):
        return
    encap = EncapRoute(
        prefix=route.prefix,
        table=table,
        behavior=route.behavior,
        segments=segments,
        device=route.interface or SID_DEVICE,
        metric=route.metric,
        source=route.source,
        # Around IPv6 the kernel takes that of the packet; there this would be the hop limit of
        # packets that the router itself sends.
        hop_limit=desired.hop_limit if ipv4 else None,
    )
    if encap.key in t.objects:
        t.pending[ref] = f"{route.prefix} is the next hop of a SID; choose another metric"
        return
    t.need(encap, ref)


def _underlay(
    t: Target, first: IPv6Address, route: SteeredRoute, desired: Desired, ref: ObjectRef
) -> bool:
    """A rule that takes what a VRF encapsulates out of the VRF. The rules of locators do so for
    their blocks; a segment elsewhere, or a source of the route's own, needs one more."""
    source = route.source or desired.encapsulation_source
    for locator in desired.locators.values():
        if first in locator.block and source == desired.encapsulation_source:
            return True
    if any(first in locator.prefix for locator in desired.locators.values()):
        rule = Rule(LOCAL_RULE_PRIORITY, IPv6Network(first), SID_TABLE, source)
    else:
        rule = Rule(UNDERLAY_RULE_PRIORITY, IPv6Network(first), MAIN_TABLE, source)
    other = t.objects.get(rule.key)
    if other is not None and other != rule:
        t.pending[ref] = f"another route encapsulates to {first} with another source address"
        return False
    t.need(rule, ref)
    return True
