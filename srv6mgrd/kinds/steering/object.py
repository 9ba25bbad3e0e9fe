"""A route that steers packets into a segment list. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import ClassVar

from srv6mgrd.kinds.route import SID_METRIC, DeviceRoute, Place, in_table
from srv6mgrd.model.behavior import Headend
from srv6mgrd.model.reserved import MAIN_TABLE, SID_DEVICE

# As iproute2 calls them.
_MODES = {
    Headend.H_ENCAPS: "encap",
    Headend.H_ENCAPS_RED: "encap.red",
    Headend.H_ENCAPS_L2: "l2encap",
    Headend.H_ENCAPS_L2_RED: "l2encap.red",
    Headend.H_INSERT: "inline",
}


@dataclass(frozen=True, slots=True)
class EncapRoute(DeviceRoute):
    """A route that encapsulates along a segment list (net/ipv6/seg6_iptunnel.c), IPv4 or IPv6, or
    inserts it into IPv6 packets.

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
    def label(self) -> str:
        return f"route {self.prefix}{in_table(self.table)}"

    @property
    def place(self) -> Place:
        return self.table, self.metric, self.prefix

    @property
    def vrf_table(self) -> int | None:
        return self.table if self.table != MAIN_TABLE else None

    @property
    def options(self) -> str:
        segments = ",".join(map(str, self.segments))
        words = f" encap seg6 mode {_MODES[self.behavior]} segs {segments}"
        if self.source is not None:
            words += f" tunsrc {self.source}"
        if self.lookup_table is not None:
            words += f" lookup {self.lookup_table}"
        if self.hop_limit is not None:
            words += f" ttl {self.hop_limit}"
        return f"{words} dev {self.device}"
