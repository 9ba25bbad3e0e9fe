"""OSPF of a VRF as declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address

# Area 0.
_BACKBONE = IPv4Address(0)


@dataclass(frozen=True, slots=True)
class OspfKey:
    """``interface/authentication``; ``algorithm`` is the YANG enum, of version 3."""

    password: str = field(repr=False)
    id: int = 1
    algorithm: str = "md5"


@dataclass(frozen=True, slots=True)
class DefaultInformation:
    """``default-information``; ``metric`` None is FRR's own."""

    metric: int | None = None
    type_1: bool = False


@dataclass(frozen=True, slots=True)
class OspfInterface:
    """``/srv6/vrfs/vrf/ospf/interface``; ``cost`` None is FRR's own."""

    name: str
    area: IPv4Address = _BACKBONE
    cost: int | None = None
    point_to_point: bool = False
    passive: bool = False
    bfd: bool = False
    authentication: OspfKey | None = None


@dataclass(frozen=True, slots=True)
class Ospf:
    """``/srv6/vrfs/vrf/ospf`` (``version`` 2, for IPv4) and ``ospfv3`` (3, for IPv6);
    ``redistribute`` has a policy, or none, for each source."""

    vrf: str
    version: int
    router_id: IPv4Address
    interfaces: tuple[OspfInterface, ...] = ()
    redistribute: tuple[tuple[str, str | None], ...] = ()
    default_information: DefaultInformation | None = None

    @property
    def family(self) -> int:
        """Of the routes that it carries."""
        return 4 if self.version == 2 else 6

    @property
    def policies(self) -> frozenset[str]:
        """The routing policies that are applied."""
        return frozenset(policy for _, policy in self.redistribute if policy is not None)
