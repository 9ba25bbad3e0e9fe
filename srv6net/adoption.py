"""VPNs that routers have already: as a document of services, and with their own numbers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Network, ip_address
from typing import Any

from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6net.allocate.plan import Allocations, functions_of, tables_of
from srv6net.allocate.pool import Numbers
from srv6net.compile.compiler import is_device_name
from srv6net.compile.configuration import Entries
from srv6net.intent.inventory import Inventory, Router
from srv6net.intent.l3nm import ROOT
from srv6net.intent.service import Service
from srv6net.proposal import Proposal
from srv6net.transaction.presence import missing
from srv6net.transaction.record import Change

_BGP = "srv6mgr-bgp:bgp"
_COMMON = "ietf-vpn-common:"
# What a document of services can say of a VRF and of its BGP; the rest would be lost with the next
# change of the VRF.
_VRF = frozenset({"name", "table-id", "interface", _BGP})
_OF_BGP = frozenset({"rd", "import-rt", "export-rt", "export-sid", "redistribute", "neighbor"})
_OF_NEIGHBOR = frozenset({"address", "remote-as", "as-override"})
_NUMBERED = re.compile(r"[0-9]+")

# Configuration below the root of the model, by router.
Configurations = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """``notes``: what of the routers is not in the document, each with the reason."""

    document: Mapping[str, Any]
    notes: tuple[str, ...]


def found_on(configurations: Configurations) -> Found:
    """VRFs of one name are one service. Changes nothing."""
    nodes: dict[str, list[dict[str, Any]]] = {}
    profiles: dict[str, list[dict[str, Any]]] = {}
    notes: list[str] = []
    for router, configuration in sorted(configurations.items()):
        for vrf in configuration.get("vrfs", {}).get("vrf", ()):
            if problem := _problem(vrf):
                notes.append(f"router {router}: VRF {vrf['name']} is left alone: {problem}")
                continue
            notes += [
                f"router {router}: VRF {vrf['name']}: srv6net does not know {name}; the next change"
                " of this VRF would remove it"
                for name in _unknown(vrf)
            ]
            nodes.setdefault(vrf["name"], []).append(_node(router, vrf, configuration))
            profiles.setdefault(vrf["name"], []).append(_profile(router, vrf[_BGP]))
    services = [
        {
            "vpn-id": name,
            "vpn-instance-profiles": {"vpn-instance-profile": profiles[name]},
            "vpn-nodes": {"vpn-node": found},
        }
        for name, found in sorted(nodes.items())
    ]
    return Found({ROOT: {"vpn-services": {"vpn-service": services}}}, tuple(notes))


def seeded(
    services: Sequence[Service],
    inventory: Inventory,
    configurations: Configurations,
    allocations: Allocations,
) -> Allocations:
    """The numbers that VRFs have on their routers become those of the services."""
    pools = dict(allocations.pools)
    rejections: list[Rejection] = []

    def take(pool: str, owner: str, number: int) -> None:
        before = pools.get(pool, Numbers())
        pools[pool] = replace(before, taken={**before.taken, owner: number})

    for service in services:
        for node in service.nodes:
            router = inventory.routers[node.router]
            vrf = _vrf_of(configurations.get(node.router, {}), service.id)
            if vrf is None or service.id in pools.get(tables_of(router.name), Numbers()).taken:
                continue
            take(tables_of(router.name), service.id, int(vrf["table-id"]))
            function = _function(router, str(vrf[_BGP].get("export-sid", "")))
            if function is None:
                rejections.append(_foreign_sid(service, router, vrf))
            else:
                take(functions_of(router), service.id, function)
    if rejections:
        raise RejectedError(rejections)
    return Allocations(pools)


def adopted(proposal: Proposal, found: Mapping[str, Entries]) -> Proposal:
    """The changes that are left where ``found`` are entries that routers have already."""
    changes = {}
    for router, change in proposal.changes.items():
        there = {p: v for p, v in found.get(router, {}).items() if p in change.after}
        other = missing({p: change.after[p] for p in there}, there)
        before = {p: there[p] if p in other else change.after[p] for p in there}
        made = Change({**before, **change.before}, change.after)
        if made.before != made.after:
            changes[router] = made
    return replace(proposal, changes=changes)


def _problem(vrf: Mapping[str, Any]) -> str:
    bgp = vrf.get(_BGP)
    if bgp is None or "export-sid" not in bgp:
        return "it exports no routes with one declared SID for both families"
    if not is_device_name(vrf["name"]):
        return "srv6net reserves this name"
    return ""


def _unknown(vrf: Mapping[str, Any]) -> Iterator[str]:
    yield from sorted(vrf.keys() - _VRF)
    bgp = vrf[_BGP]
    yield from (f"bgp/{name}" for name in sorted(bgp.keys() - _OF_BGP) if bgp[name])
    for neighbor in bgp.get("neighbor", ()):
        yield from (f"bgp/neighbor/{name}" for name in sorted(neighbor.keys() - _OF_NEIGHBOR))


def _node(router: str, vrf: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    interfaces = {one["name"]: one for one in whole.get("interfaces", {}).get("interface", ())}
    accesses = [
        _access(name, interfaces.get(name, {}), vrf[_BGP].get("neighbor", ()))
        for name in vrf.get("interface", ())
    ]
    node: dict[str, Any] = {"vpn-node-id": router, "ne-id": router}
    node["active-vpn-instance-profiles"] = {"vpn-instance-profile": [{"profile-id": router}]}
    if accesses:
        node["vpn-network-accesses"] = {"vpn-network-access": accesses}
    return node


def _access(
    name: str, interface: Mapping[str, Any], neighbors: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    access: dict[str, Any] = {"id": name, "interface-id": name}
    connection = {}
    networks = []
    for family in ("ipv4", "ipv6"):
        for one in interface.get(f"srv6mgr-interfaces:{family}", {}).get("address", ())[:1]:
            connection[family] = {
                "local-address": one["ip"],
                "prefix-length": one["prefix-length"],
            }
            networks.append((one["ip"], one["prefix-length"]))
    if connection:
        access["ip-connection"] = connection
    behind = [n for n in neighbors if any(_is_within(n["address"], *net) for net in networks)]
    if behind:
        access["routing-protocols"] = {"routing-protocol": [_protocol(n) for n in behind]}
    return access


def _protocol(neighbor: Mapping[str, Any]) -> dict[str, Any]:
    bgp = {"peer-as": neighbor["remote-as"], "neighbor": [neighbor["address"]]}
    if neighbor.get("as-override"):
        bgp["as-override"] = True
    return {"id": neighbor["address"], "type": f"{_COMMON}bgp-routing", "bgp": bgp}


def _profile(router: str, bgp: Mapping[str, Any]) -> dict[str, Any]:
    imported, exported = bgp.get("import-rt", ()), bgp.get("export-rt", ())
    targets: list[dict[str, Any]] = []
    for target in dict.fromkeys([*imported, *exported]):
        both = target in imported and target in exported
        kind = "both" if both else "import" if target in imported else "export"
        targets.append(
            {
                "id": len(targets) + 1,
                "route-targets": [{"route-target": _typed(target)}],
                "route-target-type": kind,
            }
        )
    family = {
        "address-family": f"{_COMMON}dual-stack",
        "vpn-targets": {"vpn-target": targets},
    }
    return {"profile-id": router, "rd": _typed(bgp["rd"]), "address-family": [family]}


def _typed(value: str) -> str:
    """With the type that RFC 8294 writes before it: 1 of an address, 2 of an AS of four bytes."""
    administrator, _, _ = value.rpartition(":")
    if not _NUMBERED.fullmatch(administrator):
        return f"1:{value}"
    return f"{'0' if int(administrator) < 65_536 else '2'}:{value}"


def _is_within(address: str, ip: str, length: int) -> bool:
    first, second = ip_address(address), ip_address(ip)
    shift = first.max_prefixlen - int(length)
    return first.version == second.version and int(first) >> shift == int(second) >> shift


def _vrf_of(configuration: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found = configuration.get("vrfs", {}).get("vrf", ())
    return next((v for v in found if v["name"] == name and _BGP in v), None)


def _function(router: Router, sid: str) -> int | None:
    """The function of a SID of the router's locator; None of another one."""
    locator = router.locator
    length = locator.prefix.prefixlen + locator.function_length
    network = IPv6Network(sid) if sid else None
    if network is None or network.prefixlen != length or not network.subnet_of(locator.prefix):
        return None
    rest = int(network.network_address) - int(locator.prefix.network_address)
    return rest >> (128 - length)


def _foreign_sid(service: Service, router: Router, vrf: Mapping[str, Any]) -> Rejection:
    sid = vrf[_BGP].get("export-sid", "no SID of its own")
    return Rejection(
        f"VPN service {service.id}",
        f"its VRF on router {router.name} exports {sid}, which is not of locator"
        f" {router.locator.name} in the inventory",
        "correct the locator in the inventory, or leave this VRF out of the document",
        "foreign-sid",
    )
