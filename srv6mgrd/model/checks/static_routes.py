"""Static routes: what FRR would take and never use, or silently do otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.checks.locators import unroutable
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.paths import static_route_path
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.static_routes import NextHop, StaticRoute


def check(desired: Desired) -> Iterator[Rejection]:
    ports = {port: vrf.name for vrf in desired.vrfs.values() for port in vrf.interfaces}
    for route in desired.static_routes.values():
        prefix = route.prefix
        if prefix.is_multicast or prefix.is_link_local or prefix.is_loopback:
            yield _rejection(
                route,
                "multicast, link-local and loopback prefixes are not routed",
                "route a unicast prefix",
                "route-prefix-reserved",
            )
        if route.name in desired.routes:
            yield _rejection(
                route,
                "the prefix is steered into a segment list, too",
                "keep the one or the other",
                "static-route-steered",
            )
        yield from _together(route)
        for hop in route.next_hops:
            yield from _next_hop(desired, route, hop, ports)


def _together(route: StaticRoute) -> Iterator[Rejection]:
    """FRR takes no next hop that drops beside others of its preference (static_nb_config.c)."""
    for hop in route.next_hops:
        same = [other for other in route.next_hops if other.preference == hop.preference]
        if hop.special is not None and any(other.special is not hop.special for other in same):
            yield _rejection(
                route,
                f"next hop {hop.index} drops packets, and others of preference {hop.preference}"
                " forward them or drop them otherwise",
                "give it a preference of its own",
                "next-hop-special",
            )
            return


def _next_hop(
    desired: Desired, route: StaticRoute, hop: NextHop, ports: dict[str, str]
) -> Iterator[Rejection]:
    address, interface = hop.address, hop.interface
    if address is None and interface is None and hop.special is None:
        yield _rejection(
            route,
            f"next hop {hop.index} leads nowhere",
            "add address, interface or special-next-hop",
            "next-hop-missing",
        )
    if address is not None and address.version != route.prefix.version:
        # FRR takes an IPv6 next hop of an IPv4 route, and never resolves it.
        family = f"IPv{route.prefix.version}"
        yield _rejection(
            route,
            f"next hop {address} is no {family} address",
            f"name an {family} address, or an interface alone",
            "next-hop-family",
        )
    elif address is not None and address.is_link_local:
        if interface is None:
            yield _rejection(
                route,
                f"next hop {address} is link-local and does not say on which link",
                "add interface",
                "next-hop-interface-missing",
            )
    elif address is not None and (why := unroutable(address)):
        yield _rejection(
            route,
            f"next hop {address} is {why}",
            "name the address of a neighbor",
            "next-hop-reserved",
        )
    if interface is None:
        return
    why = taken(desired, interface)
    if not why and (owner := ports.get(interface, route.vrf)) != route.vrf:
        why = f"is in VRF {owner}"
    if why:
        yield _rejection(
            route,
            f"interface {interface} {why}",
            f"name an interface of VRF {route.vrf}",
            "next-hop-interface",
        )


def _rejection(route: StaticRoute, cause: str, remedy: str, tag: str) -> Rejection:
    where = names.static_route(route.prefix, route.vrf)
    return Rejection(where, cause, remedy, tag, static_route_path(route))
