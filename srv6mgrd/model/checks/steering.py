"""Steered prefixes: routes that the kernel would take, and never use."""

from __future__ import annotations

from collections.abc import Iterator

from srv6mgrd.model import names
from srv6mgrd.model.checks.sids import taken
from srv6mgrd.model.desired import Desired, SteeredRoute
from srv6mgrd.model.paths import route_path
from srv6mgrd.model.rejection import Rejection


def check(desired: Desired) -> Iterator[Rejection]:
    for route in desired.routes.values():
        prefix = route.prefix
        if prefix.is_multicast or prefix.is_link_local or prefix.is_loopback:
            yield _rejection(
                route,
                "multicast, link-local and loopback prefixes are not routed",
                "steer a unicast prefix",
                "route-prefix-reserved",
            )
        if route.source is not None and (route.source.is_multicast or route.source.is_unspecified):
            yield _rejection(
                route,
                f"source-address {route.source} is no address of a router",
                "name an address of this router",
                "route-source",
            )
        if (why := taken(desired, route.interface)) and why != "carries the local SIDs":
            yield _rejection(
                route,
                f"interface {route.interface} {why}",
                "name another interface, or none",
                "interface-reserved",
            )


def _rejection(route: SteeredRoute, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(names.route(route.prefix, route.vrf), cause, remedy, tag, route_path(route))
