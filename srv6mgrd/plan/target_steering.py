"""Objects of steered routes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.csid import is_of_local_block
from srv6mgrd.model.desired import Desired, SteeredRoute
from srv6mgrd.model.reserved import MAIN_TABLE, SID_DEVICE
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan import interfaces as declared_interfaces
from srv6mgrd.plan.target_objects import (
    FORWARD_IPV4,
    FORWARD_IPV6,
    LOCAL_RULE_PRIORITY,
    UNDERLAY_RULE_PRIORITY,
    Target,
    segments_of,
)


def by_rules_of(desired: Desired, *, lookup_tables: bool) -> Collection[str]:
    """Names of the routes whose packets leave their VRF by rules: of all where the kernel has no
    other way. With ``lookup_tables`` they are those whose first segment is a SID of this router: it
    looks up the next segment as if the packet had come in on the VRF, whatever table led to it."""
    routes = {name: route for name, route in desired.routes.items() if route.vrf is not None}
    if not (routes and lookup_tables):
        return routes.keys()
    local = [locator.prefix for locator in desired.locators.values()]
    local += [
        sid.prefix
        for sid in desired.sids.values()
        if sid.flavors and is_of_local_block(sid, desired.locators[sid.locator])
    ]
    return {
        name
        for name, route in routes.items()
        if any(segments_of(desired, route.segment_list)[0] in prefix for prefix in local)
    }


def need_route(
    t: Target,
    route: SteeredRoute,
    desired: Desired,
    interfaces: Mapping[str, int],
    *,
    by_rules: bool,
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
    if by_rules and not _underlay(t, segments[0], route, desired, ref):
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
        lookup_table=MAIN_TABLE if route.vrf is not None and not by_rules else None,
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
