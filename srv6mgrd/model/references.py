"""Which part of a desired state a path names. Pure.

What has a status of its own is an ``ObjectRef``; the rest of what can be left out by itself is a
``Part``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from srv6mgrd.model.bgp import Neighbor, PeerKind
from srv6mgrd.model.desired import Desired, Sid, SteeredRoute, Vrf
from srv6mgrd.model.leaking import DEFAULT_VRF, Leak
from srv6mgrd.model.ospf import Ospf
from srv6mgrd.model.paths import (
    bgp_path,
    chain_path,
    classifier_path,
    function_group_path,
    interface_path,
    isis_path,
    leak_path,
    locator_path,
    ospf_path,
    policy_path,
    route_path,
    segment_list_path,
    service_function_path,
    sid_path,
    static_route_path,
    vrf_path,
)
from srv6mgrd.model.static_routes import StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef


class Part(NamedTuple):
    """``bgp`` or ``isis``, of which there is one each, or a neighbor (its ``PeerKind``) or
    ``isis-interface`` of it by name."""

    kind: str
    name: str = ""


Ref = ObjectRef | Part

BGP, ISIS = Part("bgp"), Part("isis")
PEER_KINDS = frozenset(kind.value for kind in PeerKind)
_TOP = "/srv6mgr-srv6:srv6"
_KEY = r"\[[\w-]+='([^']+)'\]"
_OF_VRF = rf"{_TOP}/vrfs/vrf{_KEY}"
_CHAINING = rf"{_TOP}/srv6mgr-chain:service-chaining"
_LISTS: tuple[tuple[re.Pattern[str], Kind | str], ...] = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (rf"{_TOP}/locators/locator{_KEY}", Kind.LOCATOR),
        (rf"{_TOP}/segment-lists/segment-list{_KEY}", Kind.SEGMENT_LIST),
        (rf"{_TOP}/interfaces/interface{_KEY}", Kind.INTERFACE),
        (rf"{_TOP}/local-sids/sid{_KEY}", Kind.SID),
        (
            rf"{_TOP}/srv6mgr-routing-policy:routing-policy/policy-definitions"
            rf"/policy-definition{_KEY}",
            Kind.ROUTING_POLICY,
        ),
        (rf"{_CHAINING}/service-function{_KEY}", Kind.SERVICE_FUNCTION),
        (rf"{_CHAINING}/service-function-group{_KEY}", Kind.SERVICE_FUNCTION_GROUP),
        (rf"{_CHAINING}/service-function-chain{_KEY}", Kind.SERVICE_FUNCTION_CHAIN),
        (rf"{_CHAINING}/classifier{_KEY}", Kind.CLASSIFIER),
        (rf"{_OF_VRF}/srv6mgr-steering:steering/route{_KEY}", Kind.ROUTE),
        (rf"{_TOP}/srv6mgr-steering:steering/route{_KEY}", Kind.ROUTE),
        (rf"{_OF_VRF}/srv6mgr-routing:static-routes/route{_KEY}", Kind.STATIC_ROUTE),
        (rf"{_OF_VRF}/srv6mgr-routing:route-leaking/import-from{_KEY}", Kind.ROUTE_LEAK),
        (rf"{_TOP}/srv6mgr-routing:default-vrf/import-from{_KEY}", Kind.ROUTE_LEAK),
        (rf"{_OF_VRF}/srv6mgr-ospf:ospfv3", Kind.OSPFV3),
        (rf"{_OF_VRF}/srv6mgr-ospf:ospf", Kind.OSPF),
        (rf"{_OF_VRF}/srv6mgr-bgp:bgp", Kind.VRF_BGP),
        (_OF_VRF, Kind.VRF),
        *((rf"{_TOP}/srv6mgr-bgp:bgp/{kind}{_KEY}", kind.value) for kind in PeerKind),
        (rf"{_TOP}/srv6mgr-bgp:bgp", "bgp"),
        (rf"{_TOP}/srv6mgr-isis:isis/interface{_KEY}", "isis-interface"),
        (rf"{_TOP}/srv6mgr-isis:isis", "isis"),
    )
)


def of_path(path: str) -> Ref | None:
    """The part that a data path leads to or into; None when it names none."""
    for pattern, kind in _LISTS:
        if (found := pattern.match(path)) is None:
            continue
        keys = found.groups()
        if kind is Kind.STATIC_ROUTE:
            return ObjectRef(kind, " ".join(keys))
        if kind is Kind.ROUTE_LEAK:
            return ObjectRef(kind, " ".join((DEFAULT_VRF, *keys)[-2:]))
        if kind is Kind.ROUTE:
            return ObjectRef(kind, " ".join(keys if len(keys) == 2 else ("main", *keys)))
        name = keys[0] if keys else ""
        return ObjectRef(kind, name) if isinstance(kind, Kind) else Part(kind, name)
    return None


def path_of(ref: Ref, desired: Desired) -> str:
    """Its data path."""
    match ref:
        case ObjectRef(Kind.ROUTE, name):
            route = desired.routes.get(name)
            return route_path(route) if route is not None else ""
        case ObjectRef(Kind.STATIC_ROUTE, name):
            static = desired.static_routes.get(name)
            return static_route_path(static) if static is not None else ""
        case ObjectRef(Kind.ROUTE_LEAK, name):
            leak = desired.leaks.get(name)
            return leak_path(leak) if leak is not None else ""
        case ObjectRef(Kind.OSPF | Kind.OSPFV3 as kind, name):
            return ospf_path(name, 2 if kind is Kind.OSPF else 3)
        case ObjectRef(Kind.VRF_BGP, name):
            return bgp_path(name)
        case Part(kind, name) if kind in PEER_KINDS:
            return f"{bgp_path(None)}/{kind}[{PeerKind(kind).key}='{name}']"
        case Part("isis-interface", name):
            return f"{isis_path()}/interface[name='{name}']"
        case Part(kind, _):
            return bgp_path(None) if kind == "bgp" else isis_path()
        case ObjectRef(kind, name):
            return {
                Kind.LOCATOR: locator_path,
                Kind.SEGMENT_LIST: segment_list_path,
                Kind.INTERFACE: interface_path,
                Kind.SID: sid_path,
                Kind.VRF: vrf_path,
                Kind.ROUTING_POLICY: policy_path,
                Kind.SERVICE_FUNCTION: service_function_path,
                Kind.SERVICE_FUNCTION_GROUP: function_group_path,
                Kind.SERVICE_FUNCTION_CHAIN: chain_path,
                Kind.CLASSIFIER: classifier_path,
            }[kind](name)


def sid_ref(sid: Sid) -> ObjectRef:
    return ObjectRef(Kind.SID, str(sid.prefix))


def interface_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.INTERFACE, name)


def peer_ref(neighbor: Neighbor) -> Part:
    return Part(neighbor.kind.value, neighbor.address)


def policy_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.ROUTING_POLICY, name)


def bgp_ref(vrf: Vrf) -> ObjectRef:
    return ObjectRef(Kind.VRF_BGP, vrf.name)


def route_ref(route: SteeredRoute) -> ObjectRef:
    return ObjectRef(Kind.ROUTE, route.name)


def static_route_ref(route: StaticRoute) -> ObjectRef:
    return ObjectRef(Kind.STATIC_ROUTE, route.name)


def leak_ref(leak: Leak) -> ObjectRef:
    return ObjectRef(Kind.ROUTE_LEAK, leak.name)


def ospf_ref(ospf: Ospf) -> ObjectRef:
    return ObjectRef(Kind.OSPF if ospf.version == 2 else Kind.OSPFV3, ospf.vrf)


def function_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.SERVICE_FUNCTION, name)


def function_group_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.SERVICE_FUNCTION_GROUP, name)


def chain_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.SERVICE_FUNCTION_CHAIN, name)


def classifier_ref(name: str) -> ObjectRef:
    return ObjectRef(Kind.CLASSIFIER, name)
