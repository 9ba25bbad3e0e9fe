"""The desired state as frozen objects, one per YANG list entry or container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.prefix import number
from srv6mgrd.model.record import record


@dataclass(frozen=True, slots=True)
class Locator:
    """``/srv6/locators/locator``; lengths in bits (RFC 8986 section 3.1)."""

    name: str
    prefix: IPv6Network
    block_length: int = 32
    node_length: int = 16
    function_length: int = 16
    argument_length: int = 0
    micro_segment: bool = False

    def function_of(self, sid: IPv6Network) -> int:
        """Function bits of a SID of this locator, as an integer."""
        shift = 128 - self.prefix.prefixlen - self.function_length
        return (number(sid) >> shift) & ((1 << self.function_length) - 1)


@dataclass(frozen=True, slots=True)
class Neighbor:
    """``/srv6/bgp/neighbor`` and ``/srv6/vrfs/vrf/bgp/neighbor``; times in seconds."""

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
    export_function: int | None = None
    export_auto: bool = False
    locator: str | None = None
    neighbors: tuple[Neighbor, ...] = ()
    export_sid_ipv4: IPv6Network | None = None
    export_sid_ipv6: IPv6Network | None = None

    @property
    def export_sids(self) -> tuple[IPv6Network, ...]:
        """All SIDs that exported routes carry: one for both families, or one for each."""
        found = (self.export_sid, self.export_sid_ipv4, self.export_sid_ipv6)
        return tuple(sid for sid in found if sid is not None)

    def export_sid_of(self, family: int) -> IPv6Network | None:
        """The SID that exported routes of a family (4 or 6) carry."""
        return self.export_sid or (self.export_sid_ipv4 if family == 4 else self.export_sid_ipv6)


@dataclass(frozen=True, slots=True)
class SteeredRoute:
    """``/srv6/steering/route`` (``vrf`` None) and ``/srv6/vrfs/vrf/steering/route``."""

    vrf: str | None
    prefix: IPv4Network | IPv6Network
    segment_list: str
    behavior: Headend = Headend.H_ENCAPS
    source: IPv6Address | None = None
    interface: str | None = None
    metric: int = 1024

    @property
    def name(self) -> str:
        """Its name among the objects: VRF (``main`` for none), a blank, the prefix."""
        return f"{self.vrf or 'main'} {self.prefix}"


@dataclass(frozen=True, slots=True)
class Vrf:
    """``/srv6/vrfs/vrf``."""

    name: str
    table: int
    interfaces: tuple[str, ...] = ()
    bgp: VrfBgp | None = None


class Role(StrEnum):
    """``/srv6/interfaces/interface/role``: outside of the SRv6 domain, or inside."""

    CUSTOMER = "customer"
    CORE = "core"


@dataclass(frozen=True, slots=True)
class SegmentList:
    """``/srv6/segment-lists/segment-list``, the first segment first."""

    name: str
    segments: tuple[IPv6Address, ...]


@dataclass(frozen=True, slots=True)
class Proxy:
    """``/srv6/local-sids/sid/proxy``; ``age`` in seconds, ``mtu`` in bytes. ``passes`` holds
    prefixes and the words link-local and multicast."""

    inner_type: str
    interface: str
    return_interface: str
    next_hop: IPv4Address | IPv6Address | None = None
    segment_list: str | None = None
    source: IPv6Address | None = None
    age: int | None = None
    per_flow: bool = False
    decrement_hop_limit: bool = True
    passes: tuple[str, ...] = ()
    mtu: int | None = None


@record
class Sid:
    """``/srv6/local-sids/sid``: a local SID, keyed by its prefix."""

    prefix: IPv6Network
    locator: str
    behavior: Behavior
    vrf: str | None = None
    next_hop: IPv4Address | IPv6Address | None = None
    interface: str | None = None
    segment_list: str | None = None
    bpf_program: str | None = None
    flavors: frozenset[Flavor] = frozenset()
    counters: bool = True
    proxy: Proxy | None = None


@dataclass(frozen=True, slots=True)
class Bgp:
    """``/srv6/bgp``: the BGP speaker."""

    as_number: int
    router_id: IPv4Address
    neighbors: tuple[Neighbor, ...] = ()


@dataclass(frozen=True, slots=True)
class IsisInterface:
    """``/srv6/isis/interface``; ``metric`` None is FRR's own."""

    name: str
    passive: bool = False
    point_to_point: bool = False
    metric: int | None = None


@dataclass(frozen=True, slots=True)
class Isis:
    """``/srv6/isis``: IS-IS of the underlay. ``level`` is the YANG enum; ``locator`` the one
    that is advertised."""

    area: str
    system_id: str
    locator: str
    level: str = "level-2"
    interfaces: tuple[IsisInterface, ...] = ()


@dataclass(frozen=True, slots=True)
class Desired:
    """All that the configuration declares. Mappings are keyed by the YANG list key; ``routes`` by
    ``SteeredRoute.name``. ``flow_label`` is the YANG enum. ``roles`` of interfaces are those
    declared; ``domain`` says what the others are."""

    encapsulation_source: IPv6Address | None = None
    locators: Mapping[str, Locator] = field(default_factory=dict)
    vrfs: Mapping[str, Vrf] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    sids: Mapping[IPv6Network, Sid] = field(default_factory=dict)
    bgp: Bgp | None = None
    isis: Isis | None = None
    hop_limit: int | None = None
    flow_label: str = "copy"
    segment_lists: Mapping[str, SegmentList] = field(default_factory=dict)
    routes: Mapping[str, SteeredRoute] = field(default_factory=dict)
    accept_unsupported: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        return replace(self, accept_unsupported=False) == Desired()
