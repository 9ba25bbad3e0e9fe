"""Interfaces of the router as ``srv6mgr-interfaces`` declares them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface

Address = IPv4Interface | IPv6Interface

# RFC 8200 section 5; below it the kernel takes IPv6 off an interface (addrconf_notify).
IPV6_MTU = 1280


@dataclass(frozen=True, slots=True)
class Vlan:
    """``interface/vlan``: an 802.1Q subinterface."""

    parent: str
    id: int


@dataclass(frozen=True, slots=True)
class Interface:
    """``/srv6/interfaces/interface`` less its role. None: left as it is."""

    name: str
    loopback: bool = False
    vlan: Vlan | None = None
    enabled: bool | None = None
    mtu: int | None = None
    addresses: tuple[Address, ...] = ()

    @property
    def is_created(self) -> bool:
        """Whether srv6mgrd creates it; others are waited for."""
        return self.loopback or self.vlan is not None


def mtu_of(name: str, interfaces: Mapping[str, Interface]) -> int | None:
    """The MTU declared of it. A VLAN has that of its parent unless it has its own: the parent's
    may be set after the VLAN is created."""
    found: set[str] = set()
    while (one := interfaces.get(name)) is not None and name not in found:
        if one.mtu is not None or one.vlan is None:
            return one.mtu
        found.add(name)
        name = one.vlan.parent
    return None


def depth(name: str, interfaces: Mapping[str, Interface]) -> int:
    """How many declared VLAN subinterfaces it is stacked on, itself included."""
    found: set[str] = set()
    while (one := interfaces.get(name)) is not None and one.vlan is not None and name not in found:
        found.add(name)
        name = one.vlan.parent
    return len(found)
