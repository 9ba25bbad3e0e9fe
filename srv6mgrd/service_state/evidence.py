"""What is seen of the parts that a service needs. Who gathers it knows nothing of services.

A part that has not been read yet is None: nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.model.arrivals import Arrivals
from srv6mgrd.model.status import ObjectRef, ObjectStatus

# The instance of BGP that exchanges VPN routes.
SPEAKER = ""
ESTABLISHED = "Established"


@dataclass(frozen=True, slots=True)
class BgpSession:
    """``state`` by bgpd's name; ``was_established`` at any time since bgpd started."""

    state: str
    was_established: bool = False

    @property
    def is_established(self) -> bool:
        return self.state == ESTABLISHED


@dataclass(frozen=True, slots=True)
class UnresolvedNextHop:
    """A next hop that bgpd has no route to: ``routes`` by VRF are those that it imported with
    it."""

    address: str
    routes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RouteCount:
    """Routes of BGP in a VRF."""

    ipv4: int = 0
    ipv6: int = 0

    def __sub__(self, other: RouteCount) -> RouteCount:
        """Those that ``other`` lacks."""
        return RouteCount(max(0, self.ipv4 - other.ipv4), max(0, self.ipv6 - other.ipv6))

    def __bool__(self) -> bool:
        return bool(self.ipv4 or self.ipv6)


@dataclass(frozen=True, slots=True)
class BgpEvidence:
    """What bgpd and zebra report. ``problem`` says why they can't be asked; then nothing else is
    known. ``is_silent``: a daemon of FRR has been asked for long, and does not answer.
    ``sessions`` are keyed by VRF, ``SPEAKER`` for none, and the peer's name in FRR; ``exports``
    say by VRF why its routes are not exported as declared, empty where they are. ``routes`` are
    those of BGP that zebra has and that belong in the kernel, by VRF; ``next_hops`` those of BGP's
    routes by the SID that they encapsulate to, of some VRFs, as they were last read."""

    problem: str = ""
    sessions: Mapping[tuple[str, str], BgpSession] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)
    unresolved: tuple[UnresolvedNextHop, ...] = ()
    routes: Mapping[str, RouteCount] = field(default_factory=dict)
    next_hops: Mapping[IPv6Address, frozenset[str]] = field(default_factory=dict)
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """An interface of this network namespace."""

    is_up: bool
    has_carrier: bool
    mtu: int


@dataclass(frozen=True, slots=True)
class Reachability:
    """The route to an address, as the kernel looks it up: ``failure`` says why there is none.
    ``mtu`` is that of the path as far as it is known, 0 for unknown."""

    failure: str = ""
    interface: str = ""
    next_hop: str = ""
    mtu: int = 0


@dataclass(frozen=True, slots=True)
class KernelEvidence:
    """``tunnels`` are the first segments that the routes of a VRF encapsulate to, by VRF, each
    with the number of these routes. ``unanswered`` are neighbors, by interface and address, whose
    link-layer address can't be resolved (NUD_FAILED). ``addresses`` are those of interfaces that
    are up: packets to others are not delivered. ``bgp_routes`` are those in the kernel, by VRF."""

    links: Mapping[str, LinkEvidence] = field(default_factory=dict)
    addresses: frozenset[IPv4Address | IPv6Address] = frozenset()
    tunnels: Mapping[str, Mapping[IPv6Address, int]] = field(default_factory=dict)
    reachability: Mapping[IPv6Address, Reachability] = field(default_factory=dict)
    unanswered: frozenset[tuple[str, IPv4Address | IPv6Address]] = frozenset()
    bgp_routes: Mapping[str, RouteCount] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """State of a measured path (``stamp.path_state``)."""

    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True, order=True)
class ReturnPath:
    """From a BGP neighbor to a locator of this router."""

    neighbor: IPv6Address
    locator: str


@dataclass(frozen=True, slots=True)
class Silence:
    """Of a neighbor that answered echoes: ``since`` in seconds of the monotonic clock; ``is_whole``
    when it answers none to a locator of this router either."""

    since: float
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it. ``not_installed`` are the objects that are not installed as declared,
    ``lost_return_paths`` are of neighbors that answer, but not to the locator, and
    ``silent_neighbors`` answered and do not any more. ``arrivals`` are those while any is."""

    bgp: BgpEvidence | None = None
    kernel: KernelEvidence | None = None
    not_installed: Mapping[ObjectRef, ObjectStatus] = field(default_factory=dict)
    paths: Mapping[str, PathEvidence] = field(default_factory=dict)
    lost_return_paths: frozenset[ReturnPath] = frozenset()
    silent_neighbors: Mapping[IPv6Address, Silence] = field(default_factory=dict)
    arrivals: Arrivals | None = None
