"""What a desired state needs of the node, and what this node does not offer of it. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator

from srv6mgrd.model import domain, names
from srv6mgrd.model.behavior import Flavor
from srv6mgrd.model.capabilities import Capabilities
from srv6mgrd.model.desired import Desired, Role, Sid, SteeredRoute
from srv6mgrd.model.expand import is_made
from srv6mgrd.model.function_sids import sids_of
from srv6mgrd.model.paths import (
    bgp_path,
    chain_path,
    classifier_path,
    interface_path,
    locator_path,
    route_path,
    service_function_path,
    sid_path,
    vrf_path,
)
from srv6mgrd.model.references import (
    Ref,
    chain_ref,
    classifier_ref,
    function_ref,
    interface_ref,
    route_ref,
    sid_ref,
)
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.model.subset import stated, with_dependents

# Tag of a rejection because something is missing, in all places that find it.
MISSING = "capability-missing"
_UNTRIED = "it was not found when probed"
_ACCEPT = "or set unsupported to accept, to keep it until the node offers it"


def check(
    desired: Desired,
    capabilities: Capabilities,
    installed: Container[ObjectRef] = (),
    known: Container[ObjectRef] = (),
) -> dict[ObjectRef, str]:
    """The objects that this node can't carry, each with the reason; for ``without``.

    Takes the expanded state. Raises RejectedError unless the operator accepts such objects. Those
    that need such an object are among them: the SID of a VRF that can't be. ``installed`` are
    objects installed as declared, which shows that the node can carry them; ``known`` are those
    that were unsupported before, which is no reason to reject what else is declared.
    """
    wants = [want for want in _wants(desired, capabilities) if want[0] not in installed]
    unguarded = _unguarded(desired, capabilities, installed)
    rejections = [rejection for ref, rejection in wants if ref not in known]
    if unguarded and not all(ref in known for ref in _open(desired)):
        rejections.append(unguarded)
    if rejections and not desired.accept_unsupported:
        raise RejectedError(rejections)
    reasons: dict[Ref, str] = {}
    for ref, rejection in wants:
        reasons.setdefault(ref, rejection.cause)
    if unguarded:
        reasons = {**dict.fromkeys(_open(desired), unguarded.cause), **reasons}
    return stated(with_dependents(desired, reasons, "unsupported"))


_Want = tuple[ObjectRef, Rejection]


def _wants(desired: Desired, node: Capabilities) -> Iterator[_Want]:
    for vrf in desired.vrfs.values():
        if "vrf" not in node.facilities:
            lack = ("vrf", "VRFs", "remove it")
            yield (
                ObjectRef(Kind.VRF, vrf.name),
                _rejection(node, lack, names.vrf(vrf.name), vrf_path(vrf.name)),
            )
    makers = {
        vrf.bgp.export_sid: vrf.name
        for vrf in desired.vrfs.values()
        if vrf.bgp is not None and is_made(vrf.bgp)
    }
    functions = {
        sid.prefix: name
        for name, function in desired.chains.functions.items()
        for _, sid in sids_of(function, desired.locators)
    }
    for sid in desired.sids.values():
        for lack in _lacks_of_sid(sid, node):
            where, path = names.sid(sid.prefix), sid_path(sid.prefix)
            if (function_name := functions.get(sid.prefix)) is not None:
                where = f"{where} made for {names.service_function(function_name)}"
                path = service_function_path(function_name)
            if (maker := makers.get(sid.prefix)) is not None:
                where, path = f"{where} made for VRF {maker}", bgp_path(maker)
            yield sid_ref(sid), _rejection(node, lack, where, path)
    if "bpf" not in node.facilities:
        yield from _chains_without_bpf(desired, node)
    for route in desired.routes.values():
        for lack in _lacks_of_route(route, node):
            yield (
                route_ref(route),
                _rejection(node, lack, names.route(route.prefix, route.vrf), route_path(route)),
            )


def _chains_without_bpf(desired: Desired, node: Capabilities) -> Iterator[_Want]:
    lack = ("bpf", "the BPF programs of service chains", "remove it")
    for name, function in desired.chains.functions.items():
        if function.proxied is not None:
            where, path = names.service_function(name), service_function_path(name)
            yield function_ref(name), _rejection(node, lack, where, path)
    for name in desired.chains.chains:
        yield chain_ref(name), _rejection(node, lack, names.chain(name), chain_path(name))
    for name in desired.chains.classifiers:
        where, path = names.classifier(name), classifier_path(name)
        yield classifier_ref(name), _rejection(node, lack, where, path)


def _unguarded(
    desired: Desired, node: Capabilities, installed: Container[ObjectRef]
) -> Rejection | None:
    """Why the boundary of the domain can't be guarded, if it has to be: without that nothing is
    put in place which a customer could reach."""
    if "nftables" in node.facilities or not domain.is_guarded(desired):
        return None
    kept_out = [name for name, role in desired.roles.items() if role is Role.CUSTOMER]
    behind = [*map(interface_ref, kept_out), *(ObjectRef(Kind.VRF, n) for n in desired.vrfs)]
    # They are installed only where the filter is.
    if any(ref in installed for ref in behind):
        return None
    remedy = "remove SRv6"
    if not domain.customers(desired):
        remedy += ", or set boundary/default-role to core where no customer can reach this router"
    lack = ("nftables", "the filter that keeps customers from SIDs (nftables)", remedy)
    if kept_out:
        path = interface_path(kept_out[0])
    elif desired.vrfs:
        path = vrf_path(next(iter(desired.vrfs)))
    else:
        path = locator_path(next(iter(desired.locators))) if desired.locators else ""
    return _rejection(node, lack, "boundary of the SRv6 domain", path)


def _open(desired: Desired) -> Iterator[ObjectRef]:
    """All that needs the boundary."""
    for name, role in desired.roles.items():
        if role is Role.CUSTOMER:
            yield interface_ref(name)
    yield from (ObjectRef(Kind.VRF, name) for name in desired.vrfs)
    yield from map(sid_ref, desired.sids.values())
    yield from map(route_ref, desired.routes.values())


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


def _rejection(node: Capabilities, lack: _Lack, where: str, path: str) -> Rejection:
    name, what, remedy = lack
    reason = node.missing.get(name, _UNTRIED)
    cause = f"this node does not offer {what}: {reason}"
    return Rejection(where, cause, f"{remedy}, {_ACCEPT}", MISSING, path)
