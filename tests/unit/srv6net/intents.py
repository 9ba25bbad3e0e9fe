"""Services and inventories as documents, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from srv6net.intent.inventory import Inventory, inventory
from srv6net.intent.l3nm import ROOT

COMMON = "ietf-vpn-common:"


def access(id: str, interface: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "interface-id": interface, **more}


def node(
    router: str, *accesses: Mapping[str, Any], profile: str = "", **more: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {"vpn-node-id": router, "ne-id": router, **more}
    if accesses:
        made["vpn-network-accesses"] = {"vpn-network-access": list(accesses)}
    if profile:
        active = {"vpn-instance-profile": [{"profile-id": profile}]}
        made["active-vpn-instance-profiles"] = active
    return made


def service(id: str, *nodes: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"vpn-id": id, "vpn-nodes": {"vpn-node": list(nodes)}, **more}


def hub_and_spoke(id: str, hub: str, *spokes: str) -> dict[str, Any]:
    profile = {"profile-id": "hub", "role": f"{COMMON}hub-role"}
    nodes = [node(hub, access(f"{id}-hub", f"{id}-{hub}"), profile="hub")]
    nodes += [node(s, access(f"{id}-{s}", f"{id}-{s}")) for s in spokes]
    return service(
        id, *nodes,
        **{
            "vpn-service-topology": f"{COMMON}hub-spoke",
            "vpn-instance-profiles": {"vpn-instance-profile": [profile]},
        },
    )  # fmt: skip


def document(*services: Mapping[str, Any]) -> dict[str, Any]:
    return {ROOT: {"vpn-services": {"vpn-service": list(services)}}}


def router(number: int, **more: Any) -> dict[str, Any]:
    return {
        "address": f"pe{number}:9339",
        "locator": {"name": "MAIN", "prefix": f"fcbb:0:{number:x}::/48"},
        "loopback": f"2001:db8::{number:x}",
        "router-id": f"192.0.2.{number}",
        **more,
    }


def routers(count: int, **more: Any) -> Inventory:
    names: Sequence[int] = range(1, count + 1)
    return inventory({"as-number": 65000, "routers": {f"pe{n}": router(n) for n in names}, **more})
