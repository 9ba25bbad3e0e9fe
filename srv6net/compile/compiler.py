"""The same input gives the same entries, and a service touches its own routers only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from socket import AF_INET6, inet_ntop
from typing import Any

from srv6net.allocate.plan import (
    ANY,
    HUB,
    NAMES,
    SPOKE,
    TARGETS,
    Allocations,
    distinguishers_of,
    functions_of,
    tables_of,
    target_owner,
)
from srv6net.compile.configuration import NOTHING, Entries, interface_path, sid_path, vrf_path
from srv6net.intent.inventory import Inventory, Router
from srv6net.intent.service import Access, BgpNeighbor, Node, Role, Service

_BGP, _STATIC = "srv6mgr-bgp:bgp", "srv6mgr-routing:static-routes"
# A VRF is a Linux device, and srv6net names no device as others may (typedef vrf-name).
_DEVICE = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,14}")
_RESERVED = re.compile(r"all|default|lo|srv6mgr.*|vpn[0-9]+")
# Imported and exported route targets by role: spokes hear hubs alone, hubs all (RFC 8299 section
# 6.2.1.1).
_TARGETS = {
    Role.ANY_TO_ANY: ((ANY,), ANY),
    Role.HUB: ((HUB, SPOKE), HUB),
    Role.SPOKE: ((HUB,), SPOKE),
}


def compile_services(
    services: Sequence[Service], inventory: Inventory, allocations: Allocations
) -> dict[str, Entries]:
    """The entries of each router of the inventory; checked services only."""
    found: dict[str, dict[str, Any]] = {name: {} for name in inventory.routers}
    for service in services:
        for node in service.nodes:
            router = inventory.routers[node.router]
            found[node.router].update(_node(service, node, router, inventory, allocations))
    return {name: dict(sorted(entries.items())) for name, entries in found.items()}


def compile_change(
    gone: Sequence[Service],
    made: Sequence[Service],
    inventory: Inventory,
    *,
    before: Allocations,
    after: Allocations,
    routers: Mapping[str, Entries],
) -> dict[str, Entries]:
    """The routers that differ from ``routers`` once the services of ``gone``, with the numbers of
    ``before``, became those of ``made``. As ``compile_services`` has them."""
    names = {node.router for service in (*gone, *made) for node in service.nodes}
    found = {name: dict(routers.get(name, NOTHING)) for name in names}
    for service in gone:
        for node in service.nodes:
            for path in _node(service, node, inventory.routers[node.router], inventory, before):
                del found[node.router][path]
    for service in made:
        for node in service.nodes:
            router = inventory.routers[node.router]
            found[node.router].update(_node(service, node, router, inventory, after))
    return {name: dict(sorted(entries.items())) for name, entries in found.items()}


def vrf_name(service: str, allocations: Allocations) -> str:
    """The service's own name where Linux takes it, else a number that is kept for it."""
    if is_device_name(service):
        return service
    return f"vpn{allocations.number(NAMES, service)}"


def is_device_name(name: str) -> bool:
    """Whether a VRF of srv6net may have this name."""
    return bool(_DEVICE.fullmatch(name)) and not _RESERVED.fullmatch(name)


def sid_prefix(router: Router, function: int) -> str:
    """Locator and function, as a prefix of that length."""
    locator = router.locator
    length = locator.prefix.prefixlen + locator.function_length
    address = int(locator.prefix.network_address) | function << (128 - length)
    # In the form of RFC 5952, and many times as fast as ipaddress.
    return f"{inet_ntop(AF_INET6, address.to_bytes(16))}/{length}"


def _node(
    service: Service,
    node: Node,
    router: Router,
    inventory: Inventory,
    allocations: Allocations,
) -> Mapping[str, Any]:
    name = vrf_name(service.id, allocations)
    sid = sid_prefix(router, allocations.number(functions_of(router), service.id))
    imported, exported = _targets(service, node, inventory, allocations)
    number = 0 if node.rd else allocations.number(distinguishers_of(router.name), service.id)
    bgp: dict[str, Any] = {
        "rd": node.rd or f"{router.router_id}:{number}",
        "import-rt": imported,
        "export-rt": exported,
        "export-sid": sid,
        "redistribute": {"connected": True, "static": True},
    }
    if neighbors := [_neighbor(n) for access in node.accesses for n in access.neighbors]:
        bgp["neighbor"] = neighbors
    vrf: dict[str, Any] = {
        "name": name,
        "table-id": allocations.number(tables_of(router.name), service.id),
    }
    if node.accesses:
        vrf["interface"] = sorted(access.interface for access in node.accesses)
    vrf[_BGP] = bgp
    if routes := _routes(node):
        vrf[_STATIC] = {"route": routes}
    entries = {
        vrf_path(name): vrf,
        sid_path(sid): {
            "prefix": sid,
            "locator": router.locator.name,
            "behavior": "End.DT46",
            "vrf": name,
        },
    }
    for access in node.accesses:
        if access.addresses:
            entries[interface_path(access.interface)] = _interface(access)
    return entries


def _targets(
    service: Service, node: Node, inventory: Inventory, allocations: Allocations
) -> tuple[list[str], list[str]]:
    if node.targets:
        return sorted(node.targets.imported), sorted(node.targets.exported)

    def target(kind: str) -> str:
        number = allocations.number(TARGETS, target_owner(service.id, kind))
        return f"{inventory.as_number}:{number}"

    imported, exported = _TARGETS[node.role]
    return sorted(map(target, imported)), [target(exported)]


def _neighbor(neighbor: BgpNeighbor) -> dict[str, Any]:
    made: dict[str, Any] = {"address": str(neighbor.address), "remote-as": neighbor.peer_as}
    if neighbor.is_as_overridden:
        made["as-override"] = True
    return made


def _routes(node: Node) -> list[dict[str, Any]]:
    """A prefix behind several accesses is one route with several next hops."""
    next_hops: dict[str, list[dict[str, Any]]] = {}
    for access in node.accesses:
        for route in access.routes:
            found = next_hops.setdefault(str(route.prefix), [])
            found.append(
                {
                    "index": len(found) + 1,
                    "address": str(route.next_hop),
                    "interface": access.interface,
                }
            )
    return [{"prefix": prefix, "next-hop": found} for prefix, found in sorted(next_hops.items())]


def _interface(access: Access) -> dict[str, Any]:
    made: dict[str, Any] = {"name": access.interface}
    for version in (4, 6):
        addresses: Iterable[Any] = (a for a in access.addresses if a.version == version)
        entries = [{"ip": str(a.ip), "prefix-length": a.network.prefixlen} for a in addresses]
        if entries:
            made[f"srv6mgr-interfaces:ipv{version}"] = {"address": entries}
    return made
