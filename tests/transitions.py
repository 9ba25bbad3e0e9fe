"""Configurations that follow one another, so that every kind of object comes, changes and goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface

from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.model.desired import Desired, Locator, Proxy, SegmentList, Sid, SteeredRoute, Vrf
from srv6mgrd.model.interfaces import Interface, Vlan
from tests.builders import speaker, vpn

LOCATOR = Locator("MAIN", IPv6Network("fcbb:0:1::/48"), micro_segment=True)
SECOND = Locator("SECOND", IPv6Network("fcbb:0:7::/48"))
SOURCE = IPv6Address("fcbb:0:1::1")
NEXT6, NEXT4, NEAR = IPv6Address("fc00:5::5"), IPv4Address("192.0.2.9"), IPv6Address("fe80::5")
PATH = SegmentList("path", (IPv6Address("fcbb:0:2::1"), IPv6Address("fc00:b::2")))
DETOUR = SegmentList("path", (IPv6Address("fcbb:0:3::1"), IPv6Address("fc00:b::2")))
CSID = frozenset({Flavor.NEXT_CSID})
PLAIN = Sid(LOCATOR.prefix, LOCATOR.name, Behavior.END)
NOTHING = Desired()


def sid(function: int, behavior: Behavior = Behavior.END, **more: object) -> Sid:
    first = int(LOCATOR.prefix.network_address)
    prefix = IPv6Network((first + (function << 64), 64))
    return replace(PLAIN, prefix=prefix, behavior=behavior, **more)


# Every behavior of a SID that needs no VRF, then those that do.
GLOBAL = [
    sid(1, flavors=frozenset({Flavor.PSP})),
    sid(2, flavors=CSID),
    sid(3, counters=False),
    sid(4, Behavior.END_X, next_hop=NEXT6, interface="eth1"),
    sid(5, Behavior.END_X, next_hop=NEAR, interface="eth1"),
    sid(6, Behavior.END_X, next_hop=NEXT6, flavors=CSID),
    sid(7, Behavior.END_T),
    sid(8, Behavior.END_DX2, interface="eth1"),
    sid(9, Behavior.END_DX4, next_hop=NEXT4, interface="eth1"),
    sid(10, Behavior.END_DX6, next_hop=NEAR, interface="eth2"),
    sid(11, Behavior.END_DT6),
    sid(12, Behavior.END_B6_ENCAPS, segment_list="path"),
]
FUNCTION = Proxy("ipv6", "eth1", "eth1", next_hop=NEXT6)
DYNAMIC = sid(17, Behavior.END_AD, proxy=FUNCTION)
RESTORING = Proxy("ipv4", "eth2", "eth2", NEXT4, "path", IPv6Address("fcbb:0:1::1"))
STATIC = sid(18, Behavior.END_AS, proxy=RESTORING)
IN_RED = [
    sid(13, Behavior.END_T, vrf="red"),
    sid(14, Behavior.END_DT6, vrf="red"),
    sid(15, Behavior.END_DT4, vrf="red"),
    sid(16, Behavior.END_DT46, vrf="red"),
]
STEERED = [
    SteeredRoute(None, IPv4Network("198.51.100.0/24"), "path"),
    SteeredRoute(None, IPv6Network("fc00:9::/64"), "path", Headend.H_ENCAPS_RED, metric=7),
]
STEERED_IN_RED = [
    SteeredRoute("red", IPv4Network("0.0.0.0/0"), "path", Headend.H_ENCAPS_L2, NEXT6),
    SteeredRoute("red", IPv6Network("::/0"), "path", Headend.H_ENCAPS_L2_RED, None, "eth1"),
]


def made(*parts: Locator | Vrf | Sid | SegmentList | SteeredRoute, **more: object) -> Desired:
    state = Desired(
        encapsulation_source=SOURCE,
        locators={p.name: p for p in parts if isinstance(p, Locator)},
        vrfs={p.name: p for p in parts if isinstance(p, Vrf)},
        sids={p.prefix: p for p in parts if isinstance(p, Sid)},
        segment_lists={p.name: p for p in parts if isinstance(p, SegmentList)},
        routes={p.name: p for p in parts if isinstance(p, SteeredRoute)},
    )
    return replace(state, **more)


RED = Vrf("red", 100, ("eth2",))
EVERYTHING = made(
    LOCATOR,
    RED,
    *GLOBAL,
    *IN_RED,
    PATH,
    *STEERED,
    *STEERED_IN_RED,
    hop_limit=42,
    flow_label="compute",
)
WITHOUT_RED = replace(
    EVERYTHING,
    vrfs={},
    sids={s.prefix: s for s in GLOBAL},
    routes={r.name: r for r in STEERED},
)
RED_DT46, BLUE_DT46 = sid(1, Behavior.END_DT46, vrf="red"), sid(2, Behavior.END_DT46, vrf="blue")


def vrfs(red: Vrf, *others: Vrf, **more: object) -> Desired:
    """VRF red with its SID; blue, if it is there, with its own."""
    sids = [RED_DT46, *([BLUE_DT46] if any(v.name == "blue" for v in others) else [])]
    return made(LOCATOR, red, *others, *sids, **more)


def bgp(rd: str = "65000:100", *, export: bool = True, neighbor: str = "fcbb:0:9::1") -> Desired:
    red = replace(RED, bgp=vpn(rd, str(RED_DT46.prefix) if export else None))
    return vrfs(red, bgp=speaker(neighbor))


BLUE = Vrf("blue", 200, ("eth1",))


def interface(name: str, *addresses: str, **more: object) -> Interface:
    return replace(Interface(name, addresses=tuple(map(ip_interface, addresses))), **more)


def with_interfaces(state: Desired, *interfaces: Interface) -> Desired:
    return replace(state, interfaces={one.name: one for one in interfaces})


# A VLAN is a port of VRF red, another one is stacked on it.
INTERFACES = with_interfaces(
    vrfs(replace(RED, interfaces=("v",))),
    interface("eth1", "10.9.0.1/24", "fe80::1/64", mtu=9000),
    interface("v", "10.9.1.1/24", "fc00:a::1/64", "fe80::1/64", vlan=Vlan("eth1", 5)),
    interface("w", "10.9.2.1/24", vlan=Vlan("v", 6), mtu=1400),
    interface("lo1", "fc00:b::1/128", loopback=True),
    interface("red", "fc00:c::1/128"),
)
OTHER_INTERFACES = with_interfaces(
    vrfs(replace(RED, interfaces=("eth2",))),
    interface("eth1", "10.9.0.1/32", "fc00:9::1/64", mtu=1500),
    interface("v", "10.9.1.2/24", "fe80::1/64", vlan=Vlan("eth1", 7)),
    interface("w", "10.9.2.1/24", vlan=Vlan("v", 6), enabled=False),
)


@dataclass(frozen=True, slots=True)
class Transition:
    name: str
    old: Desired
    new: Desired

    def __str__(self) -> str:
        return self.name


_PAIRS = {
    "all from nothing": (NOTHING, EVERYTHING),
    "VRF with its users": (WITHOUT_RED, EVERYTHING),
    "VRF to another table": (
        EVERYTHING,
        replace(EVERYTHING, vrfs={"red": replace(RED, table=300)}),
    ),
    "VRF beside": (vrfs(RED), vrfs(RED, BLUE)),
    "VRFs swap tables": (
        vrfs(RED, BLUE),
        vrfs(replace(RED, table=200), replace(BLUE, table=100)),
    ),
    "VRF takes the table of one that goes": (
        vrfs(RED),
        made(LOCATOR, replace(BLUE, table=100), replace(RED_DT46, vrf="blue")),
    ),
    "ports swap VRFs": (
        vrfs(RED, BLUE),
        vrfs(replace(RED, interfaces=("eth1",)), replace(BLUE, interfaces=("eth2",))),
    ),
    "VRF without a source": (vrfs(RED), vrfs(RED, encapsulation_source=None)),
    "interface of a next hop leaves its VRF": (
        made(LOCATOR, RED, sid(1, Behavior.END_X, next_hop=NEXT6, interface="eth2")),
        made(
            LOCATOR,
            replace(RED, interfaces=()),
            sid(1, Behavior.END_X, next_hop=NEXT6, interface="eth2"),
        ),
    ),
    "behaviors change in place": (
        made(LOCATOR, RED, sid(1), sid(2, flavors=CSID), sid(3), PATH),
        made(
            LOCATOR,
            RED,
            sid(1, Behavior.END_DT46, vrf="red"),
            sid(2, flavors=frozenset({Flavor.PSP})),
            sid(3, counters=False),
            PATH,
        ),
    ),
    "locators": (
        made(LOCATOR, SECOND, sid(1)),
        made(LOCATOR, replace(SECOND, prefix=IPv6Network("fcbb:0:8::/48"))),
    ),
    "source, hop limit and flow label": (
        made(LOCATOR, PATH, *STEERED),
        made(
            LOCATOR,
            PATH,
            *STEERED,
            encapsulation_source=IPv6Address("fcbb:0:1::2"),
            hop_limit=9,
            flow_label="zero",
        ),
    ),
    "source goes": (made(LOCATOR), made(LOCATOR, encapsulation_source=None)),
    "segments of a list": (
        made(LOCATOR, PATH, sid(12, Behavior.END_B6_ENCAPS, segment_list="path"), *STEERED),
        made(LOCATOR, DETOUR, sid(12, Behavior.END_B6_ENCAPS, segment_list="path"), *STEERED),
    ),
    "steering": (
        made(LOCATOR, RED, PATH, *STEERED),
        made(
            LOCATOR,
            RED,
            PATH,
            replace(STEERED[0], vrf="red"),
            replace(STEERED[1], metric=8, behavior=Headend.H_ENCAPS),
        ),
    ),
    "next hops": (
        made(LOCATOR, sid(1, Behavior.END_X, next_hop=NEXT6, interface="eth1")),
        made(LOCATOR, sid(1, Behavior.END_X, next_hop=NEXT6, interface="eth2")),
    ),
    "service proxies from nothing": (NOTHING, made(LOCATOR, PATH, DYNAMIC, STATIC)),
    "service proxies change": (
        made(LOCATOR, PATH, DYNAMIC, STATIC),
        made(
            LOCATOR,
            PATH,
            replace(DYNAMIC, behavior=Behavior.END_AM, proxy=replace(FUNCTION, mtu=1400)),
            replace(STATIC, proxy=replace(RESTORING, source=IPv6Address("fcbb:0:1::2"))),
        ),
    ),
    "interfaces from nothing": (NOTHING, INTERFACES),
    "interfaces change": (INTERFACES, OTHER_INTERFACES),
    "FRR from nothing": (NOTHING, bgp()),
    "FRR's VPN changes": (bgp(), bgp("65000:101", export=False, neighbor="fcbb:0:9::2")),
    "FRR's part alone": (vrfs(RED), bgp()),
}

TRANSITIONS = [Transition(name, old, new) for name, (old, new) in _PAIRS.items()]
TRANSITIONS += [
    Transition(f"{t.name}, and back", t.new, t.old)
    for t in TRANSITIONS
    # Both ways are alike.
    if t.name not in ("VRF to another table", "VRFs swap tables", "ports swap VRFs")
]
