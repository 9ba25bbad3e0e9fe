"""Unreachable routes of VRFs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import ClassVar

from srv6mgrd.kinds.route import UNREACHABLE_METRIC, Family, Place, Route, in_table, route_key

ANYWHERE: dict[Family, IPv4Network | IPv6Network] = {
    4: IPv4Network("0.0.0.0/0"),
    6: IPv6Network("::/0"),
}


class _Unreachable(Route):
    __slots__ = ()

    rank: ClassVar[int] = 10
    table: int

    @property
    def type(self) -> str:
        return "unreachable "

    @property
    def vrf_table(self) -> int:
        return self.table


@dataclass(frozen=True, slots=True)
class UnreachableDefault(_Unreachable):
    """The default of a VRF: without it a lookup that fails there falls through to main."""

    needs_mark: ClassVar[bool] = True
    family: Family
    table: int

    @property
    def key(self) -> str:
        return f"route{self.family} table {self.table} default"

    @property
    def label(self) -> str:
        return f"unreachable IPv{self.family} default of table {self.table}"

    @property
    def place(self) -> Place:
        return self.table, UNREACHABLE_METRIC, ANYWHERE[self.family]


@dataclass(frozen=True, slots=True)
class UnreachableSid(_Unreachable):
    """A SID that a VRF exports, in the VRF's own table: unreachable, as all of the SRv6 domain is
    from there (RFC 8754 section 5.1), but a route. bgpd resolves the VPN route that it makes of an
    IPv6 route of a customer by the SID, looked up in the VRF (make_prefix in bgpd/bgp_nht.c), and
    holds it invalid where no route leads there."""

    prefix: IPv6Network
    table: int

    @property
    def key(self) -> str:
        return route_key(self.place)

    @property
    def label(self) -> str:
        return f"unreachable route to SID {self.prefix}{in_table(self.table)}"

    @property
    def place(self) -> Place:
        return self.table, UNREACHABLE_METRIC, self.prefix
