"""Services and inventories of any size, for benches of srv6net."""

from __future__ import annotations

from typing import Any

# Sites of a VPN, each on a router of its own.
SITES = 10


def routers(edges: int, **more: Any) -> dict[str, Any]:
    """An inventory; ``more`` holds for all routers."""
    return {
        "as-number": 65000,
        "route-targets": [1, 1_000_000],
        "routers": {
            f"pe{n}": {
                "address": f"pe{n}:9339",
                "locator": {"name": "MAIN", "prefix": f"fcbb:{n >> 16:x}:{n & 0xFFFF:x}::/48"},
                "loopback": f"2001:db8::{n:x}",
                "router-id": f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}",
                **more,
            }
            for n in range(1, edges + 1)
        },
    }


def services(edges: int, vpns: int, sites: int = SITES) -> dict[str, Any]:
    """So many VPNs on each of the edges, each VPN with its sites on neighbouring edges."""
    found = []
    for number in range(edges * vpns // sites):
        name, first = f"c{number}", number * sites % edges
        nodes = [_node(name, (first + site) % edges + 1) for site in range(sites)]
        found.append({"vpn-id": name, "vpn-nodes": {"vpn-node": nodes}})
    return {"ietf-l3vpn-ntw:l3vpn-ntw": {"vpn-services": {"vpn-service": found}}}


def with_sites(edges: int, sites: int) -> dict[str, Any]:
    """One VPN whose sites have addresses, in turn on each edge."""
    nodes: dict[int, list[Any]] = {}
    for site in range(1, sites + 1):
        address = {"ipv4": {"local-address": f"10.0.{site}.1", "prefix-length": 24}}
        access = {"id": f"a{site}", "interface-id": f"to-ce{site}", "ip-connection": address}
        nodes.setdefault((site - 1) % edges + 1, []).append(access)
    found = [
        {
            "vpn-node-id": f"pe{edge}",
            "ne-id": f"pe{edge}",
            "vpn-network-accesses": {"vpn-network-access": accesses},
        }
        for edge, accesses in nodes.items()
    ]
    listed = [{"vpn-id": "c0", "vpn-nodes": {"vpn-node": found}}]
    return {"ietf-l3vpn-ntw:l3vpn-ntw": {"vpn-services": {"vpn-service": listed}}}


def without_a_site(document: dict[str, Any]) -> dict[str, Any]:
    """One service loses one of its sites."""
    found = document["ietf-l3vpn-ntw:l3vpn-ntw"]["vpn-services"]["vpn-service"]
    found[0]["vpn-nodes"]["vpn-node"].pop()
    return document


def _node(service: str, edge: int) -> dict[str, Any]:
    access = {"id": f"a{edge}", "interface-id": service}
    return {
        "vpn-node-id": f"pe{edge}",
        "ne-id": f"pe{edge}",
        "vpn-network-accesses": {"vpn-network-access": [access]},
    }
