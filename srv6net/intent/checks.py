"""Contradictions of services among themselves and with the inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6net.intent.inventory import Inventory
from srv6net.intent.service import Node, Role, Service, Topology

_ROLES = {
    Topology.ANY_TO_ANY: frozenset({Role.ANY_TO_ANY}),
    Topology.HUB_SPOKE: frozenset({Role.HUB, Role.SPOKE}),
}


def check(services: Sequence[Service], inventory: Inventory) -> None:
    """Raise RejectedError with every contradiction."""
    found = [
        *_routers(services, inventory),
        *_claims(services, inventory),
        *_roles(services),
        *_targets(services),
        *_distinguishers(services),
    ]
    if found:
        raise RejectedError(found)


def _nodes(services: Iterable[Service]) -> Iterator[tuple[Service, Node]]:
    return ((service, node) for service in services for node in service.nodes)


def _routers(services: Sequence[Service], inventory: Inventory) -> Iterator[Rejection]:
    seen: dict[tuple[str, str], str] = {}
    for service, node in _nodes(services):
        if node.router not in inventory.routers:
            yield _of(
                service,
                f"its node {node.id} is on router {node.router}, which the inventory lacks",
                "correct ne-id, or add the router to the inventory",
                "unknown-router",
            )
        elif (other := seen.setdefault((service.id, node.router), node.id)) != node.id:
            yield _of(
                service,
                f"its nodes {other} and {node.id} are both on router {node.router}",
                "make them one: a service has one VRF on a router",
                "router-twice",
            )


def _claims(services: Sequence[Service], inventory: Inventory) -> Iterator[Rejection]:
    seen: dict[tuple[str, str], str] = {}
    for service, node in _nodes(services):
        router = inventory.routers.get(node.router)
        for access in node.accesses:
            name = f"access {access.id}"
            if router and router.interfaces and access.interface not in router.interfaces:
                yield _of(
                    service,
                    f"{name}: {access.interface} is no customer interface of router {node.router}",
                    "correct interface-id, or add the interface to the inventory",
                    "unknown-interface",
                )
            other = seen.setdefault((node.router, access.interface), f"{service.id}/{access.id}")
            if other != f"{service.id}/{access.id}":
                yield _of(
                    service,
                    f"{name}: interface {access.interface} of router {node.router} belongs to"
                    f" access {other}",
                    "give it an interface of its own",
                    "interface-twice",
                )


def _roles(services: Sequence[Service]) -> Iterator[Rejection]:
    for service, node in _nodes(services):
        if node.role not in _ROLES[service.topology]:
            yield _of(
                service,
                f"node {node.id} has role {node.role}, which topology {service.topology} lacks",
                f"choose {' or '.join(sorted(_ROLES[service.topology]))}",
                "role",
            )
    for service in services:
        is_hub = service.topology is Topology.HUB_SPOKE
        if is_hub and service.nodes and all(n.role is not Role.HUB for n in service.nodes):
            yield _of(
                service,
                "it is hub-and-spoke and has no hub, so no spoke reaches anything",
                "give one node a profile with hub-role",
                "hub-missing",
            )


def _targets(services: Sequence[Service]) -> Iterator[Rejection]:
    """One service exports a route target. Others may import it: that is an extranet."""
    seen: dict[str, str] = {}
    for service, node in _nodes(services):
        for target in sorted(node.targets.exported):
            if (other := seen.setdefault(target, service.id)) != service.id:
                yield _of(
                    service,
                    f"route target {target} is that of service {other}, whose routes it would mix",
                    "choose another route target",
                    "route-target-twice",
                )


def _distinguishers(services: Sequence[Service]) -> Iterator[Rejection]:
    seen: dict[str, str] = {}
    for service, node in _nodes(services):
        if not node.rd:
            continue
        if (other := seen.setdefault(node.rd, f"{service.id}/{node.id}")) != (
            f"{service.id}/{node.id}"
        ):
            yield _of(
                service,
                f"node {node.id} has the route distinguisher {node.rd} of node {other}",
                "choose another one, or leave it to srv6net",
                "rd-twice",
            )


def _of(service: Service, cause: str, remedy: str, tag: str) -> Rejection:
    return Rejection(f"VPN service {service.id}", cause, remedy, tag, service.path)
