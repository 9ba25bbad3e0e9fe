"""Desired state to the set of objects that shall stand in the kernel and in FRR."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.model import domain
from srv6mgrd.model.behavior import Behavior, Flavor
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.csid import is_of_local_block
from srv6mgrd.model.desired import Desired, Locator, Role, Sid, SteeredRoute, Vrf
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan import interfaces as declared_interfaces
from srv6mgrd.plan import proxies
from srv6mgrd.plan.link_objects import LinkMtu, Stacked
from srv6mgrd.plan.objects import (
    MAIN_TABLE,
    SID_DEVICE,
    DummyDevice,
    EncapRoute,
    EncapSource,
    FrrBlock,
    NextHopRoute,
    Object,
    ProxyPrograms,
    Rule,
    SidRoute,
    Sysctl,
    UnreachableDefault,
    UnreachableSid,
    VrfDevice,
    VrfPort,
    boundary,
)
from srv6mgrd.plan.observed import Links, ObservedObject
from srv6mgrd.plan.proxies import Declared

# After the l3mdev rule (1000): packets of a VRF meet their own table first and end at its
# unreachable default, so that customers can't reach SIDs (RFC 8754 section 5.1).
SID_RULE_PRIORITY = 2000

# Before the l3mdev rule: the kernel looks up the outer header of what a VRF encapsulates as if it
# had come in on the VRF (seg6_input_core), where the unreachable default would end it.
UNDERLAY_RULE_PRIORITY = 990

# Before that one: what goes to a SID of this router is not the main table's to route, be it by a
# default route or by zebra's copy of the SID.
LOCAL_RULE_PRIORITY = 989

# Pinned ifindexes lie far above those that the kernel hands out one by one
# (net/core/dev.c, dev_index_reserve).
_VRF_IFINDEX_BASE = 1 << 28

# Where addresses for link-local next hops are taken from: never anybody's destination (RFC 6666).
_INDIRECT = IPv6Network("100::/64")

# Values of the sysctl seg6_flowlabel (seg6_make_flowlabel) for the YANG enum.
_FLOW_LABEL = Sysctl("net/ipv6/seg6_flowlabel", "")
# BGP needs it. Without BGP it stays as long as a source is declared: zebra takes the source out of
# the kernel with its line, while packets are encapsulated with it.
_FRR_SOURCE = FrrBlock("zebra", ("segment-routing", "srv6", "encapsulation"), ()).key
# Once written by us: a sysctl follows the declaration back to its default, a line of FRR stays.
VALUES_KEPT = (_FLOW_LABEL.key, _FRR_SOURCE)
_FLOW_LABELS = {"zero": "-1", "copy": "0", "compute": "1"}
_FORWARD_IPV4 = Sysctl("net/ipv4/ip_forward", "1")
_FORWARD_IPV6 = Sysctl("net/ipv6/conf/all/forwarding", "1")
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


@dataclass(slots=True)
class Target:
    """``objects`` by key; ``serves`` says which declared objects each of them is for;
    ``pending`` holds what can't be put in place yet, with the reason. With ``borrowed`` VRFs are
    another's: they are waited for, never made, changed or removed. ``differs`` are the keys in
    which it is otherwise than the one that it was made of (``with_sids``)."""

    objects: dict[str, Object] = field(default_factory=dict)
    serves: dict[str, list[ObjectRef]] = field(default_factory=dict)
    pending: dict[ObjectRef, str] = field(default_factory=dict)
    borrowed: bool = False
    differs: frozenset[str] = frozenset()

    def need(self, obj: Object, *refs: ObjectRef) -> None:
        self.put(obj.key, obj, *refs)

    def put(self, key: str, obj: Object, *refs: ObjectRef) -> None:
        """``need`` with the key at hand."""
        self.objects[key] = obj
        # A declared object is done before the next one, so it is the last one if it is there;
        # the SID device serves all SIDs, and a search among them would be quadratic.
        serves = self.serves.setdefault(key, [])
        for ref in refs:
            if not serves or serves[-1] != ref:
                serves.append(ref)

    def meet(self, observed: Mapping[str, ObservedObject], some: Iterable[str] | None) -> None:
        """Have the observed objects where they are equal, so that next time ``is`` tells: to
        compare a hundred thousand objects by value takes several times as long. ``some`` are the
        keys to look at, if not all."""
        for key in self.objects if some is None else some:
            obj, seen = self.objects.get(key), observed.get(key)
            if isinstance(obj, Stacked):
                continue  # their order is not observed
            if seen is not None and seen.object is not obj and seen.object == obj:
                self.objects[key] = seen.object


def target(
    desired: Desired,
    links: Links | Mapping[str, int],
    frr_blocks: Iterable[FrrBlock] = (),
    owned: Container[str] = (),
    *,
    borrowed: bool = False,
) -> Target:
    """What shall stand, given the links that exist (their ifindexes may do). ``owned`` are the
    keys in the journal, of which VALUES_KEPT matter. ``borrowed`` as in Target."""
    if not isinstance(links, Links):
        links = Links(links)
    t = Target(borrowed=borrowed)
    interfaces = declared_interfaces.existing(desired, links.indexes, borrowed=borrowed)
    for one in desired.interfaces.values():
        _interface(t, one, desired, interfaces, links)
    for locator in desired.locators.values():
        _locator(t, locator, desired)
    for vrf in desired.vrfs.values():
        _vrf(t, vrf, interfaces)
    _boundary(t, desired, interfaces)
    for sid in desired.sids.values():
        if not sid.behavior.is_proxy:
            _sid(t, sid, desired, interfaces)
    _proxies(t, desired, interfaces, links.receivers)
    for route in desired.routes.values():
        _route(t, route, desired, interfaces)
    if desired.encapsulation_source is not None:
        t.need(EncapSource(desired.encapsulation_source))
    if desired.flow_label != "copy" or _FLOW_LABEL.key in owned:
        t.need(Sysctl(_FLOW_LABEL.path, _FLOW_LABELS[desired.flow_label]))
    for block in frr_blocks:
        if block.key != _FRR_SOURCE or desired.bgp is not None or block.key in owned:
            t.need(block, *(block.serves or _served_by(block, desired)))
    return t


def met(desired: Desired, links: Links, *, borrowed: bool = False) -> Links:
    """Of the links those that ``target`` looks at: whatever becomes of others, it is the same."""
    declared = list(proxies.declared(desired))
    names = {sid.interface for sid in desired.sids.values()}
    names.update(route.interface for route in desired.routes.values())
    names.update(desired.roles, *(vrf.interfaces for vrf in desired.vrfs.values()))
    names.update(*(d.interfaces for d in declared), desired.vrfs if borrowed else ())
    parents = declared_interfaces.parents(desired)
    names.update(parents, desired.interfaces)
    indexes = links.indexes
    return Links(
        {name: indexes[name] for name in names if name is not None and name in indexes},
        links.receivers if declared else frozenset(),
        links.down & parents,
        {name: links.bridged[name] for name in desired.interfaces if name in links.bridged},
    )


def with_sids(before: Target, old: Desired, new: Desired) -> Target | None:
    """What ``target`` would make of ``new``, which differs from ``old`` in its SIDs alone, from
    what it made of ``old``: one more SID among many. None when they differ in more, or a SID does
    that shares more with others than what all SIDs need."""
    if replace(old, sids={}) != replace(new, sids={}):
        return None
    # With the first SID the boundary may have to be guarded.
    if not (old.sids and new.sids) and domain.is_guarded(old) != domain.is_guarded(new):
        return None
    came = [s for p, s in new.sids.items() if old.sids.get(p) is not s]
    went = [s for p, s in old.sids.items() if new.sids.get(p) is not s]
    if not all(map(_is_plain, (*came, *went))):
        return None
    if before.borrowed and any(sid.vrf for sid in (*came, *went)):
        return None
    t = Target(dict(before.objects), dict(before.serves), dict(before.pending), before.borrowed)
    alone = Target()
    for sid in went:
        _sid(alone, sid, old, {})
    gone = alone.serves.keys()
    for key, refs in alone.serves.items():
        leaving = set(refs)
        left = [ref for ref in t.serves[key] if ref not in leaving]
        if left:
            t.serves[key] = left
        else:
            del t.serves[key], t.objects[key]
    alone = Target()
    for sid in came:
        _sid(alone, sid, new, {})
    for key, obj in alone.objects.items():
        t.objects.setdefault(key, obj)
        t.serves[key] = [*t.serves.get(key, ()), *alone.serves[key]]
    t.differs = frozenset(gone | alone.objects.keys())
    return t


def _is_plain(sid: Sid) -> bool:
    return sid.interface is None and not sid.behavior.is_proxy


def vrf_ifindex(table: int) -> int:
    """Pinned ifindex of the VRF on this table. One VRF per table, so one index per VRF; tables
    that differ only above bit 27 would collide, and the kernel would refuse the second."""
    return _VRF_IFINDEX_BASE | (table & (_VRF_IFINDEX_BASE - 1))


def _interface(
    t: Target,
    one: Interface,
    desired: Desired,
    interfaces: Mapping[str, int],
    links: Links,
) -> None:
    ref = ObjectRef(Kind.INTERFACE, one.name)
    found = declared_interfaces.wanted(desired, one, interfaces, links)
    for obj in found.objects:
        t.need(obj, ref)
    if found.pending:
        t.pending[ref] = found.pending


def _locator(t: Target, locator: Locator, desired: Desired) -> None:
    ref = ObjectRef(Kind.LOCATOR, locator.name)
    if desired.vrfs:
        source = desired.encapsulation_source
        t.need(Rule(LOCAL_RULE_PRIORITY, locator.prefix, SID_TABLE, source), ref)
        t.need(Rule(UNDERLAY_RULE_PRIORITY, locator.block, MAIN_TABLE, source), ref)
    t.need(Rule(SID_RULE_PRIORITY, locator.prefix, SID_TABLE), ref)
    t.need(_FORWARD_IPV6, ref)


def _vrf(t: Target, vrf: Vrf, interfaces: Mapping[str, int]) -> None:
    ref = ObjectRef(Kind.VRF, vrf.name)
    t.need(_FORWARD_IPV4, ref)
    t.need(_FORWARD_IPV6, ref)
    index = vrf_ifindex(vrf.table)
    if t.borrowed:
        if vrf.name not in interfaces:
            t.pending[ref] = _not_borrowed(vrf.name)
            return
        # As it stands, there is nothing to be done about it.
        index = interfaces[vrf.name]
    t.need(VrfDevice(vrf.name, vrf.table, index), ref)
    t.need(UnreachableDefault(4, vrf.table), ref)
    t.need(UnreachableDefault(6, vrf.table), ref)
    for sid in vrf.bgp.export_sids if vrf.bgp is not None else ():
        t.need(UnreachableSid(sid, vrf.table), ObjectRef(Kind.VRF_BGP, vrf.name))
    missing = [i for i in vrf.interfaces if i not in interfaces]
    for interface in vrf.interfaces:
        if interface not in missing:
            t.need(declared_interfaces.keep_addresses(interface), ref)
            t.need(VrfPort(interface, vrf.name), ref)
    if missing:
        t.pending[ref] = f"interface {', '.join(missing)} does not exist yet"


def _not_borrowed(name: str) -> str:
    return f"VRF {name} does not exist yet; on SONiC vrfmgrd makes it (CONFIG_DB VRF|{name})"


def _boundary(t: Target, desired: Desired, interfaces: Mapping[str, int]) -> None:
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


def _sid(t: Target, sid: Sid, desired: Desired, interfaces: Mapping[str, int]) -> None:
    ref = ObjectRef(Kind.SID, str(sid.prefix))
    if t.borrowed and sid.vrf is not None and sid.vrf not in interfaces:
        t.pending[ref] = _not_borrowed(sid.vrf)
        return
    t.put(_DUMMY_KEY, _DUMMY, ref)
    if sid.behavior is Behavior.END_DX4:
        t.need(_FORWARD_IPV4, ref)
    vrf_table, lookup_table = _tables(sid, desired)
    if vrf_table is not None:
        # End.DT* are refused without it (seg6_end_dt_vrf_build).
        t.put(_STRICT_MODE_KEY, _STRICT_MODE, ref)
    if sid.behavior in (Behavior.END_DT4, Behavior.END_DT46) and sid.vrf is not None:
        # What comes out of the tunnel comes in on the VRF (end_dt_vrf_rcv), and leads back through
        # the underlay: no reverse path would do, not even a loose one on a device without
        # addresses (__fib_validate_source).
        t.need(Sysctl(f"net/ipv4/conf/{sid.vrf}/rp_filter", "0"), ref)
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
        segments=_segments(desired, sid.segment_list),
        bpf_program=sid.bpf_program,
        flavors=sid.flavors,
        csid_lengths=_csid_lengths(sid, desired.locators[sid.locator]),
    )
    t.need(route, ref)


def _proxies(
    t: Target, desired: Desired, interfaces: Mapping[str, int], receivers: Collection[str]
) -> None:
    refs = []
    for declared in proxies.declared(desired):
        ref = ObjectRef(Kind.SID, str(declared.sid.prefix))
        if _proxy(t, declared, desired, interfaces, ref):
            refs.append(ref)
    if refs:
        t.need(DummyDevice(SID_DEVICE), *refs)
        t.need(_FORWARD_IPV6, *refs)
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
        t.need(_FORWARD_IPV4, ref)
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
    t.need(proxies.entry(sid, proxy, _segments(desired, proxy.segment_list)), ref)
    t.need(proxies.route(sid, proxy, next_hop), ref)
    t.need(proxies.back(proxy), ref)
    return True


def _tables(sid: Sid, desired: Desired) -> tuple[int | None, int | None]:
    """The VRF's table that a SID is bound to, and the table that it looks up without a VRF."""
    table = desired.vrfs[sid.vrf].table if sid.vrf is not None else None
    if sid.behavior is Behavior.END_T:
        return None, table or MAIN_TABLE
    if sid.behavior is Behavior.END_DT6 and table is None:
        return None, MAIN_TABLE
    return table, None


