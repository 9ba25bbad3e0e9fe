"""Why packets to local SIDs are dropped. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.model.accounting import Family


class DropReason(StrEnum):
    """In the order of ``enum reason`` (srv6mgrd/drops/bpf/maps.h)."""

    NO_SRH = "no-srh"
    NO_SEGMENTS_LEFT = "no-segments-left"
    FLAVOR_MISSING = "flavor-missing"
    SRH_MALFORMED = "srh-malformed"
    HMAC = "hmac"
    SEGMENTS_LEFT = "segments-left"
    UPPER_LAYER = "upper-layer"
    INNER_TYPE = "inner-type"
    FRAGMENT = "fragment"
    VRF_GONE = "vrf-gone"
    NO_ROUTE = "no-route"
    POLICY = "policy"
    REVERSE_PATH = "reverse-path"
    NOT_FORWARDING = "not-forwarding"
    HOP_LIMIT = "hop-limit"
    TOO_BIG = "packet-too-big"
    TOO_BIG_SILENT = "packet-too-big-silent"
    LINK_DOWN = "link-down"
    NO_NEIGHBOR = "neighbor-unresolved"
    BOUNDARY = "boundary"
    FIREWALL = "firewall"
    QUEUE_FULL = "queue-full"
    OTHER = "other"


class Certainty(StrEnum):
    """Seen in the packets that were dropped, or inferred."""

    CERTAIN = "certain"
    LIKELY = "likely"


@dataclass(frozen=True, slots=True)
class Drop:
    """Packets to a SID that were dropped for a reason; ``last`` in nanoseconds since the epoch.
    ``vrf`` is the one that the SID delivers to."""

    sid: IPv6Network
    vrf: str | None
    reason: DropReason
    certainty: Certainty
    packets: int
    last: int


class How(StrEnum):
    """How a behavior goes on with a packet, in the order of ``enum how``."""

    NEXT_SEGMENT = "next-segment"
    TO_NEXT_HOP = "to-next-hop"
    IN_TABLE = "in-table"
    TO_INTERFACE = "to-interface"


@dataclass(frozen=True, slots=True)
class WatchedSid:
    """What a SID does, as far as it decides about packets, and the state of the node that it
    depends on. ``families`` is empty for one that does not decapsulate; ``csid`` are the octets of
    block and function of a compressed SID."""

    prefix: IPv6Network
    how: How
    families: tuple[Family, ...] = ()
    table: int = 0
    next_hop: IPv4Address | IPv6Address | None = None
    interface: int = 0
    mtu: int = 0
    psp: bool = False
    csid: tuple[int, int] | None = None
    vrf_gone: bool = False
    rp_filter: int = 0


@dataclass(frozen=True, slots=True)
class WatchedLink:
    """An interface that decides about packets: without a carrier, with ``seg6_require_hmac``, or
    outside of the SRv6 domain, so that the boundary's filter drops what comes in for a SID."""

    down: bool = False
    hmac: int = 0
    outside: bool = False
