"""Data paths of declared objects."""

from __future__ import annotations

from srv6mgrd.model.desired import SteeredRoute
from srv6mgrd.model.leaking import DEFAULT_VRF, Leak
from srv6mgrd.model.static_routes import StaticRoute


def locator_path(name: str) -> str:
    return f"/srv6mgr-srv6:srv6/locators/locator[name='{name}']"


def vrf_path(name: str) -> str:
    return f"/srv6mgr-srv6:srv6/vrfs/vrf[name='{name}']"


def interface_path(name: str) -> str:
    return f"/srv6mgr-srv6:srv6/interfaces/interface[name='{name}']"


def sid_path(prefix: object) -> str:
    return f"/srv6mgr-srv6:srv6/local-sids/sid[prefix='{prefix}']"


def segment_list_path(name: str) -> str:
    return f"/srv6mgr-srv6:srv6/segment-lists/segment-list[name='{name}']"


def route_path(route: SteeredRoute) -> str:
    parent = "/srv6mgr-srv6:srv6" if route.vrf is None else vrf_path(route.vrf)
    return f"{parent}/srv6mgr-steering:steering/route[prefix='{route.prefix}']"


def static_route_path(route: StaticRoute) -> str:
    parent = vrf_path(route.vrf)
    return f"{parent}/srv6mgr-routing:static-routes/route[prefix='{route.prefix}']"


def leak_path(leak: Leak) -> str:
    entry = f"import-from[vrf='{leak.source}']"
    if leak.importer == DEFAULT_VRF:
        return f"/srv6mgr-srv6:srv6/srv6mgr-routing:default-vrf/{entry}"
    return f"{vrf_path(leak.importer)}/srv6mgr-routing:route-leaking/{entry}"


def ospf_path(vrf: str, version: int) -> str:
    return f"{vrf_path(vrf)}/srv6mgr-ospf:{'ospf' if version == 2 else 'ospfv3'}"


def bgp_path(vrf: str | None) -> str:
    """The BGP speaker, or the BGP of a VRF."""
    return f"{'/srv6mgr-srv6:srv6' if vrf is None else vrf_path(vrf)}/srv6mgr-bgp:bgp"


def routing_policy_path() -> str:
    """Policies and sets."""
    return "/srv6mgr-srv6:srv6/srv6mgr-routing-policy:routing-policy"


def policy_path(name: str) -> str:
    policies = f"{routing_policy_path()}/policy-definitions"
    return f"{policies}/policy-definition[name='{name}']"


def measurement_session_path(name: str) -> str:
    parent = "/srv6mgr-srv6:srv6/srv6mgr-path-measurement:path-measurement"
    return f"{parent}/session[name='{name}']"


def _chaining_path(member: str, name: str) -> str:
    return f"/srv6mgr-srv6:srv6/srv6mgr-chain:service-chaining/{member}[name='{name}']"


def service_function_path(name: str) -> str:
    return _chaining_path("service-function", name)


def function_group_path(name: str) -> str:
    return _chaining_path("service-function-group", name)


def chain_path(name: str) -> str:
    return _chaining_path("service-function-chain", name)


def classifier_path(name: str) -> str:
    return _chaining_path("classifier", name)


def isis_path() -> str:
    """IS-IS of the underlay."""
    return "/srv6mgr-srv6:srv6/srv6mgr-isis:isis"
