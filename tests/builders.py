"""Declarations and observations for tests, in as few words as a test needs."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from srv6mgrd.kinds.object import Object
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.bgp import Bgp, Neighbor, VrfBgp
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.plan.observed import ObservedObject

# Bound to a VRF device in the kernel (``vrftable``).
DECAPSULATE_TO_VRF = (Behavior.END_DT4, Behavior.END_DT6, Behavior.END_DT46)


def net(text: str) -> IPv6Network:
    return IPv6Network(text)


def locator(name: str = "MAIN", prefix: str = "fcbb:0:1::/48", **lengths: int) -> Locator:
    return Locator(name, net(prefix), **lengths)


def vrf(name: str, table: int, *interfaces: str, bgp: VrfBgp | None = None) -> Vrf:
    return Vrf(name, table, tuple(sorted(interfaces)), bgp)


def sid(
    prefix: str,
    behavior: Behavior = Behavior.END,
    vrf: str | None = None,
    locator: str = "MAIN",
) -> Sid:
    return Sid(net(prefix), locator, behavior, vrf)


def dt46(prefix: str, vrf: str, locator: str = "MAIN") -> Sid:
    return sid(prefix, Behavior.END_DT46, vrf, locator)


def vpn(rd: str = "65000:10", export_sid: str | None = None) -> VrfBgp:
    return VrfBgp(rd, (rd,), (rd,), net(export_sid) if export_sid else None)


def speaker(*neighbors: str) -> Bgp:
    return Bgp(65000, IPv4Address("10.0.0.1"), tuple(Neighbor(n, 65000) for n in neighbors))


def desired(*parts: Locator | Vrf | Sid | Bgp, source: str | None = None) -> Desired:
    """A desired state of these objects."""
    return Desired(
        encapsulation_source=IPv6Address(source) if source else None,
        locators={p.name: p for p in parts if isinstance(p, Locator)},
        vrfs={p.name: p for p in parts if isinstance(p, Vrf)},
        sids={p.prefix: p for p in parts if isinstance(p, Sid)},
        bgp=next((p for p in parts if isinstance(p, Bgp)), None),
    )


def small_vpn(*interfaces: str) -> Desired:
    """VRF red on table 10 with an exported End.DT46, and an End."""
    return desired(
        locator(),
        vrf("red", 10, *interfaces, bgp=vpn(export_sid="fcbb:0:1:64::/64")),
        dt46("fcbb:0:1:64::/64", "red"),
        sid("fcbb:0:1:1::/64"),
        speaker("fcbb:0:2::1"),
        source="fcbb:0:1::1",
    )


def by_key(objects: Iterable[Object]) -> dict[str, Object]:
    return {obj.key: obj for obj in objects}


def seen(*objects: Object, ours: bool = True) -> dict[str, ObservedObject]:
    """Installed objects, with our mark or without."""
    return {obj.key: ObservedObject(obj, ours) for obj in objects}
