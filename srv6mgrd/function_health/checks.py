"""Which packets check a function, given what interfaces and addresses there are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ProxiedFunction, ServiceFunction, Way

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Port:
    """An interface as it is: its addresses, and its MAC address."""

    index: int
    is_up: bool
    mac: bytes
    addresses: Sequence[IPv4Interface | IPv6Interface] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A packet that enters the function by one interface and has to leave it by another. Frames
    have no addresses and no ``next_hop``. With a ``problem`` it can't be sent."""

    function: str
    family: Family
    way: Way
    enters: str
    leaves: str
    next_hop: Address | None = None
    source: Address | None = None
    destination: Address | None = None
    problem: str = ""
    # It cannot be sent for lack of an address: that says nothing of the function.
    is_possible: bool = True

    @property
    def name(self) -> str:
        """For reasons: ``ipv4 forward``."""
        return f"{self.family} {self.way}"


def checks(function: ServiceFunction, ports: Mapping[str, Port]) -> Iterator[Check]:
    """All checks of a function behind a proxy of this router."""
    proxied = function.proxied
    if proxied is None:
        return
    one_arm = proxied.interface == proxied.return_interface
    for family in proxied.families:
        for way in Way:
            if one_arm and way is Way.REVERSE:
                continue
            yield _check(function.name, proxied, family, way, ports)


def _check(
    name: str, proxied: ProxiedFunction, family: Family, way: Way, ports: Mapping[str, Port]
) -> Check:
    enters, leaves = proxied.interface, proxied.return_interface
    next_hops = proxied.next_hops
    if way is Way.REVERSE:
        enters, leaves, next_hops = leaves, enters, proxied.reverse_next_hops
    for interface in (enters, leaves):
        port = ports.get(interface)
        if port is None or not port.is_up:
            why = f"interface {interface} {'does not exist' if port is None else 'is down'}"
            return Check(name, family, way, enters, leaves, problem=why)
    if family is Family.ETHERNET:
        return Check(name, family, way, enters, leaves)
    next_hop = next_hops.get(family)
    source, destination = (_address(ports[one], family, next_hop) for one in (enters, leaves))
    lacks = enters if source is None else leaves if destination is None else None
    return Check(
        name,
        family,
        way,
        enters,
        leaves,
        next_hop,
        source,
        destination,
        is_possible=lacks is None,
        problem=f"interface {lacks} has no {_FAMILY_NAMES[family]} address" if lacks else "",
    )


_FAMILY_NAMES = {Family.IPV4: "IPv4", Family.IPV6: "IPv6"}


def _address(port: Port, family: Family, near: Address | None) -> Address | None:
    """The one that is in the network of the function, or any but a link-local one: a router does
    not forward these."""
    version = 4 if family is Family.IPV4 else 6
    found = [one for one in port.addresses if one.version == version and not one.ip.is_link_local]
    for one in found:
        if near is not None and near.version == version and near in one.network:
            return one.ip
    return found[0].ip if found else None
