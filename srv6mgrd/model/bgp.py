"""BGP as declared: the speaker, its neighbors, and what a VRF exports and imports."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Network

from srv6mgrd.model.routing_policy import NO_POLICY, ApplyPolicy

# The AS number of a neighbor that has none, and whose peer group has none.
NO_AS = -1


class PeerKind(StrEnum):
    """The YANG list of a neighbor."""

    NEIGHBOR = "neighbor"
    UNNUMBERED = "unnumbered-neighbor"
    DYNAMIC = "peer-group"

    @property
    def key(self) -> str:
        """The key of the list."""
        return {"neighbor": "address", "unnumbered-neighbor": "interface"}.get(self, "name")


class AddPaths(StrEnum):
    """``neighbor/add-paths``."""

    ALL = "all"
    BEST_PER_AS = "best-per-as"


@dataclass(frozen=True, slots=True)
class PrefixLimit:
    """``neighbor/prefix-limit``: at ``maximum`` prefixes the session ends, for ``restart`` minutes
    if that is given, unless ``warning_only``; a warning comes at ``threshold`` percent."""

    maximum: int
    threshold: int | None = None
    restart: int | None = None
    warning_only: bool = False


@dataclass(frozen=True, slots=True)
class Neighbor:
    """``/srv6/bgp/neighbor`` and ``/srv6/vrfs/vrf/bgp/neighbor``, with the values of its peer
    group; times in seconds.

    ``address`` is the key: an address, the interface of an unnumbered neighbor, or the name of the
    peer group of those that connect from ``prefixes``. ``families`` (4, 6) are those declared.
    """

    address: str
    remote_as: int
    update_source: str | None = None
    description: str | None = None
    password: str | None = field(default=None, repr=False)
    keepalive: int | None = None
    hold_time: int | None = None
    bfd: bool = False
    route_reflector_client: bool = False
    ebgp_multihop: int | None = None
    apply_policy: ApplyPolicy = NO_POLICY
    prefix_limit: PrefixLimit | None = None
    allow_own_as: int | None = None
    next_hop_self: bool = False
    soft_reconfiguration: bool = False
    ttl_security: int | None = None
    enabled: bool = True
    shutdown_message: str | None = None
    # Of customers alone.
    as_override: bool = False
    site_of_origin: str | None = None
    default_originate: bool = False
    kind: PeerKind = PeerKind.NEIGHBOR
    prefixes: tuple[str, ...] = ()
    families: tuple[int, ...] = ()
    add_paths: AddPaths | None = None

    @property
    def carries(self) -> tuple[int, ...]:
        """The families of routes that a session in a VRF carries."""
        if self.families:
            return self.families
        if self.kind is PeerKind.UNNUMBERED:
            return (4, 6)
        addresses = self.prefixes or (self.address,)
        return tuple(sorted({6 if ":" in address else 4 for address in addresses}))

    @property
    def step(self) -> str:
        """The last step of its data path."""
        return f"{self.kind}[{self.kind.key}='{self.address}']"


@dataclass(frozen=True, slots=True)
class VpnFamily:
    """``/srv6/vrfs/vrf/bgp/ipv4-unicast`` and ``ipv6-unicast``: what a family has of its own."""

    rd: str | None = None
    import_rts: tuple[str, ...] = ()
    export_rts: tuple[str, ...] = ()


_AS_THE_VRF = VpnFamily()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``/srv6/vrfs/vrf/bgp/aggregate``: announced while a more specific prefix is there."""

    prefix: IPv4Network | IPv6Network
    summary_only: bool = False


@dataclass(frozen=True, slots=True)
class VrfBgp:
    """``/srv6/vrfs/vrf/bgp``: what a VRF exports and imports.

    At most one of ``export_sid`` (a declared SID), ``export_function`` and ``export_auto`` (a SID
    that is made for the VRF in ``locator``), or else ``export_sid_ipv4`` and ``export_sid_ipv6``
    (declared SIDs of one address family).
    """

    rd: str
    import_rts: tuple[str, ...]
    export_rts: tuple[str, ...]
    export_sid: IPv6Network | None = None
    redistribute_connected: bool = True
    redistribute_static: bool = False
    connected_policy: str | None = None
    static_policy: str | None = None
    redistribute_ospf: bool = False
    ospf_policy: str | None = None
    export_function: int | None = None
    export_auto: bool = False
    locator: str | None = None
    neighbors: tuple[Neighbor, ...] = ()
    export_sid_ipv4: IPv6Network | None = None
    export_sid_ipv6: IPv6Network | None = None
    apply_policy: ApplyPolicy = NO_POLICY
    ipv4: VpnFamily = _AS_THE_VRF
    ipv6: VpnFamily = _AS_THE_VRF
    maximum_paths_ebgp: int | None = None
    maximum_paths_ibgp: int | None = None
    aggregates: tuple[Aggregate, ...] = ()

    def of_family(self, family: int) -> VpnFamily:
        """Route distinguisher and targets of a family (4 or 6)."""
        own = self.ipv4 if family == 4 else self.ipv6
        return VpnFamily(
            own.rd or self.rd,
            own.import_rts or self.import_rts,
            own.export_rts or self.export_rts,
        )

    @property
    def export_sids(self) -> tuple[IPv6Network, ...]:
        """All SIDs that exported routes carry: one for both families, or one for each."""
        found = (self.export_sid, self.export_sid_ipv4, self.export_sid_ipv6)
        return tuple(sid for sid in found if sid is not None)

    @property
    def policies(self) -> frozenset[str]:
        """The routing policies that are applied to routes of the VRF."""
        applied = (self.apply_policy, *(n.apply_policy for n in self.neighbors))
        redistributed = (self.connected_policy, self.static_policy, self.ospf_policy)
        names = (*redistributed, *(name for apply in applied for name in apply.names))
        return frozenset(name for name in names if name is not None)

    def export_sid_of(self, family: int) -> IPv6Network | None:
        """The SID that exported routes of a family (4 or 6) carry."""
        return self.export_sid or (self.export_sid_ipv4 if family == 4 else self.export_sid_ipv6)


@dataclass(frozen=True, slots=True)
class GracefulRestart:
    """``/srv6/bgp/graceful-restart``; times in seconds."""

    restart_time: int = 120
    stale_routes_time: int = 360
    long_lived_stale_time: int | None = None


@dataclass(frozen=True, slots=True)
class Bgp:
    """``/srv6/bgp``: the BGP speaker."""

    as_number: int
    router_id: IPv4Address
    neighbors: tuple[Neighbor, ...] = ()
    graceful_restart: GracefulRestart | None = None
