"""Objects of SIDs, proxies among them. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.kinds.dummy.object import DummyDevice
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.link_mtu.object import LinkMtu
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.proxy.object import ProxyPrograms
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.csid import is_of_local_block
from srv6mgrd.model.desired import Desired, Locator, Sid
from srv6mgrd.model.function_sids import bypassable
from srv6mgrd.model.reserved import (
    DEFAULT_VRF_DEVICE,
    DEFAULT_VRF_TABLE,
    MAIN_TABLE,
    SID_DEVICE,
)
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan import interfaces as declared_interfaces
from srv6mgrd.plan import proxies
from srv6mgrd.plan.proxies import Declared
from srv6mgrd.plan.target_accounting import need_accounted_sid
from srv6mgrd.plan.target_objects import (
    FORWARD_IPV4,
    FORWARD_IPV6,
    LOCAL_RULE_PRIORITY,
    SID_RULE_PRIORITY,
    Target,
    not_borrowed,
    segments_of,
    vrf_ifindex,
)

# Where addresses for link-local next hops are taken from: never anybody's destination (RFC 6666).
_INDIRECT = IPv6Network("100::/64")
# What this node sends into a proxy of its own and the kernel takes apart comes in on the SID device
# with an address of the node, which else is a martian (__fib_validate_source).
_OWN_IPV4 = (
    Sysctl(f"net/ipv4/conf/{SID_DEVICE}/accept_local", "1"),
    Sysctl(f"net/ipv4/conf/{SID_DEVICE}/rp_filter", "0"),
)
# With their keys at hand: every SID needs them.
_STRICT_MODE = Sysctl("net/vrf/strict_mode", "1")
_STRICT_MODE_KEY = _STRICT_MODE.key
_DUMMY = DummyDevice(SID_DEVICE)
_DUMMY_KEY = _DUMMY.key


def need_sid(t: Target, sid: Sid, desired: Desired, interfaces: Mapping[str, int]) -> None:
    ref = ObjectRef(Kind.SID, str(sid.prefix))
    if t.borrowed and sid.vrf is not None and sid.vrf not in interfaces:
        t.pending[ref] = not_borrowed(sid.vrf)
        return
    # Its prefix is there in any case: a reference for each of a hundred thousand takes 7 MiB.
    t.put(_DUMMY_KEY, _DUMMY, sid.prefix)
    if sid.behavior is Behavior.END_DX4:
        t.need(FORWARD_IPV4, ref)
    vrf_table, lookup_table = _tables(sid, desired)
    if vrf_table is not None:
        # End.DT* are rejected without it (seg6_end_dt_vrf_build).
        t.put(_STRICT_MODE_KEY, _STRICT_MODE, sid.prefix)
    vrf = sid.vrf
    if vrf_table == DEFAULT_VRF_TABLE:
        vrf = DEFAULT_VRF_DEVICE
        _need_default_vrf(t, ref)
    if sid.behavior in (Behavior.END_DT4, Behavior.END_DT46) and vrf is not None:
        # What comes out of the tunnel comes in on the VRF (end_dt_vrf_rcv), and leads back through
        # the underlay: no reverse path would do, not even a loose one on a device without
        # addresses (__fib_validate_source).
        t.need(Sysctl(f"net/ipv4/conf/{vrf}/rp_filter", "0"), ref)
    if sid.interface is not None and (
        why := declared_interfaces.unusable(desired, sid.interface, interfaces)
    ):
        t.pending[ref] = why
        return
    next_hop = sid.next_hop
    if next_hop is not None and sid.interface is not None:
        next_hop = _next_hop(t, next_hop, sid.interface, ref)
        if next_hop is None:
            return
    if sid.flavors and is_of_local_block(sid, desired.locators[sid.locator]):
        _local_block(t, desired.locators[sid.locator], desired, ref)
    route = SidRoute(
        prefix=sid.prefix,
        action=sid.behavior,
        table=SID_TABLE,
        vrf_table=vrf_table,
        counters=sid.counters,
        lookup_table=lookup_table,
        next_hop=next_hop,
        # The route to a next hop names its interface, on kernels too that know none of End.X.
        interface=sid.interface if next_hop is None else None,
        segments=segments_of(desired, sid.segment_list),
        bpf_program=sid.bpf_program,
        flavors=sid.flavors,
        csid_lengths=_csid_lengths(sid, desired.locators[sid.locator]),
    )
    t.objects[route.key] = route
    need_accounted_sid(t, sid, desired)


def need_proxies(
    t: Target, desired: Desired, interfaces: Mapping[str, int], receivers: Collection[str]
) -> None:
    refs = []
    bypassed = {sid.prefix for sids in bypassable(desired).values() for sid in sids}
    for declared in proxies.declared(desired):
        ref = ObjectRef(Kind.SID, str(declared.sid.prefix))
        if _proxy(t, declared, desired, interfaces, ref):
            refs.append(ref)
        elif declared.sid.prefix in bypassed:
            # Packets of other routers go on without a function that is not there.
            t.need(DummyDevice(SID_DEVICE), ref)
            t.need(SidRoute(declared.sid.prefix, Behavior.END, SID_TABLE), ref)
    if refs:
        t.need(DummyDevice(SID_DEVICE), *refs)
        t.need(FORWARD_IPV6, *refs)
        t.need(ProxyPrograms(), *refs)
        for hook in proxies.arrivals(desired, receivers):
            t.need(hook, *refs)


def _proxy(
    t: Target,
    declared: Declared,
    desired: Desired,
    interfaces: Mapping[str, int],
    ref: ObjectRef,
) -> bool:
    """Whether it can be put in place."""
    sid, proxy = declared.sid, declared.proxy
    if proxy.inner_type == "ipv4":
        t.need(FORWARD_IPV4, ref)
        for sysctl in _OWN_IPV4:
            t.need(sysctl, ref)
    if missing := [name for name in declared.interfaces if name not in interfaces]:
        t.pending[ref] = f"interface {', '.join(missing)} does not exist yet"
        return False
    for name in declared.interfaces:
        if why := declared_interfaces.unusable(desired, name, interfaces):
            t.pending[ref] = why
            return False
    next_hop = proxy.next_hop
    if next_hop is not None:
        next_hop = _next_hop(t, next_hop, proxy.interface, ref)
        if next_hop is None:
            return False
    if proxy.mtu is not None:
        for name in declared.interfaces:
            t.need(LinkMtu(name, proxy.mtu), ref)
    t.need(proxies.entry(sid, proxy, segments_of(desired, proxy.segment_list)), ref)
    t.need(proxies.route(sid, proxy, next_hop), ref)
    t.need(proxies.back(proxy), ref)
    return True


def _need_default_vrf(t: Target, ref: ObjectRef) -> None:
    """A VRF without ports and routes: End.DT4 and End.DT46 want one (seg6_end_dt_vrf_build), and
    what its table lacks is looked up in the main table. Ours also where VRFs are borrowed."""
    t.need(FORWARD_IPV4, ref)
    t.need(FORWARD_IPV6, ref)
    t.need(VrfDevice(DEFAULT_VRF_DEVICE, DEFAULT_VRF_TABLE, vrf_ifindex(DEFAULT_VRF_TABLE)), ref)
    t.need(L3mdevRule(4), ref)
    t.need(L3mdevRule(6), ref)


def _tables(sid: Sid, desired: Desired) -> tuple[int | None, int | None]:
    """The VRF's table that a SID is bound to, and the table that it looks up without a VRF."""
    table = desired.vrfs[sid.vrf].table if sid.vrf is not None else None
    if sid.behavior is Behavior.END_T:
        return None, table or MAIN_TABLE
    if sid.behavior is Behavior.END_DT6 and table is None:
        return None, MAIN_TABLE
    if sid.default_vrf and table is None:
        return DEFAULT_VRF_TABLE, None
    return table, None


