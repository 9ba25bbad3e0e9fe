"""Parts of a desired state: what depends on one, the state without it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv6Network

from srv6mgrd.model.bgp import Bgp
from srv6mgrd.model.chains import Chain, Chains
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired, Role, Vrf
from srv6mgrd.model.isis import Isis
from srv6mgrd.model.leaking import DEFAULT_VRF
from srv6mgrd.model.names import of_ref
from srv6mgrd.model.references import (
    BGP,
    ISIS,
    PEER_KINDS,
    Part,
    Ref,
    bgp_ref,
    chain_ref,
    classifier_ref,
    function_group_ref,
    function_ref,
    interface_ref,
    leak_ref,
    ospf_ref,
    peer_ref,
    policy_ref,
    route_ref,
    sid_ref,
    static_route_ref,
)
from srv6mgrd.model.routing_policy import RoutingPolicy
from srv6mgrd.model.status import Kind, ObjectRef

_NO_CHAINS = Chains()


def declared_as(desired: Desired, ref: Ref) -> object:
    """Its declaration, to be compared with another; None when it is not declared."""
    match ref:
        case ObjectRef(Kind.LOCATOR, name):
            return desired.locators.get(name)
        case ObjectRef(Kind.SEGMENT_LIST, name):
            return desired.segment_lists.get(name)
        case ObjectRef(Kind.INTERFACE, name):
            found = desired.roles.get(name), desired.interfaces.get(name)
            return found if any(part is not None for part in found) else None
        case ObjectRef(Kind.SID, name):
            prefix = IPv6Network(name)
            return desired.sids.get(prefix) or desired.malformed.get(prefix)
        case ObjectRef(Kind.VRF, name):
            vrf = desired.vrfs.get(name)
            return replace(vrf, bgp=None) if vrf is not None else None
        case ObjectRef(Kind.VRF_BGP, name):
            vrf = desired.vrfs.get(name)
            return vrf.bgp if vrf is not None else None
        case ObjectRef(Kind.ROUTE, name):
            return desired.routes.get(name)
        case ObjectRef(Kind.ROUTING_POLICY, name):
            return _with_sets(desired.routing_policy, name)
        case ObjectRef(Kind.STATIC_ROUTE, name):
            return desired.static_routes.get(name)
        case ObjectRef(Kind.ROUTE_LEAK, name):
            return desired.leaks.get(name)
        case ObjectRef(Kind.OSPF, name):
            return desired.ospf.get(name)
        case ObjectRef(Kind.OSPFV3, name):
            return desired.ospfv3.get(name)
        case ObjectRef(Kind.SERVICE_FUNCTION, name):
            return desired.chains.functions.get(name)
        case ObjectRef(Kind.SERVICE_FUNCTION_GROUP, name):
            return desired.chains.groups.get(name)
        case ObjectRef(Kind.SERVICE_FUNCTION_CHAIN, name):
            return desired.chains.chains.get(name)
        case ObjectRef(Kind.CLASSIFIER, name):
            return desired.chains.classifiers.get(name)
        case Part(kind, _) if kind in PEER_KINDS:
            neighbors = desired.bgp.neighbors if desired.bgp is not None else ()
            return next((n for n in neighbors if peer_ref(n) == ref), None)
        case Part("isis-interface", name):
            interfaces = desired.isis.interfaces if desired.isis is not None else ()
            return next((i for i in interfaces if i.name == name), None)
        case Part("bgp", _):
            return replace(desired.bgp, neighbors=()) if desired.bgp is not None else None
        case _:
            return replace(desired.isis, interfaces=()) if desired.isis is not None else None


def _with_sets(routing: RoutingPolicy, name: str) -> object:
    """A policy with the sets that it matches against, of which it is made."""
    policy = routing.policies.get(name)
    if policy is None:
        return None
    conditions = [s.conditions for s in policy.statements]
    return (
        policy,
        *(routing.prefix_sets[c.prefix_set] for c in conditions if c.prefix_set is not None),
        *(routing.community_sets[c.community_set] for c in conditions if c.community_set),
        *(routing.as_path_sets[c.as_path_set] for c in conditions if c.as_path_set is not None),
    )


def without(desired: Desired, refs: Collection[Ref]) -> Desired:
    """The state less these parts; what depends on them has to be among them."""
    if not refs:
        return desired
    vrfs: dict[str, Vrf] = {}
    roles: dict[str, Role] = {}
    for vrf in desired.vrfs.values():
        if ObjectRef(Kind.VRF, vrf.name) not in refs:
            lost = bgp_ref(vrf) in refs
            vrfs[vrf.name] = replace(vrf, bgp=None) if lost else vrf
        else:
            # An interface of a VRF that can't be installed is a customer's all the same.
            roles |= dict.fromkeys(vrf.interfaces, Role.CUSTOMER)
    roles |= desired.roles
    return replace(
        desired,
        vrfs=vrfs,
        roles={
            n: r for n, r in roles.items() if interface_ref(n) not in refs or _stays(n, r, desired)
        },
        interfaces={n: i for n, i in desired.interfaces.items() if interface_ref(n) not in refs},
        sids={p: s for p, s in desired.sids.items() if sid_ref(s) not in refs},
        malformed={
            p: r for p, r in desired.malformed.items() if ObjectRef(Kind.SID, str(p)) not in refs
        },
        routes={n: r for n, r in desired.routes.items() if route_ref(r) not in refs},
        static_routes={
            n: r for n, r in desired.static_routes.items() if static_route_ref(r) not in refs
        },
        ospf={n: o for n, o in desired.ospf.items() if ospf_ref(o) not in refs},
        ospfv3={n: o for n, o in desired.ospfv3.items() if ospf_ref(o) not in refs},
        leaks={n: leak for n, leak in desired.leaks.items() if leak_ref(leak) not in refs},
        locators={
            n: loc for n, loc in desired.locators.items() if ObjectRef(Kind.LOCATOR, n) not in refs
        },
        segment_lists={
            n: s
            for n, s in desired.segment_lists.items()
            if ObjectRef(Kind.SEGMENT_LIST, n) not in refs
        },
        routing_policy=_policies_without(desired.routing_policy, refs),
        chains=_chains_without(desired.chains, refs),
        bgp=_bgp_without(desired, refs),
        isis=_isis_without(desired, refs),
    )


def _chains_without(chains: Chains, refs: Collection[Ref]) -> Chains:
    if chains == _NO_CHAINS:
        return chains
    return Chains(
        {n: f for n, f in chains.functions.items() if function_ref(n) not in refs},
        {n: g for n, g in chains.groups.items() if function_group_ref(n) not in refs},
        {n: c for n, c in chains.chains.items() if chain_ref(n) not in refs},
        {n: c for n, c in chains.classifiers.items() if classifier_ref(n) not in refs},
    )


def _policies_without(routing: RoutingPolicy, refs: Collection[Ref]) -> RoutingPolicy:
    kept = {n: p for n, p in routing.policies.items() if policy_ref(n) not in refs}
    return routing if len(kept) == len(routing.policies) else replace(routing, policies=kept)


def _stays(name: str, role: Role, desired: Desired) -> bool:
    """Whether an interface keeps its role though what else is declared of it is left out: behind
    an address that can't be, there is a customer all the same."""
    return role is Role.CUSTOMER and name in desired.interfaces and not taken(desired, name)


