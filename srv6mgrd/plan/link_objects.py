"""Interfaces of the router as objects: VLAN subinterfaces, their state, their addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv6Interface
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class VlanDevice:
    """An 802.1Q subinterface. ``order``: those that others are stacked on come first."""

    rank: ClassVar[int] = 1
    name: str
    parent: str
    id: int
    order: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"link {self.name}"


@dataclass(frozen=True, slots=True)
class LinkMtu:
    """MTU in bytes of an interface. Set when needed, never set back. ``order``: a VLAN's is at
    most that of its parent, which comes first (vlan_dev_change_mtu). Before sysctls: below 1280
    bytes there are none of IPv6."""

    rank: ClassVar[int] = 12
    interface: str
    mtu: int
    order: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"mtu {self.interface}"


@dataclass(frozen=True, slots=True)
class AdminState:
    """Administrative state of an interface. Set when needed, never set back. ``order``: a VLAN can
    be up only if its parent is (vlan_dev_open), and goes up with it (vlan_device_event), as it does
    when the parent enters a VRF: so this comes after that."""

    rank: ClassVar[int] = 31
    interface: str
    up: bool
    order: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"admin {self.interface}"


@dataclass(frozen=True, slots=True)
class InterfaceAddress:
    """An address of an interface. After the interface is in its VRF: what enters one goes down and
    up, and loses link-local addresses (cycle_netdev, addrconf_ifdown)."""

    rank: ClassVar[int] = 33
    interface: str
    address: IPv4Interface | IPv6Interface
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        # An interface has an IPv6 address once, whatever its prefix length (ipv6_chk_same_addr).
        # Asked for at every compare, of every address of the router.
        if not self._key:
            object.__setattr__(self, "_key", f"address {self.interface} {self.address.ip}")
        return self._key

    @property
    def is_link_local(self) -> bool:
        return self.address.version == 6 and self.address.is_link_local


# Those with an order among themselves.
Stacked = VlanDevice | LinkMtu | AdminState
LinkObject = Stacked | InterfaceAddress
