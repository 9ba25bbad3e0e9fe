"""Sites of customers: what is behind each access, as far as the document says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from srv6net.intent.service import Access, Node, Role, RouteTargets, Service

_Interface = IPv4Interface | IPv6Interface
_Address = IPv4Address | IPv6Address
# Addresses of a subnet that are tried for the customer's side.
_TRIED = 64


@dataclass(frozen=True, slots=True)
class Site:
    """A host behind an access. ``addresses`` are on its link, ``networks`` further ones behind it,
    one of each prefix that is routed there."""

    name: str
    service: str
    access: str
    router: str
    interface: str
    role: Role
    targets: RouteTargets
    addresses: tuple[_Interface, ...]
    gateways: tuple[_Address, ...]
    networks: tuple[_Interface, ...] = ()

    @property
    def reached_at(self) -> tuple[str, ...]:
        return tuple(str(one.ip) for one in (*self.addresses, *self.networks))

    def __str__(self) -> str:
        return f"access {self.access} of VPN service {self.service} on router {self.router}"


def sites(services: Sequence[Service], routers: Collection[str]) -> tuple[Site, ...]:
    """One for each access of these routers. No two have the same address, even where their subnets
    are the same, so that it is known who answers."""
    taken: set[str] = set()
    found: list[Site] = []
    for service in services:
        for node in service.nodes:
            for access in node.accesses if node.router in routers else ():
                found.append(_site(f"s{len(found) + 1}", service, node, access, taken))
    return tuple(found)


def _site(name: str, service: Service, node: Node, access: Access, taken: set[str]) -> Site:
    addresses, gateways = [], []
    for local in access.addresses:
        chosen = next((a for a in _candidates(access, local) if a not in taken), "")
        if chosen:
            taken.add(chosen)
            addresses.append(_with_length(chosen, local))
            gateways.append(local.ip)
    networks = tuple(_first_of(route.prefix) for route in access.routes)
    return Site(
        name,
        service.id,
        access.id,
        node.router,
        access.interface,
        node.role,
        node.targets,
        tuple(addresses),
        tuple(gateways),
        networks,
    )


def _candidates(access: Access, local: _Interface) -> Iterator[str]:
    """First those that the document gives to the customer: its BGP speaker, and next hops."""
    named = [neighbor.address for neighbor in access.neighbors]
    named += [route.next_hop for route in access.routes]
    yield from (str(one) for one in named if one.version == local.version and one in local.network)
    size = local.network.num_addresses
    # Without the addresses of the network and of all its hosts, where it has them.
    first, last = (0, size) if size <= 2 else (1, size - 1)
    for number in range(first, min(last, first + _TRIED)):
        if local.network[number] != local.ip:
            yield str(local.network[number])


def _with_length(address: str, local: _Interface) -> _Interface:
    length = local.network.prefixlen
    made: _Interface = type(local)(f"{address}/{length}")
    return made


def _first_of(prefix: object) -> _Interface:
    """An address of a network behind the site."""
    text = str(prefix)
    address = text.partition("/")[0]
    kind = IPv6Interface if ":" in text else IPv4Interface
    whole = kind(text).network
    chosen = whole[1] if whole.num_addresses > 1 else address
    return kind(f"{chosen}/{whole.max_prefixlen}")
