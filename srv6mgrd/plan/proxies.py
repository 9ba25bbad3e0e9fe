"""Service proxies as objects: what the programs know of each, where they hang, and the route that
decapsulates what they leave to the kernel. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from srv6mgrd.kinds.proxy.object import (
    BACK_FUNCTION,
    TOWARD_AGAIN,
    TOWARD_FUNCTION,
    TOWARD_LOCAL,
    ProxyEntry,
    ProxyHook,
)
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.desired import Desired, Proxy, Sid
from srv6mgrd.model.reserved import SID_DEVICE
from srv6mgrd.plan.underlay import underlay

# seg6local behaviors that hand over what is inside: super-packets, which the kernel itself takes
# apart best. One that meets a packet with segments left, as after a hook was lost, drops it.
_DECAPSULATE = {
    "ipv4": Behavior.END_DX4,
    "ipv6": Behavior.END_DX6,
    "ethernet": Behavior.END_DX2,
}


@dataclass(frozen=True, slots=True)
class Declared:
    """A SID and the proxy that it is."""

    sid: Sid
    proxy: Proxy

    @property
    def interfaces(self) -> tuple[str, ...]:
        if self.proxy.interface == self.proxy.return_interface:
            return (self.proxy.interface,)
        return self.proxy.interface, self.proxy.return_interface


def declared(desired: Desired) -> list[Declared]:
    """Those with a function behind them; others are rejected."""
    return [Declared(sid, sid.proxy) for sid in desired.sids.values() if sid.proxy is not None]


def entry(sid: Sid, proxy: Proxy, segments: tuple[IPv6Address, ...]) -> ProxyEntry:
    """``segments`` are those that End.AS restores."""
    restores = sid.behavior is not Behavior.END_AM
    return ProxyEntry(
        prefix=sid.prefix,
        behavior=sid.behavior,
        inner_type=proxy.inner_type,
        interface=proxy.interface,
        return_interface=proxy.return_interface,
        next_hop=proxy.next_hop,
        source=proxy.source,
        segments=segments,
        age=proxy.age or 0,
        decrement_hop_limit=proxy.decrement_hop_limit,
        passes=tuple(sorted(proxy.passes)) if restores else (),
        per_flow=proxy.per_flow,
    )


def route(sid: Sid, proxy: Proxy, next_hop: IPv4Address | IPv6Address | None) -> SidRoute:
    """``next_hop`` as a route of ours leads to it."""
    frames = proxy.inner_type == "ethernet"
    return SidRoute(
        prefix=sid.prefix,
        action=_DECAPSULATE[proxy.inner_type],
        table=SID_TABLE,
        # A proxy counts by itself, whichever way its packets go.
        counters=False,
        next_hop=next_hop,
        interface=proxy.interface if frames else None,
    )


def back(proxy: Proxy) -> ProxyHook:
    return ProxyHook(proxy.return_interface, BACK_FUNCTION)


def arrivals(desired: Desired, receivers: Collection[str]) -> list[ProxyHook]:
    """Hooks on all that SRv6 packets come in on: interfaces inside of the domain, but for those of
    functions; and the SID device, for what the node itself sends. The hook comes before the filter
    at the boundary, so a customer's interface must have none (RFC 8754 section 5.1)."""
    behind = {name for d in declared(desired) for name in d.interfaces}
    names = underlay(desired, receivers) - behind
    return [
        ProxyHook(SID_DEVICE, TOWARD_AGAIN),
        ProxyHook(SID_DEVICE, TOWARD_LOCAL),
        *(ProxyHook(name, TOWARD_FUNCTION) for name in sorted(names)),
    ]
