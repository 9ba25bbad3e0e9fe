"""An address of an interface. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv6Interface
from typing import ClassVar

from srv6mgrd.kinds.object import Object
from srv6mgrd.model.reserved import ROUTE_PROTOCOL


@dataclass(frozen=True, slots=True)
class InterfaceAddress(Object):
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
    def label(self) -> str:
        return f"address {self.address} of interface {self.interface}"

    @property
    def short_label(self) -> str:
        return f"address {self.address} of {self.interface}"

    @property
    def is_link_local(self) -> bool:
        return self.address.version == 6 and self.address.is_link_local

    @property
    def hangs_on(self) -> tuple[str, ...]:
        return (self.interface,)

    @property
    def lost_with(self) -> str | None:
        return self.interface if self.is_link_local else None

    def create_command(self) -> str:
        nodad = " nodad" if self.address.version == 6 else ""
        return (
            f"ip address replace {self.address} dev {self.interface}{nodad} proto {ROUTE_PROTOCOL}"
        )

    def replace_command(self, before: Object) -> str:
        if isinstance(before, InterfaceAddress) and before != self:
            return f"{before.delete_command()} && {self.create_command()}"
        return self.create_command()

    def delete_command(self) -> str:
        return f"ip address delete {self.address} dev {self.interface}"

    def difference(self, was: Object) -> str:
        if not isinstance(was, InterfaceAddress):
            return Object.difference(self, was)
        if was == self:
            return f"{self.short_label} went with its interface"
        return f"{self.short_label} had prefix length {was.address.network.prefixlen}"