def _local_block(t: Target, locator: Locator, desired: Desired, ref: ObjectRef) -> None:
    """SIDs beside the locator's prefix, among other nodes' locators: one rule for all of them. What
    it does not find in the table goes on to the next rule."""
    if t.vrf_rules:
        source = desired.encapsulation_source
        t.need(Rule(LOCAL_RULE_PRIORITY, locator.block, SID_TABLE, source), ref)
    t.need(Rule(SID_RULE_PRIORITY, locator.block, SID_TABLE), ref)


def _csid_lengths(sid: Sid, locator: Locator) -> tuple[int, int] | None:
    """Block and what follows it in the SID, up to the argument. The kernel shifts the argument
    left over the latter (seg6_next_csid_advance_arg), so it is all that the SID's prefix has
    behind the block: the node of a uN, node and function of a uA, or its function alone where it
    is of the local block."""
    if Flavor.NEXT_CSID not in sid.flavors:
        return None
    return locator.block_length, sid.prefix.prefixlen - locator.block_length


def _next_hop(
    t: Target, next_hop: IPv4Address | IPv6Address, interface: str, ref: ObjectRef
) -> IPv4Address | IPv6Address | None:
    """The address that a SID names for a next hop on an interface, with a route to it. None when
    another SID has the same next hop on another interface."""
    address = next_hop
    if isinstance(next_hop, IPv6Address) and next_hop.is_link_local:
        # Looked up as if it had come in on the underlay, it would be sought there
        # (rt6_need_strict); an address that stands for it leads to the interface.
        digest = hashlib.blake2b(f"{next_hop}%{interface}".encode(), digest_size=8).digest()
        address = IPv6Address(int(_INDIRECT.network_address) | int.from_bytes(digest))
    route = NextHopRoute(address, interface, next_hop)
    other = t.objects.get(route.key)
    if other is not None and other != route:
        where = f" on {other.device}" if isinstance(other, NextHopRoute) else ""
        t.pending[ref] = f"there is another route to next hop {next_hop} already{where}"
        return None
    t.need(route, ref)
    return address
