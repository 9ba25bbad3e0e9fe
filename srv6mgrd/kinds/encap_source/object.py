"""Source address of encapsulated packets. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import ClassVar

from srv6mgrd.kinds.object import Object


@dataclass(frozen=True, slots=True)
class EncapSource(Object):
    """Source address of encapsulated packets: ``ip sr tunsrc`` (net/ipv6/seg6.c)."""

    rank: ClassVar[int] = 20
    bears_mark: ClassVar[bool] = False
    address: IPv6Address

    @property
    def key(self) -> str:
        return "encap-source"

    @property
    def label(self) -> str:
        return f"encapsulation source {self.address}"

    @property
    def short_label(self) -> str:
        return "encapsulation source"

    @property
    def owned_lines(self) -> tuple[str, ...]:
        return (str(self.address),)

    def create_command(self) -> str:
        return f"ip sr tunsrc set {self.address}"

    def delete_command(self) -> str:
        return "ip sr tunsrc set ::"

    def difference(self, was: Object) -> str:
        if isinstance(was, EncapSource):
            return f"{self.short_label} was {was.address}, is {self.address}"
        return Object.difference(self, was)
