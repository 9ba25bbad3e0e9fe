"""The desired state as frozen objects, one per YANG list entry or container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from srv6mgrd.model.accounting import Accounting
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.bgp import Bgp, VrfBgp
from srv6mgrd.model.chains import Chains
from srv6mgrd.model.interfaces import Interface
from srv6mgrd.model.isis import Isis
from srv6mgrd.model.leaking import Leak
from srv6mgrd.model.ospf import Ospf
from srv6mgrd.model.path_measurement import PathMeasurement
from srv6mgrd.model.prefix import number
from srv6mgrd.model.record import record
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.model.routing_policy import RoutingPolicy
from srv6mgrd.model.static_routes import StaticRoute


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

    @property
    def block(self) -> IPv6Network:
        """The SID block: of this node and of others."""
        return self.prefix.supernet(new_prefix=self.block_length)

    def covers(self, sid: IPv6Network) -> bool:
        """Whether a SID is in the locator's prefix."""
        length = self.prefix.prefixlen
        return sid.prefixlen >= length and not (number(sid) ^ number(self.prefix)) >> 128 - length

    def function_of(self, sid: IPv6Network) -> int:
        """Function bits of a SID of this locator, as an integer."""
        length = self.function_length_of(sid)
        shift = 128 - self.prefix.prefixlen - length
        return (number(sid) >> shift) & ((1 << length) - 1)

    def sid_with(self, function: int) -> IPv6Network | None:
        """The SID that has this function; None where it does not fit."""
        if not 0 < function < 1 << self.function_length:
            return None
        length = self.prefix.prefixlen + self.function_length
        return IPv6Network((int(self.prefix.network_address) | function << 128 - length, length))

    def function_length_of(self, sid: IPv6Network) -> int:
        """Function bits of a SID in the locator's prefix. A function-length of 0 leaves it to each
        SID: all that its prefix has behind the locator."""
        return self.function_length or sid.prefixlen - self.prefix.prefixlen


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
    """``/srv6/local-sids/sid``: a local SID, keyed by its prefix. ``default_vrf``: without ``vrf``
    it looks up the default VRF, be it End.DT4 or End.DT46."""

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
    default_vrf: bool = False


@dataclass(frozen=True, slots=True)
class Desired:
    """All that the configuration declares. Mappings are keyed by the YANG list key, ``routes``,
    ``static_routes`` and ``leaks`` by their ``name``. ``malformed`` are SIDs that can't be
    understood. ``flow_label`` is the YANG enum. ``roles`` of interfaces are those declared,
    ``default_role`` is that of interfaces of which nothing says it; ``domain`` says what each
    is. ``interfaces`` are those of which more than the role is declared."""

    encapsulation_source: IPv6Address | None = None
    locators: Mapping[str, Locator] = field(default_factory=dict)
    vrfs: Mapping[str, Vrf] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    interfaces: Mapping[str, Interface] = field(default_factory=dict)
    sids: Mapping[IPv6Network, Sid] = field(default_factory=dict)
    bgp: Bgp | None = None
    isis: Isis | None = None
    hop_limit: int | None = None
    flow_label: str = "copy"
    segment_lists: Mapping[str, SegmentList] = field(default_factory=dict)
    routes: Mapping[str, SteeredRoute] = field(default_factory=dict)
    static_routes: Mapping[str, StaticRoute] = field(default_factory=dict)
    leaks: Mapping[str, Leak] = field(default_factory=dict)
    # By VRF.
    ospf: Mapping[str, Ospf] = field(default_factory=dict)
    ospfv3: Mapping[str, Ospf] = field(default_factory=dict)
    accept_unsupported: bool = False
    malformed: Mapping[IPv6Network, Rejection] = field(default_factory=dict)
    default_role: Role = Role.CUSTOMER
    # Routes of the main table that VRFs can import: connected, static, kernel.
    main_redistribute: tuple[str, ...] = ()
    routing_policy: RoutingPolicy = field(default_factory=RoutingPolicy)
    path_measurement: PathMeasurement = field(default_factory=PathMeasurement)
    accounting: Accounting = field(default_factory=Accounting)
    chains: Chains = field(default_factory=Chains)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        plain = replace(self, accept_unsupported=False, default_role=Role.CUSTOMER)
        return plain == Desired()
