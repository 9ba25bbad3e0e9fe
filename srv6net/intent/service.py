"""Services as RFC 9182 has them: a VPN service, its nodes, and their accesses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)


class Topology(StrEnum):
    """RFC 9181 section 4.4, identities of vpn-topology."""

    ANY_TO_ANY = "any-to-any"
    HUB_SPOKE = "hub-spoke"


class Role(StrEnum):
    """RFC 9181, identities of role."""

    ANY_TO_ANY = "any-to-any-role"
    HUB = "hub-role"
    SPOKE = "spoke-role"


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """A prefix of the customer's behind an access."""

    prefix: IPv4Network | IPv6Network
    next_hop: IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class BgpNeighbor:
    """A router of the customer's that speaks BGP."""

    address: IPv4Address | IPv6Address
    peer_as: int
    is_as_overridden: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """Where a customer is connected. Without addresses the interface has those that it has."""

    id: str
    interface: str
    addresses: tuple[IPv4Interface | IPv6Interface, ...] = ()
    routes: tuple[StaticRoute, ...] = ()
    neighbors: tuple[BgpNeighbor, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteTargets:
    """Route targets that the operator chose."""

    imported: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.imported or self.exported)


@dataclass(frozen=True, slots=True)
class Node:
    """The VRF of a service on a router."""

    id: str
    router: str
    role: Role
    accesses: tuple[Access, ...]
    rd: str = ""
    targets: RouteTargets = RouteTargets()


@dataclass(frozen=True, slots=True)
class Service:
    """A VPN of a customer. ``path`` is its place in the document, for error messages."""

    id: str
    topology: Topology
    nodes: tuple[Node, ...]
    path: str = ""
