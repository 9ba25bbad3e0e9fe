"""What srv6mgrd puts into the kernel and into FRR, each as a frozen value.

Two objects with the same ``key`` are the same thing in two states; equal objects need no write.
``rank`` orders creation (removal runs backwards): what others stand on comes first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses
from typing import ClassVar, Literal

from srv6mgrd.model import checks
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.record import record
from srv6mgrd.model.status import ObjectRef
from srv6mgrd.plan.link_objects import LinkObject

# Our mark on routes and rules (rtm_protocol, FRA_PROTOCOL). Mnemonic: RFC 8986. Not in
# /etc/iproute2/rt_protos and not among FRR's numbers (zebra/rt_netlink.h).
ROUTE_PROTOCOL = 86
# Our mark on links (IFLA_IFALIAS).
LINK_ALIAS = "srv6mgr"
# The always-up device that every SID hangs on. Never `lo` (such SIDs are silently dead), never a
# device that may go down (its routes vanish with it).
SID_DEVICE = checks.SID_DEVICE
# Worse than any other route, so that it is only hit when nothing else matches
# (Documentation/networking/vrf.rst).
UNREACHABLE_METRIC = 4278198272
SID_METRIC = 1024
# linux/rtnetlink.h: RT_TABLE_MAIN
MAIN_TABLE = 254

# Our nftables table, of family ip6; its comment is LINK_ALIAS.
BOUNDARY_TABLE = "srv6mgr"

Family = Literal[4, 6]


@dataclass(frozen=True, slots=True)
class Sysctl:
    """A value under /proc/sys, named by its path below it. Set when needed, never set back."""

    rank: ClassVar[int] = 20
    path: str
    value: str

    @property
    def key(self) -> str:
        return f"sysctl {self.path}"


@dataclass(frozen=True, slots=True)
class DummyDevice:
    """An always-up dummy device of ours."""

    rank: ClassVar[int] = 0
    name: str

    @property
    def key(self) -> str:
        return f"link {self.name}"


@dataclass(frozen=True, slots=True)
class VrfDevice:
    """A VRF device. The ifindex is pinned: End.DT4/DT46 remember it (``__seg6_end_dt_vrf_build``),
    so a recreated VRF with the same index revives its SIDs."""

    rank: ClassVar[int] = 0
    name: str
    table: int
    ifindex: int
    up: bool = True

    @property
    def key(self) -> str:
        return f"link {self.name}"


@dataclass(frozen=True, slots=True)
class VrfPort:
    """An interface in a VRF."""

    rank: ClassVar[int] = 30
    interface: str
    vrf: str

    @property
    def key(self) -> str:
        return f"port {self.interface}"


@dataclass(frozen=True, slots=True)
class Rule:
    """An IPv6 rule that sends packets to a prefix (from ``source``, if given) into a table."""

    rank: ClassVar[int] = 60
    priority: int
    to: IPv6Network
    table: int
    source: IPv6Address | None = None

    @property
    def key(self) -> str:
        return f"rule {self.priority} to {self.to}"


@dataclass(frozen=True, slots=True)
class UnreachableDefault:
    """The default of a VRF: without it a lookup that fails there falls through to main."""

    rank: ClassVar[int] = 10
    family: Family
    table: int

    @property
    def key(self) -> str:
        return f"route{self.family} table {self.table} default"


@dataclass(frozen=True, slots=True)
class UnreachableSid:
    """A SID that a VRF exports, in the VRF's own table: unreachable, as all of the SRv6 domain is
    from there (RFC 8754 section 5.1), but a route. bgpd resolves the VPN route that it makes of an
    IPv6 route of a customer by the SID, looked up in the VRF (make_prefix in bgpd/bgp_nht.c), and
    holds it invalid where no route leads there."""

    rank: ClassVar[int] = 10
    prefix: IPv6Network
    table: int

    @property
    def key(self) -> str:
        return f"route6 table {self.table} {self.prefix} metric {UNREACHABLE_METRIC}"


@record
class SidRoute:
    """A seg6local route in our table (net/ipv6/seg6_local.c).

    ``vrf_table`` for End.DT* bound to a VRF, ``lookup_table`` for End.T and End.DT6 without one;
    ``interface`` is SEG6_LOCAL_OIF; ``segments`` those of End.B6.Encaps, the first one first;
    ``csid_lengths`` are block and node-function bits of NEXT-C-SID (SEG6_LOCAL_FLV_LCBLOCK_BITS,
    _LCNODE_FN_BITS).
    """

    rank: ClassVar[int] = 50
    prefix: IPv6Network
    action: Behavior
    table: int
    vrf_table: int | None = None
    device: str = SID_DEVICE
    metric: int = SID_METRIC
    counters: bool = True
    lookup_table: int | None = None
    next_hop: IPv4Address | IPv6Address | None = None
    interface: str | None = None
    segments: tuple[IPv6Address, ...] = ()
    bpf_program: str | None = None
    flavors: frozenset[Flavor] = frozenset()
    csid_lengths: tuple[int, int] | None = None
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        # Asked for a dozen times in a commit; one text for all who hold it, by the 100,000.
        if not self._key:
            key = sys.intern(f"route6 table {self.table} {self.prefix}")
            object.__setattr__(self, "_key", key)
        return self._key


@dataclass(frozen=True, slots=True)
class EncapRoute:
    """A route that encapsulates along a segment list (net/ipv6/seg6_iptunnel.c), IPv4 or IPv6.

    ``source`` is SEG6_IPTUNNEL_SRC, which kernels before 7.1 ignore. ``lookup_table`` is
    SEG6_IPTUNNEL_TABLE, where the outer header is looked up; kernels before 7.3 ignore it.
    """

    rank: ClassVar[int] = 55
    prefix: IPv4Network | IPv6Network
    table: int
    behavior: Headend
    segments: tuple[IPv6Address, ...]
    device: str = SID_DEVICE
    metric: int = SID_METRIC
    source: IPv6Address | None = None
    hop_limit: int | None = None
    lookup_table: int | None = None

    @property
    def key(self) -> str:
        return f"route{self.prefix.version} table {self.table} {self.prefix} metric {self.metric}"


@dataclass(frozen=True, slots=True)
class NextHopRoute:
    """A host route to the next hop of a cross-connect, through that next hop on an interface.

    Without it the kernel makes a route anew for each packet (ip6_pol_route: FLOWI_FLAG_KNOWN_NH
    and no gateway), and End.DX4 asks the link for the inner destination instead of the next hop
    (ip_route_input; a route without a gateway has none to ask for). It stands in the main table:
    seg6_lookup_any_nexthop and input_action_end_dx4_finish look up as for a packet that came in on
    the underlay, whose rules lead there. ``address`` is what the SID names; ``via`` the neighbour.
    """

    rank: ClassVar[int] = 45
    address: IPv4Address | IPv6Address
    device: str
    via: IPv4Address | IPv6Address
    table: int = MAIN_TABLE
    metric: int = SID_METRIC

    @property
    def prefix(self) -> IPv4Network | IPv6Network:
        if isinstance(self.address, IPv4Address):
            return IPv4Network(self.address)
        return IPv6Network(self.address)

    @property
    def key(self) -> str:
        return f"route{self.prefix.version} table {self.table} {self.prefix} metric {self.metric}"


# The programs of the proxies (srv6mgrd/proxy/bpf/proxy.bpf.c) by what they are for.
TOWARD_FUNCTION = "toward_function"
TOWARD_AGAIN = "toward_again"
TOWARD_LOCAL = "toward_local"
BACK_FUNCTION = "back_function"
# Where they are installed, and where they and their maps are pinned: our mark on them.
PROXY_OBJECT = "/usr/lib/srv6mgr/proxy.bpf.o"
PROXY_FOLDER = "/sys/fs/bpf/srv6mgr"
PROXY_PROGRAMS = (TOWARD_FUNCTION, TOWARD_AGAIN, TOWARD_LOCAL, BACK_FUNCTION)


@dataclass(frozen=True, slots=True)
class ProxyPrograms:
    """The eBPF programs of all proxies, loaded and pinned. ``intact`` False: some are missing, or
    of another version."""

    rank: ClassVar[int] = 35
    intact: bool = True

    @property
    def key(self) -> str:
        return "proxy programs"


@dataclass(frozen=True, slots=True)
class ProxyEntry:
    """What the programs know of one proxy: ``age`` in seconds; ``source`` and ``segments`` those
    that End.AS restores. ``current`` False: it does not fit the interfaces as they are now."""

    rank: ClassVar[int] = 48
    prefix: IPv6Network
    behavior: Behavior
    inner_type: str
    interface: str
    return_interface: str
    next_hop: IPv4Address | IPv6Address | None = None
    source: IPv6Address | None = None
    segments: tuple[IPv6Address, ...] = ()
    age: int = 0
    decrement_hop_limit: bool = True
    passes: tuple[str, ...] = ()
    per_flow: bool = False
    current: bool = True

    @property
    def key(self) -> str:
        return f"proxy {self.prefix}"


@dataclass(frozen=True, slots=True)
class ProxyHook:
    """Has one of the programs run on an interface. ``current`` False: the program is of another
    version."""

    rank: ClassVar[int] = 56
    interface: str
    program: str
    current: bool = True

    @property
    def key(self) -> str:
        return f"proxy hook {self.interface} {self.side}"

    @property
    def side(self) -> Literal["ingress", "egress"]:
        return "egress" if self.program == TOWARD_LOCAL else "ingress"


@dataclass(frozen=True, slots=True)
class EncapSource:
    """Source address of encapsulated packets: ``ip sr tunsrc`` (net/ipv6/seg6.c)."""

    rank: ClassVar[int] = 20
    address: IPv6Address

    @property
    def key(self) -> str:
        return "encap-source"


@dataclass(frozen=True, slots=True)
class Boundary:
    """The filter at the boundary of the SRv6 domain: what comes in on these interfaces, or if it is
    ``closed`` on any but these, reaches none of these SIDs, carries no SRH, and has none of these
    sources (RFC 8754 section 5.1).

    In the kernel's order: names and addresses sorted, prefixes merged; ``boundary`` makes it so.
    It stands before a VRF gets its ports and goes after them.
    """

    rank: ClassVar[int] = 5
    interfaces: tuple[str, ...]
    sids: tuple[IPv6Network, ...]
    sources: tuple[IPv6Address, ...]
    closed: bool = False
    key: ClassVar[str] = "boundary"

    @property
    def set_name(self) -> str:
        """Name of the set that holds the interfaces."""
        return "core" if self.closed else "customers"


def boundary(
    interfaces: Iterable[str],
    sids: Iterable[IPv6Network],
    sources: Iterable[IPv6Address],
    *,
    closed: bool = False,
) -> Boundary:
    return Boundary(
        tuple(sorted(set(interfaces))),
        tuple(collapse_addresses(sids)),
        tuple(sorted(set(sources))),
        closed,
    )


@dataclass(frozen=True, slots=True)
class UnknownBoundary:
    """A table in the place of ours with other chains, rules or sets. Only ever observed."""

    rank: ClassVar[int] = 5
    description: str
    key: ClassVar[str] = "boundary"


@dataclass(frozen=True, slots=True)
class UnknownLink:
    """A link in the place of one of ours that is something else. Only ever observed."""

    rank: ClassVar[int] = 0
    name: str
    description: str

    @property
    def key(self) -> str:
        return f"link {self.name}"


@dataclass(frozen=True, slots=True)
class UnknownRule:
    """A rule in the place of one of ours that has more or other selectors. Only ever observed.

    ``key`` is that of the Rule whose place it takes; a further rule with the same priority and
    prefix has its table or selectors behind it. ``source`` is whose packets it takes (None:
    anybody's), ``table`` where it leads them (0: nowhere).
    """

    rank: ClassVar[int] = 60
    key: str
    priority: int
    to: IPv6Network
    description: str
    source: IPv6Network | None = None
    table: int = 0


@dataclass(frozen=True, slots=True)
class UnknownRoute:
    """A route in the place of one of ours that has attributes we don't write. Only ever observed.

    ``key`` is that of the route whose place it takes; a further route to the same prefix, with
    another metric, has the metric behind it.
    """

    rank: ClassVar[int] = 50
    key: str
    family: Family
    table: int
    prefix: IPv4Network | IPv6Network
    metric: int
    description: str


@dataclass(frozen=True, slots=True)
class FrrBlock:
    """One configuration context of an FRR daemon and the lines of ours in it.

    ``context`` is the path of commands that enters it, outermost first, for example
    ``("router bgp 65000 vrf red", "address-family ipv4 unicast")``. ``lines`` are ours alone;
    other lines there are the operator's. ``order`` orders blocks: enclosing contexts first.
    ``part`` tells apart blocks of one context: the lines that begin with it.
    """

    daemon: str
    context: tuple[str, ...]
    lines: tuple[str, ...]
    rank: ClassVar[int] = 70
    order: int = 0
    # The declared objects that it is for, where its context does not name them.
    serves: tuple[ObjectRef, ...] = field(default=(), compare=False, repr=False)
    part: str = ""

    @property
    def key(self) -> str:
        return f"frr {self.daemon} {self.place}"

    @property
    def place(self) -> str:
        """Where its lines are, for people."""
        return " / ".join((*self.context, *filter(None, (self.part,))))

    def __repr__(self) -> str:
        """For logs and tracebacks."""
        lines = tuple(map(without_secret, self.lines))
        part = f", part={self.part!r}" if self.part else ""
        return f"FrrBlock({self.daemon!r}, {self.context!r}, {lines!r}, order={self.order}{part})"


def without_secret(line: str) -> str:
    """A line of FRR's configuration as it may be reported and logged."""
    return hide_secret(line, line)


# All that follows these words, be it a password of BGP or of IS-IS, or a key of OSPF or OSPFv3; it
# may name how it is used first.
_SECRET = re.compile(
    r"(?:(?:^|[ -])password|message-digest-key \d+|authentication key-id \d+)"
    r" (?P<all>(?:(?:md5|clear|hash-algo \S+ key) )?(?P<secret>\S+).*)"
)


def hide_secret(line: str, text: str) -> str:
    """A text about a line of FRR's configuration, which may repeat that line or its secret."""
    found = _SECRET.search(line)
    if found is None:
        return text
    text = text.replace(found[0], f"{found[0].removesuffix(found['all'])}...")
    return re.sub(rf"(?<!\w){re.escape(found['secret'])}(?!\w)", "...", text)


KernelObject = (
    Sysctl
    | DummyDevice
    | VrfDevice
    | VrfPort
    | Rule
    | UnreachableDefault
    | UnreachableSid
    | SidRoute
    | EncapRoute
    | NextHopRoute
    | EncapSource
    | Boundary
    | UnknownBoundary
    | ProxyPrograms
    | ProxyEntry
    | ProxyHook
    | LinkObject
    | UnknownLink
    | UnknownRule
    | UnknownRoute
)
Object = KernelObject | FrrBlock
