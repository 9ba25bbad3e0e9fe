"""The network of a rehearsal: routers around one of the core, and a host for each site."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from srv6net.compile.configuration import SRV6
from srv6net.intent.inventory import Inventory, Router
from srv6net.rehearsal.sites import Site

# What a lab takes as the name of a node (lab/topology.py).
_NODE = re.compile(r"[a-z][a-z0-9-]{0,30}")
_OURS = re.compile(r"core|s[0-9]+|r[0-9]+")
_CORE = "core"
# Routers up to which each has a session with each.
_MESH = 8
# Room for the outer header.
_MTU = 9000


@dataclass(frozen=True, slots=True)
class Network:
    """``nodes``: the node of each router. ``base``: what each router has before the services."""

    nodes: Mapping[str, str]
    topology: Mapping[str, Any]
    base: Mapping[str, Mapping[str, Any]]


def network(inventory: Inventory, routers: Sequence[str], sites: Sequence[Site]) -> Network:
    chosen = [inventory.routers[name] for name in routers]
    nodes = {router.name: _node_name(n, router.name) for n, router in enumerate(chosen, 1)}
    interface = _free_name({site.interface for site in sites})
    made: dict[str, Any] = {_CORE: _core(chosen)}
    links = []
    for number, router in enumerate(chosen, 1):
        made[nodes[router.name]] = {
            "role": "router",
            "lo": [f"{router.loopback}/128"],
            "routes": [
                {"to": to, "via": _link(number, 1)}
                for other in chosen
                if other is not router
                for to in _prefixes(other)
            ],
            "interfaces": {interface: [f"{_link(number, 2)}/64"]},
        }
        links.append({"ends": [f"{nodes[router.name]}:{interface}", f"{_CORE}:to-{number}"]})
    for site in sites:
        made[nodes[site.router]]["interfaces"][site.interface] = []
        made[site.name] = {
            "role": "host",
            "lo": [str(address) for address in site.networks],
            "gateway": [str(address) for address in site.gateways],
            "interfaces": {"eth0": [str(address) for address in site.addresses]},
        }
        links.append({"ends": [f"{nodes[site.router]}:{site.interface}", f"{site.name}:eth0"]})
    topology = {
        "name": "rehearsal",
        "nodes": made,
        "links": [{**link, "mtu": _MTU if _CORE in link["ends"][1] else 1500} for link in links],
    }
    base = {router.name: _base(router, chosen, inventory, interface) for router in chosen}
    return Network(nodes, topology, base)


def _core(chosen: Sequence[Router]) -> dict[str, Any]:
    routes = []
    for number, router in enumerate(chosen, 1):
        routes += [{"to": to, "via": _link(number, 2)} for to in _prefixes(router)]
    interfaces = {f"to-{n}": [f"{_link(n, 1)}/64"] for n in range(1, len(chosen) + 1)}
    return {"role": "router", "routes": routes, "interfaces": interfaces}


def _prefixes(router: Router) -> tuple[str, str]:
    """What the core has to know of it. FRR follows no default route to a BGP neighbor."""
    return f"{router.loopback}/128", router.locator.text


def _base(
    router: Router, chosen: Sequence[Router], inventory: Inventory, interface: str
) -> dict[str, Any]:
    """As an operator configures an edge before it has a VPN. BGP is a full mesh; among many
    routers, the first one reflects routes."""
    reflector = chosen[0] if len(chosen) > _MESH else None
    neighbors = [
        {
            "address": str(other.loopback),
            "remote-as": inventory.as_number,
            "update-source": str(router.loopback),
            **({"route-reflector-client": True} if router is reflector else {}),
        }
        for other in chosen
        if other is not router and reflector in (None, router, other)
    ]
    locator = {
        "name": router.locator.name,
        "prefix": router.locator.text,
        "function-length": router.locator.function_length,
    }
    bgp = {"as-number": inventory.as_number, "router-id": str(router.router_id)}
    return {
        SRV6.lstrip("/"): {
            "encapsulation": {"source-address": str(router.loopback)},
            "locators": {"locator": [locator]},
            "interfaces": {"interface": [{"name": interface, "role": "core"}]},
            "srv6mgr-bgp:bgp": {**bgp, **({"neighbor": neighbors} if neighbors else {})},
        }
    }


def _node_name(number: int, router: str) -> str:
    is_free = _NODE.fullmatch(router) and not _OURS.fullmatch(router)
    return router if is_free else f"r{number}"


def _free_name(taken: set[str]) -> str:
    return next(name for name in (f"core{n}" for n in range(len(taken) + 1)) if name not in taken)


def _link(number: int, end: int) -> str:
    return f"fd5e:c0de:0:{number:x}::{end}"
