"""State of a service proxy: its counters and the chains that it puts back on."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address


@dataclass(frozen=True, slots=True)
class ProxyCounts:
    """Counters of one proxy, in the order of proxy/bpf/maps.h; they start at 0 with it."""

    to_packets: int = 0
    to_octets: int = 0
    from_packets: int = 0
    from_octets: int = 0
    no_srh: int = 0
    no_segments_left: int = 0
    hop_limit: int = 0
    header_too_long: int = 0
    nothing_learned: int = 0
    not_for_proxy: int = 0
    too_big: int = 0
    extension_header_chain_too_long: int = 0
    fragment: int = 0
    # Packets that went on without the function while it did not work.
    bypassed: int = 0

    @property
    def errors(self) -> int:
        return (
            self.no_srh
            + self.no_segments_left
            + self.hop_limit
            + self.header_too_long
            + self.nothing_learned
            + self.not_for_proxy
            + self.too_big
            + self.extension_header_chain_too_long
            + self.fragment
        )


@dataclass(frozen=True, slots=True)
class FlowChain:
    """One of the chains of a proxy whose flows have one each; ``digest`` identifies it."""

    digest: int
    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    learned: int


@dataclass(frozen=True, slots=True)
class ProxyState:
    """Counters and what is put back on at present: ``source`` and ``segments``, the next one first;
    ``learned`` (ns since the epoch) is when, 0 if it was not learned. With per-flow these are
    ``flow_chains``. ``mtu`` of the function's link, 0 where it is not known."""

    counts: ProxyCounts
    source: IPv6Address | None = None
    segments: tuple[IPv6Address, ...] = ()
    learned: int = 0
    flow_chains: tuple[FlowChain, ...] = ()
    mtu: int = 0
