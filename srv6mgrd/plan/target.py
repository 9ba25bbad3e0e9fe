"""Desired state to the set of desired objects of the kernel and of FRR."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.l3mdev_rule.object import L3mdevRule
from srv6mgrd.kinds.rule.object import Rule
from srv6mgrd.kinds.sysctl.object import Sysctl
from srv6mgrd.kinds.unreachable.object import UnreachableDefault, UnreachableSid
from srv6mgrd.kinds.vrf.object import VrfDevice
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model import domain
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.csid import is_of_local_block
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.reserved import MAIN_TABLE
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan import interfaces as declared_interfaces
from srv6mgrd.plan import proxies
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.target_accounting import need_accounting
from srv6mgrd.plan.target_boundary import need_boundary
from srv6mgrd.plan.target_chains import need_chains
from srv6mgrd.plan.target_objects import (
    FORWARD_IPV4,
    FORWARD_IPV6,
    LOCAL_RULE_PRIORITY,
    SID_RULE_PRIORITY,
    UNDERLAY_RULE_PRIORITY,
    Target,
    not_borrowed,
    vrf_ifindex,
)
from srv6mgrd.plan.target_sids import need_proxies, need_sid
from srv6mgrd.plan.target_steering import by_rules_of, need_route

# Values of the sysctl seg6_flowlabel (seg6_make_flowlabel) for the YANG enum.
_FLOW_LABEL = Sysctl("net/ipv6/seg6_flowlabel", "")
# BGP needs it. Without BGP it stays as long as a source is declared: zebra takes the source out of
# the kernel with its line, while packets are encapsulated with it.
_FRR_SOURCE = FrrBlock("zebra", ("segment-routing", "srv6", "encapsulation"), ()).key
# Once written by us: a sysctl follows the declaration back to its default, a line of FRR stays.
VALUES_KEPT = (_FLOW_LABEL.key, _FRR_SOURCE)
_FLOW_LABELS = {"zero": "-1", "copy": "0", "compute": "1"}


def target(
    desired: Desired,
    links: Links | Mapping[str, int],
    frr_blocks: Iterable[FrrBlock] = (),
    owned: Container[str] = (),
    *,
    borrowed: bool = False,
    lookup_tables: bool = False,
    bgp_lookup_tables: bool = False,
) -> Target:
    """The desired objects, given the links that exist (their ifindexes may do). ``owned`` are the
    keys in the journal, of which VALUES_KEPT matter. ``borrowed`` as in Target. With
    ``lookup_tables`` the kernel takes SEG6_IPTUNNEL_TABLE, with ``bgp_lookup_tables`` FRR sets it
    in the routes of BGP."""
    if not isinstance(links, Links):
        links = Links(links)
    by_rules = by_rules_of(desired, lookup_tables=lookup_tables)
    rules = _vrf_rules(desired, by_rules, lookup_tables, bgp_lookup_tables)
    t = Target(borrowed=borrowed, vrf_rules=rules)
    interfaces = declared_interfaces.existing(desired, links.indexes, borrowed=borrowed)
    for one in desired.interfaces.values():
        _interface(t, one, desired, interfaces, links)
    for locator in desired.locators.values():
        _locator(t, locator, desired)
    for vrf in desired.vrfs.values():
        _vrf(t, vrf, interfaces)
    need_boundary(t, desired, interfaces)
    need_accounting(t, desired, interfaces, links.receivers)
    for sid in desired.sids.values():
        if not sid.behavior.is_proxy:
            need_sid(t, sid, desired, interfaces)
    need_proxies(t, desired, interfaces, links.receivers)
    need_chains(t, desired, interfaces)
    for name, route in desired.routes.items():
        need_route(t, route, desired, interfaces, by_rules=name in by_rules)
    if desired.encapsulation_source is not None:
        t.need(EncapSource(desired.encapsulation_source))
    if desired.flow_label != "copy" or _FLOW_LABEL.key in owned:
        t.need(Sysctl(_FLOW_LABEL.path, _FLOW_LABELS[desired.flow_label]))
    served_by = _ServedBy(desired)
    for block in frr_blocks:
        if block.key != _FRR_SOURCE or desired.bgp is not None or block.key in owned:
            t.need(block, *(block.serves or served_by(block)))
    return t


def met(desired: Desired, links: Links, *, borrowed: bool = False) -> Links:
    """Of the links those that ``target`` looks at: whatever becomes of others, it is the same."""
    declared = list(proxies.declared(desired))
    names = {sid.interface for sid in desired.sids.values()}
    names.update(route.interface for route in desired.routes.values())
    names.update(desired.roles, *(vrf.interfaces for vrf in desired.vrfs.values()))
    names.update(*(d.interfaces for d in declared), desired.vrfs if borrowed else ())
    names.update(*(one.interfaces for one in desired.chains.classifiers.values()))
    parents = declared_interfaces.parents(desired)
    names.update(parents, desired.interfaces)
    indexes = links.indexes
    return Links(
        {name: indexes[name] for name in names if name is not None and name in indexes},
        links.receivers if declared or desired.accounting.enabled else frozenset(),
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
    # A route may lead to it.
    if new.routes and any(is_of_local_block(s, new.locators[s.locator]) for s in (*came, *went)):
        return None
    if before.borrowed and any(sid.vrf for sid in (*came, *went)):
        return None
    t = replace(
        before,
        objects=dict(before.objects),
        serves=dict(before.serves),
        pending=dict(before.pending),
    )
    alone = Target(vrf_rules=before.vrf_rules)
    for sid in went:
        need_sid(alone, sid, old, {})
    gone = alone.objects.keys()
    for key in gone:
        leaving = set(alone.serves.get(key, ()))
        left = [ref for ref in t.serves.get(key, ()) if ref not in leaving]
        if left:
            t.serves[key] = left
        else:
            t.serves.pop(key, None)
            del t.objects[key]
    alone = Target(vrf_rules=before.vrf_rules)
    for sid in came:
        need_sid(alone, sid, new, {})
    for key, obj in alone.objects.items():
        t.objects.setdefault(key, obj)
        if refs := alone.serves.get(key):
            t.serves[key] = [*t.serves.get(key, ()), *refs]
    t.differs = frozenset(gone | alone.objects.keys())
    return t


def _is_plain(sid: Sid) -> bool:
    return sid.interface is None and not sid.behavior.is_proxy and not sid.default_vrf


def _vrf_rules(
    desired: Desired, by_rules: Container[str], lookup_tables: bool, bgp_lookup_tables: bool
) -> bool:
    """Whether rules take what VRFs encapsulate out of them: always where the kernel knows no other
    way. Routes of BGP need them as well, unless FRR sets the table."""
    if not lookup_tables:
        return bool(desired.vrfs)
    bgp = any(vrf.bgp is not None for vrf in desired.vrfs.values())
    return (bgp and not bgp_lookup_tables) or any(name in by_rules for name in desired.routes)


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
    if t.vrf_rules:
        source = desired.encapsulation_source
        t.need(Rule(LOCAL_RULE_PRIORITY, locator.prefix, SID_TABLE, source), ref)
        t.need(Rule(UNDERLAY_RULE_PRIORITY, locator.block, MAIN_TABLE, source), ref)
    t.need(Rule(SID_RULE_PRIORITY, locator.prefix, SID_TABLE), ref)
    t.need(FORWARD_IPV6, ref)


def _vrf(t: Target, vrf: Vrf, interfaces: Mapping[str, int]) -> None:
    ref = ObjectRef(Kind.VRF, vrf.name)
    t.need(FORWARD_IPV4, ref)
    t.need(FORWARD_IPV6, ref)
    index = vrf_ifindex(vrf.table)
    if t.borrowed:
        if vrf.name not in interfaces:
            t.pending[ref] = not_borrowed(vrf.name)
            return
        # There is nothing to be done about it.
        index = interfaces[vrf.name]
    t.need(VrfDevice(vrf.name, vrf.table, index), ref)
    t.need(L3mdevRule(4), ref)
    t.need(L3mdevRule(6), ref)
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


class _ServedBy:
    """The declared objects that an FRR context is for, by the names in its commands."""

    def __init__(self, desired: Desired) -> None:
        self._isis = desired.isis
        named = [vrf.name for vrf in desired.vrfs.values() if vrf.bgp]
        self._vrfs = {name: ObjectRef(Kind.VRF_BGP, name) for name in named}
        self._locators = {name: ObjectRef(Kind.LOCATOR, name) for name in desired.locators}

    def __call__(self, block: FrrBlock) -> Iterable[ObjectRef]:
        if block.daemon == "isisd" and self._isis is not None:
            return [ObjectRef(Kind.LOCATOR, self._isis.locator)]
        words = dict.fromkeys(word for command in block.context for word in command.split())
        mine = [self._vrfs[word] for word in words if word in self._vrfs]
        locators = [self._locators[word] for word in words if word in self._locators]
        return mine or locators or self._vrfs.values()