def _bgp_without(desired: Desired, refs: Collection[Ref]) -> Bgp | None:
    bgp = desired.bgp
    if bgp is None or BGP in refs:
        return None
    kept = tuple(n for n in bgp.neighbors if peer_ref(n) not in refs)
    return bgp if kept == bgp.neighbors else replace(bgp, neighbors=kept)


def _isis_without(desired: Desired, refs: Collection[Ref]) -> Isis | None:
    isis = desired.isis
    if isis is None or ISIS in refs:
        return None
    kept = tuple(i for i in isis.interfaces if Part("isis-interface", i.name) not in refs)
    further = tuple(
        name for name in isis.additional_locators if ObjectRef(Kind.LOCATOR, name) not in refs
    )
    if (kept, further) == (isis.interfaces, isis.additional_locators):
        return isis
    return replace(isis, interfaces=kept, additional_locators=further)


def with_dependents(desired: Desired, reasons: Mapping[Ref, str], state: str) -> dict[Ref, str]:
    """With what can't be without parts that are left out, which are ``state``."""
    found = dict(reasons)
    if not found:
        return found
    for ref, needed in _needs(desired):
        if needed in found and ref not in found:
            root = found[needed]
            of_another = root.startswith("it needs ")
            found[ref] = (
                root if of_another else f"it needs {of_ref(needed)}, which is {state}: {root}"
            )
    return found


