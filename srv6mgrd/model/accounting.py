"""Accounting as ``srv6mgr-accounting`` declares it, and what it counted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address


class Direction(StrEnum):
    """Encapsulated by this router, or decapsulated by it."""

    SENT = "sent"
    RECEIVED = "received"


class Family(StrEnum):
    """Of the packet inside."""

    IPV4 = "ipv4"
    IPV6 = "ipv6"
    ETHERNET = "ethernet"


class Watch(StrEnum):
    """When packets to SIDs are looked at for the reason why they are dropped."""

    ON_ERRORS = "on-errors"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Accounting:
    """``/srv6/accounting``."""

    enabled: bool = False
    watch_drops: Watch = Watch.ON_ERRORS


@dataclass(frozen=True, slots=True)
class Count:
    """Packets, octets of the packets inside, and of the outer packets without their frames."""

    packets: int = 0
    inner_octets: int = 0
    outer_octets: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.packets + other.packets,
            self.inner_octets + other.inner_octets,
            self.outer_octets + other.outer_octets,
        )


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One row: ``vrf`` is ``leaking.DEFAULT_VRF`` for none of ours; ``remote`` is the remote SID of
    packets sent, and the outer source of packets received; ``segments`` are those before the remote
    SID, the first one first."""

    vrf: str
    family: Family
    remote: IPv6Address
    segments: tuple[IPv6Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Accounted:
    """All rows by direction; ``others`` counts what has no row. ``since`` is when all began to
    count from 0; nanoseconds since the epoch."""

    since: int = 0
    rows: Mapping[Direction, Mapping[Row, Count]] = field(default_factory=dict)
    others: Mapping[tuple[Direction, Family], Count] = field(default_factory=dict)
