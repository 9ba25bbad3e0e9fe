"""Static routes of a VRF as declared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network


class SpecialNextHop(StrEnum):
    """Drops packets (RFC 8349, typedef special-next-hop)."""

    BLACKHOLE = "blackhole"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class NextHop:
    """``/srv6/vrfs/vrf/static-routes/route/next-hop``; an address, an interface or both, or else
    what drops packets. ``preference`` is the administrative distance."""

    index: int
    address: IPv4Address | IPv6Address | None = None
    interface: str | None = None
    special: SpecialNextHop | None = None
    preference: int = 1
    bfd: bool = False


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """``/srv6/vrfs/vrf/static-routes/route``."""

    vrf: str
    prefix: IPv4Network | IPv6Network
    next_hops: tuple[NextHop, ...]
    tag: int | None = None

    @property
    def name(self) -> str:
        """Its name among the objects: VRF, a blank, the prefix."""
        return f"{self.vrf} {self.prefix}"