def stated(reasons: Mapping[Ref, str]) -> dict[ObjectRef, str]:
    """Those of parts that have a status."""
    return {ref: reason for ref, reason in reasons.items() if isinstance(ref, ObjectRef)}


def _needs(desired: Desired) -> Iterator[tuple[Ref, Ref]]:
    """Each part that needs another, with that one; those that others need come first."""
    for sid in desired.sids.values():
        yield sid_ref(sid), ObjectRef(Kind.LOCATOR, sid.locator)
        if sid.vrf is not None:
            yield sid_ref(sid), ObjectRef(Kind.VRF, sid.vrf)
        for path in (sid.segment_list, sid.proxy.segment_list if sid.proxy else None):
            if path is not None:
                yield sid_ref(sid), ObjectRef(Kind.SEGMENT_LIST, path)
    for vrf in desired.vrfs.values():
        if vrf.bgp is None:
            continue
        yield bgp_ref(vrf), ObjectRef(Kind.VRF, vrf.name)
        yield bgp_ref(vrf), BGP
        if vrf.bgp.locator is not None:
            yield bgp_ref(vrf), ObjectRef(Kind.LOCATOR, vrf.bgp.locator)
        for exported in vrf.bgp.export_sids:
            yield bgp_ref(vrf), ObjectRef(Kind.SID, str(exported))
        for policy in vrf.bgp.policies:
            yield bgp_ref(vrf), policy_ref(policy)
    for neighbor in desired.bgp.neighbors if desired.bgp is not None else ():
        for policy in neighbor.apply_policy.names:
            yield peer_ref(neighbor), policy_ref(policy)
    for route in desired.routes.values():
        yield route_ref(route), ObjectRef(Kind.SEGMENT_LIST, route.segment_list)
        if route.vrf is not None:
            yield route_ref(route), ObjectRef(Kind.VRF, route.vrf)
    for static in desired.static_routes.values():
        yield static_route_ref(static), ObjectRef(Kind.VRF, static.vrf)
    for ospf in (*desired.ospf.values(), *desired.ospfv3.values()):
        yield ospf_ref(ospf), ObjectRef(Kind.VRF, ospf.vrf)
        for policy in ospf.policies:
            yield ospf_ref(ospf), policy_ref(policy)
    for leak in desired.leaks.values():
        for name in (leak.importer, leak.source):
            yield leak_ref(leak), BGP if name == DEFAULT_VRF else ObjectRef(Kind.VRF_BGP, name)
        if leak.policy is not None:
            yield leak_ref(leak), policy_ref(leak.policy)
    if desired.isis is not None:
        yield ISIS, ObjectRef(Kind.LOCATOR, desired.isis.locator)
    yield from _needs_of_chains(desired.chains)


def _needs_of_chains(chains: Chains) -> Iterator[tuple[Ref, Ref]]:
    for function in chains.functions.values():
        if function.proxied is not None:
            locator = ObjectRef(Kind.LOCATOR, function.proxied.locator)
            yield function_ref(function.name), locator
    for group in chains.groups.values():
        for member in group.functions:
            yield function_group_ref(group.name), function_ref(member)
    for chain in _fallbacks_first(chains):
        ref = chain_ref(chain.name)
        for hop in chain.hops:
            if hop.function is not None:
                yield ref, function_ref(hop.function)
            if hop.group is not None:
                yield ref, function_group_ref(hop.group)
        for egress in chain.egresses.values():
            if egress.vrf is not None:
                yield ref, ObjectRef(Kind.VRF, egress.vrf)
        if chain.fallback is not None:
            yield ref, chain_ref(chain.fallback)
    for classifier in chains.classifiers.values():
        ref = classifier_ref(classifier.name)
        if classifier.vrf is not None:
            yield ref, ObjectRef(Kind.VRF, classifier.vrf)
        for name in dict.fromkeys(r.chain for r in classifier.rules if r.chain is not None):
            yield ref, chain_ref(name)


def _fallbacks_first(chains: Chains) -> Iterable[Chain]:
    found: dict[str, Chain] = {}
    for chain in chains.chains.values():
        behind = [chain]
        while (name := behind[-1].fallback) is not None and name not in found:
            if name not in chains.chains or any(one.name == name for one in behind):
                break
            behind.append(chains.chains[name])
        found |= {one.name: one for one in reversed(behind) if one.name not in found}
    return found.values()
