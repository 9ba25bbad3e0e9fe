"""What a desired state needs of the node, and what this node does not offer of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import replace

from srv6mgrd.counters.status import Kind, ObjectRef
from srv6mgrd.model import domain
from srv6mgrd.model.behavior import Flavor
from srv6mgrd.model.capabilities import Capabilities
from srv6mgrd.model.checks.names import (
    bgp_path,
    interface_path,
    route_object,
    route_path,
    sid_path,
    vrf_path,
)
from srv6mgrd.model.desired import Desired, Role, Sid, SteeredRoute, Vrf
from srv6mgrd.model.expand import is_made
from srv6mgrd.model.refusal import Refusal, RefusedError

# Tag of a refusal for want of something, whoever found it missing.
MISSING = "capability-missing"
_UNTRIED = "it was not found when probed"
_ACCEPT = "or set unsupported to accept, to keep it until the node offers it"


def check(
    desired: Desired, capabilities: Capabilities, standing: Container[ObjectRef] = ()
) -> dict[ObjectRef, str]:
    """The objects that this node can't carry, each with the reason; for ``without``.

    Takes the expanded state. Raises RefusedError unless the operator accepts such objects. Those
    that need such an object are among them: the SID of a VRF that can't be. ``standing`` are
    objects that stand as declared, which shows that the node can carry them.
    """
    wants = [want for want in _wants(desired, capabilities) if want[0] not in standing]
    unguarded = _unguarded(desired, capabilities, standing)
    if (wants or unguarded) and not desired.accept_unsupported:
        refusals = [refusal for _, refusal in wants]
        raise RefusedError([*refusals, unguarded] if unguarded else refusals)
    reasons: dict[ObjectRef, str] = {}
    for ref, refusal in wants:
        reasons.setdefault(ref, refusal.cause)
    if unguarded:
        reasons = dict.fromkeys(_open(desired), unguarded.cause) | reasons
    return _with_dependents(desired, reasons)


def without(desired: Desired, refs: Collection[ObjectRef]) -> Desired:
    """The state less the objects that ``check`` returned."""
    if not refs:
        return desired
    vrfs: dict[str, Vrf] = {}
    roles: dict[str, Role] = {}
    for vrf in desired.vrfs.values():
        if ObjectRef(Kind.VRF, vrf.name) not in refs:
            lost = ObjectRef(Kind.VRF_BGP, vrf.name) in refs
            vrfs[vrf.name] = replace(vrf, bgp=None) if lost else vrf
        else:
            # Who stands before a VRF that can't be is a customer all the same.
            roles |= dict.fromkeys(vrf.interfaces, Role.CUSTOMER)
    roles |= desired.roles
    return replace(
        desired,
        vrfs=vrfs,
        roles={n: r for n, r in roles.items() if _interface_ref(n) not in refs},
        sids={p: s for p, s in desired.sids.items() if _sid_ref(s) not in refs},
        routes={n: r for n, r in desired.routes.items() if _route_ref(r) not in refs},
    )


def _sid_ref(sid: Sid) -> ObjectRef:
    return ObjectRef(Kind.SID, str(sid.prefix))


def _interface_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.INTERFACE, name)


def _bgp_ref(vrf: Vrf) -> ObjectRef:
    return ObjectRef(Kind.VRF_BGP, vrf.name)


def _route_ref(route: SteeredRoute) -> ObjectRef:
    return ObjectRef(Kind.ROUTE, route.name)


_Want = tuple[ObjectRef, Refusal]


def _wants(desired: Desired, node: Capabilities) -> Iterator[_Want]:
    for vrf in desired.vrfs.values():
        if "vrf" not in node.facilities:
            lack = ("vrf", "VRFs", "remove it")
            yield (
                ObjectRef(Kind.VRF, vrf.name),
                _refusal(node, lack, f"VRF {vrf.name}", vrf_path(vrf.name)),
            )
    makers = {
        vrf.bgp.export_sid: vrf.name
        for vrf in desired.vrfs.values()
        if vrf.bgp is not None and is_made(vrf.bgp)
    }
    for sid in desired.sids.values():
        for lack in _lacks_of_sid(sid, node):
            where, path = f"SID {sid.prefix}", sid_path(sid.prefix)
            if (maker := makers.get(sid.prefix)) is not None:
                where, path = f"{where} made for VRF {maker}", bgp_path(maker)
            yield _sid_ref(sid), _refusal(node, lack, where, path)
    for route in desired.routes.values():
        for lack in _lacks_of_route(route, node):
            yield (
                _route_ref(route),
                _refusal(node, lack, route_object(route), route_path(route)),
            )


def _unguarded(
    desired: Desired, node: Capabilities, standing: Container[ObjectRef]
) -> Refusal | None:
    """Why the boundary of the domain can't be guarded, if it has to be: without that nothing is
    put in place which a customer could reach."""
    if "nftables" in node.facilities or not domain.is_guarded(desired):
        return None
    kept_out = [name for name, role in desired.roles.items() if role is Role.CUSTOMER]
    behind = [*map(_interface_ref, kept_out), *(ObjectRef(Kind.VRF, n) for n in desired.vrfs)]
    # They stand only where the filter does.
    if any(ref in standing for ref in behind):
        return None
    lack = ("nftables", "the filter that keeps customers from SIDs (nftables)", "remove SRv6")
    path = interface_path(kept_out[0]) if kept_out else vrf_path(next(iter(desired.vrfs)))
    return _refusal(node, lack, "boundary of the SRv6 domain", path)


def _open(desired: Desired) -> Iterator[ObjectRef]:
    """All that needs the boundary."""
    for name, role in desired.roles.items():
        if role is Role.CUSTOMER:
            yield _interface_ref(name)
    yield from (ObjectRef(Kind.VRF, name) for name in desired.vrfs)
    yield from map(_sid_ref, desired.sids.values())
    yield from map(_route_ref, desired.routes.values())


# Name in ``Capabilities.missing``, what it is to an operator, remedy.
_Lack = tuple[str, str, str]


def _lacks_of_sid(sid: Sid, node: Capabilities) -> Iterator[_Lack]:
    behavior = sid.behavior
    if behavior not in node.behaviors:
        yield behavior, behavior, "choose another behavior"
    elif behavior.is_proxy and "bpf" not in node.facilities:
        yield "bpf", f"the BPF programs of {behavior}", "choose another behavior"
    else:
        for flavor in sorted(sid.flavors):
            if (behavior, flavor) not in node.flavors:
                yield f"{behavior} {flavor}", _flavored(behavior, flavor), "remove the flavor"
    # A proxy counts by itself.
    if sid.counters and not behavior.is_proxy and "counters" not in node.facilities:
        yield "counters", "counters of SIDs", "set counters to false"


def _flavored(behavior: str, flavor: Flavor) -> str:
    return f"flavor {flavor} of {behavior}"


def _lacks_of_route(route: SteeredRoute, node: Capabilities) -> Iterator[_Lack]:
    if route.behavior not in node.headends:
        yield route.behavior, route.behavior, "choose another behavior"
    if route.source is not None and "route-source" not in node.facilities:
        yield "route-source", "a source address for each route", "remove source-address"


def _refusal(node: Capabilities, lack: _Lack, where: str, path: str) -> Refusal:
    name, what, remedy = lack
    reason = node.missing.get(name, _UNTRIED)
    cause = f"this node does not offer {what}: {reason}"
    return Refusal(where, cause, f"{remedy}, {_ACCEPT}", MISSING, path)


def _with_dependents(desired: Desired, reasons: dict[ObjectRef, str]) -> dict[ObjectRef, str]:
    """With what stands on objects that are left out."""
    found = dict(reasons)

    def because(ref: ObjectRef, of: ObjectRef, name: str) -> None:
        if of in reasons:
            found.setdefault(ref, f"it needs {name}, which is unsupported: {reasons[of]}")

    for sid in desired.sids.values():
        if sid.vrf is not None:
            because(_sid_ref(sid), ObjectRef(Kind.VRF, sid.vrf), f"VRF {sid.vrf}")
    for vrf in desired.vrfs.values():
        if vrf.bgp is not None:
            because(_bgp_ref(vrf), ObjectRef(Kind.VRF, vrf.name), f"VRF {vrf.name}")
            for exported in vrf.bgp.export_sids:
                because(_bgp_ref(vrf), ObjectRef(Kind.SID, str(exported)), f"SID {exported}")
    for route in desired.routes.values():
        if route.vrf is not None:
            because(_route_ref(route), ObjectRef(Kind.VRF, route.vrf), f"VRF {route.vrf}")
    return found
