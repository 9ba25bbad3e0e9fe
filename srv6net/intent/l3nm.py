"""Read services from a document of ietf-l3vpn-ntw (RFC 9182, L3NM) in JSON (RFC 7951)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface, ip_network
from typing import Any

from srv6net.intent.document import Place
from srv6net.intent.service import (
    Access,
    BgpNeighbor,
    Node,
    Role,
    RouteTargets,
    Service,
    StaticRoute,
    Topology,
)

ROOT = "ietf-l3vpn-ntw:l3vpn-ntw"
_TOPOLOGIES = frozenset(Topology)
_ROLES = frozenset(Role)
_BOTH = frozenset({"import", "export", "both"})
# RFC 8294 section 3, route-target and route-distinguisher: a type before administrator and number.
_TYPED = re.compile(r"[012]:([0-9]+|[0-9]+(?:\.[0-9]+){3}):([0-9]+)")
_DEFAULT_ROLE = {Topology.ANY_TO_ANY: Role.ANY_TO_ANY, Topology.HUB_SPOKE: Role.SPOKE}


def services(document: Mapping[str, Any]) -> tuple[Service, ...]:
    """The services of a document; RejectedError with all that cannot be served."""
    top = Place(document, "")
    top.only(ROOT)
    root = top.below(ROOT)
    root.only("vpn-services")
    holder = root.below("vpn-services")
    holder.only("vpn-service")
    found = tuple(_service(id, place) for id, place in holder.entries("vpn-service", "vpn-id"))
    top.finish()
    return found


def _service(id: str, place: Place) -> Service:
    place.only(
        "vpn-id", "vpn-name", "vpn-description", "customer-name", "vpn-type",
        "vpn-service-topology", "vpn-instance-profiles", "underlay-transport", "vpn-nodes",
    )  # fmt: skip
    place.identity("vpn-type", "l3vpn", frozenset({"l3vpn"}))
    topology = Topology(place.identity("vpn-service-topology", Topology.ANY_TO_ANY, _TOPOLOGIES))
    _underlay(place.below("underlay-transport"))
    profiles = place.below("vpn-instance-profiles")
    profiles.only("vpn-instance-profile")
    known = dict(profiles.entries("vpn-instance-profile", "profile-id"))
    for profile in known.values():
        _profile_nodes(profile)
    nodes = place.below("vpn-nodes")
    nodes.only("vpn-node")
    return Service(
        id,
        topology,
        tuple(_node(n, p, topology, known) for n, p in nodes.entries("vpn-node", "vpn-node-id")),
        place.path,
    )


def _underlay(place: Place) -> None:
    place.only("protocol")
    for protocol in place.value.get("protocol", ()):
        if protocol != "ietf-vpn-common:srv6":
            place.reject(
                f"{place.path}/protocol",
                f"srv6net does not support {protocol}",
                "choose ietf-vpn-common:srv6, or remove it",
                "not-supported",
            )


def _profile_nodes(place: Place) -> None:
    place.only("profile-id", "role", "rd", "address-family")


def _node(id: str, place: Place, topology: Topology, known: Mapping[str, Place]) -> Node:
    place.only("vpn-node-id", "description", "ne-id", "active-vpn-instance-profiles",
               "vpn-network-accesses")  # fmt: skip
    active = place.below("active-vpn-instance-profiles")
    active.only("vpn-instance-profile")
    chosen = list(active.entries("vpn-instance-profile", "profile-id"))
    if len(chosen) > 1:
        place.reject(
            f"VPN node {id}", "it has several active VPN instance profiles",
            "keep one: a node is one VRF", "not-supported",
        )  # fmt: skip
    role, rd, targets = _DEFAULT_ROLE[topology], "", RouteTargets()
    for name, given in chosen[:1]:
        _profile_nodes(given)
        if name not in known:
            given.reject(
                f"VPN node {id}", f"there is no VPN instance profile {name}",
                "declare it among the service's vpn-instance-profiles", "unknown-profile",
            )  # fmt: skip
            continue
        # The node's own values replace those of the profile (RFC 9182 section 7.6.1).
        for profile in (known[name], given):
            role = Role(profile.identity("role", role, _ROLES))
            rd = profile.leaf("rd", _distinguisher, rd)
            targets = _targets(profile) or targets
    accesses = place.below("vpn-network-accesses")
    accesses.only("vpn-network-access")
    entries = accesses.entries("vpn-network-access", "id")
    return Node(
        id, str(place.value.get("ne-id", id)), role,
        tuple(_access(a, p) for a, p in entries), rd, targets,
    )  # fmt: skip


def _targets(place: Place) -> RouteTargets:
    """Those of both address families together: srv6net exports both with one SID."""
    imported: set[str] = set()
    exported: set[str] = set()
    for _, family in place.entries("address-family", "address-family"):
        family.only("address-family", "vpn-targets")
        family.identity("address-family", "dual-stack", frozenset({"ipv4", "ipv6", "dual-stack"}))
        vpn_targets = family.below("vpn-targets")
        vpn_targets.only("vpn-target")
        for _, target in vpn_targets.entries("vpn-target", "id"):
            target.only("id", "route-targets", "route-target-type")
            kind = target.leaf("route-target-type", _kind, "both")
            for _, one in target.entries("route-targets", "route-target"):
                value = one.leaf("route-target", _target, "")
                if value and kind != "export":
                    imported.add(value)
                if value and kind != "import":
                    exported.add(value)
    return RouteTargets(frozenset(imported), frozenset(exported))


def _access(id: str, place: Place) -> Access:
    place.only("id", "interface-id", "description", "vpn-network-access-type", "ip-connection",
               "routing-protocols")  # fmt: skip
    place.identity("vpn-network-access-type", "point-to-point", frozenset({"point-to-point"}))
    interface = str(place.value.get("interface-id", ""))
    if not interface:
        place.reject(
            f"access {id}", "it has no interface-id", "name the interface of the router", "missing"
        )
    connection = place.below("ip-connection")
    connection.only("ipv4", "ipv6")
    routing = place.below("routing-protocols")
    routing.only("routing-protocol")
    routes: list[StaticRoute] = []
    neighbors: list[BgpNeighbor] = []
    for _, protocol in routing.entries("routing-protocol", "id"):
        protocol.only("id", "type", "static", "bgp")
        protocol.identity(
            "type", "direct-routing", frozenset({"direct-routing", "static-routing", "bgp-routing"})
        )
        routes += _routes(protocol.below("static"))
        if "bgp" in protocol.value:
            neighbors += _neighbors(protocol.below("bgp"))
    addresses = tuple(_addresses(connection))
    return Access(id, interface, addresses, tuple(routes), tuple(neighbors))


def _addresses(connection: Place) -> Iterator[IPv4Interface | IPv6Interface]:
    for family in ("ipv4", "ipv6"):
        place = connection.below(family)
        place.only("local-address", "prefix-length", "address-allocation-type")
        allocation = place.value.get("address-allocation-type", "static-address")
        if str(allocation).rpartition(":")[2] != "static-address":
            place.reject(
                f"{place.path}/address-allocation-type",
                f"srv6net does not support {allocation}",
                "choose static-address",
                "not-supported",
            )
        if "local-address" not in place.value:
            continue
        text = f"{place.value['local-address']}/{place.value.get('prefix-length', '')}"
        try:
            yield ip_interface(text)
        except ValueError:
            place.reject(
                place.path, f"{text} is no address with a prefix length",
                "set local-address and prefix-length", "malformed",
            )  # fmt: skip


def _routes(static: Place) -> Iterator[StaticRoute]:
    static.only("cascaded-lan-prefixes")
    prefixes = static.below("cascaded-lan-prefixes")
    prefixes.only("ipv4-lan-prefixes", "ipv6-lan-prefixes")
    for name in ("ipv4-lan-prefixes", "ipv6-lan-prefixes"):
        for _, entry in prefixes.entries(name, "lan"):
            entry.only("lan", "lan-tag", "next-hop")
            lan = entry.leaf("lan", ip_network, None)
            next_hop = entry.leaf("next-hop", ip_address, None)
            if lan is not None and next_hop is not None:
                yield StaticRoute(lan, next_hop)
            elif "next-hop" not in entry.value:
                entry.reject(entry.path, "it has no next-hop", "set next-hop", "missing")


def _neighbors(bgp: Place) -> Iterator[BgpNeighbor]:
    bgp.only("description", "peer-as", "neighbor", "as-override", "address-family")
    peer_as = bgp.leaf("peer-as", int, 0)
    if not peer_as:
        bgp.reject(bgp.path, "it has no peer-as", "set the customer's AS number", "missing")
    for text in bgp.value.get("neighbor", ()):
        try:
            yield BgpNeighbor(ip_address(text), peer_as, bgp.value.get("as-override") is True)
        except ValueError as error:
            bgp.reject(f"{bgp.path}/neighbor", str(error), "correct it", "malformed")


def _kind(text: str) -> str:
    if text not in _BOTH:
        raise ValueError(f"{text} is none of import, export and both")
    return text


def _target(text: str) -> str:
    """``0:65000:10`` of RFC 8294 is ``65000:10`` on a router."""
    if not (found := _TYPED.fullmatch(text)):
        raise ValueError(f"{text} is no route target of RFC 8294, such as 0:65000:10")
    return f"{found[1]}:{found[2]}"


def _distinguisher(text: str) -> str:
    if not (found := _TYPED.fullmatch(text)):
        raise ValueError(f"{text} is no route distinguisher of RFC 8294, such as 0:65000:10")
    return f"{found[1]}:{found[2]}"