def _segments(desired: Desired, name: str | None) -> tuple[IPv6Address, ...]:
    return desired.segment_lists[name].segments if name is not None else ()


def _local_block(t: Target, locator: Locator, desired: Desired, ref: ObjectRef) -> None:
    """SIDs beside the locator's prefix, among other nodes' locators: one rule for all of them. What
    it does not find in the table goes on to the next rule."""
    if desired.vrfs:
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


def _route(t: Target, route: SteeredRoute, desired: Desired, interfaces: Mapping[str, int]) -> None:
    ref = ObjectRef(Kind.ROUTE, route.name)
    ipv4 = route.prefix.version == 4
    table = desired.vrfs[route.vrf].table if route.vrf is not None else MAIN_TABLE
    segments = _segments(desired, route.segment_list)
    if ipv4:
        t.need(_FORWARD_IPV4, ref)
    # The outer packet is forwarded, whatever is in it.
    t.need(_FORWARD_IPV6, ref)
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


def _served_by(block: FrrBlock, desired: Desired) -> list[ObjectRef]:
    """The declared objects that an FRR context is for, by the names in its commands."""
    if block.daemon == "isisd" and desired.isis is not None:
        return [ObjectRef(Kind.LOCATOR, desired.isis.locator)]
    words = {word for command in block.context for word in command.split()}
    refs = [ObjectRef(Kind.VRF_BGP, v.name) for v in desired.vrfs.values() if v.bgp]
    mine = [ref for ref in refs if ref.name in words]
    locators = [ObjectRef(Kind.LOCATOR, name) for name in desired.locators if name in words]
    return mine or locators or refs
