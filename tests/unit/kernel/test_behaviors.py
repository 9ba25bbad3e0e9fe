"""Every behavior and headend as bytes, and back from bytes as the kernel dumps them."""

from __future__ import annotations

import sys
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network

import pytest

from srv6mgrd.kinds.kernel_kind import KernelKind
from srv6mgrd.kinds.marked_routes import MarkedRoutes
from srv6mgrd.kinds.next_hop import kernel as next_hop
from srv6mgrd.kinds.next_hop.object import NextHopRoute
from srv6mgrd.kinds.route import UnknownRoute
from srv6mgrd.kinds.sid import requests
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.sid.route_dump import make_template
from srv6mgrd.kinds.sid.sid_table import SidTable
from srv6mgrd.kinds.steering import kernel as steering
from srv6mgrd.kinds.steering.object import EncapRoute
from srv6mgrd.model.behavior import Behavior, Flavor, Headend
from srv6mgrd.netlink import routes, srh, wire
from srv6mgrd.plan.actions import Create
from srv6mgrd.plan.observed import ObservedObject
from tests.dumped import HOST, read

pytestmark = pytest.mark.skipif(sys.byteorder != "little", reason="golden bytes")

DEVICES = {5: "srv6mgr", 9: "eth9"}
A, B = IPv6Address("fc00:a::1"), IPv6Address("fc00:b::2")
A_HEX, B_HEX = "fc00000a000000000000000000000001", "fc00000b000000000000000000000002"
# Segments A, B: B is first, both left over, the first to go is the one at index 1.
SRH = f"00 04 04 01 01 00 0000 {B_HEX} {A_HEX}"
BOTH = frozenset(Flavor)
COUNTERS = "28000a800c00020000000000000000000c00030000000000000000000c0004000000000000000000"


def sid(action: Behavior, **more: object) -> SidRoute:
    plain = SidRoute(IPv6Network("fc00:1::1/128"), action, 8986)
    return replace(plain, **more)  # type: ignore[arg-type]


def flavored(action: Behavior, *flavors: Flavor, **more: object) -> SidRoute:
    return sid(action, flavors=frozenset(flavors), **more)


# The route, and its attributes behind SEG6_LOCAL_ACTION, but for the counters.
SIDS = [
    (sid(Behavior.END), 1, ""),
    (sid(Behavior.END_X, next_hop=A), 2, f"1400 0500 {A_HEX}"),
    (sid(Behavior.END_X, next_hop=A, interface="eth9"), 2, f"1400 0500 {A_HEX} 0800 0700 09000000"),
    (sid(Behavior.END_T, lookup_table=254), 3, "0800 0300 fe000000"),
    (sid(Behavior.END_DX2, interface="eth9"), 4, "0800 0700 09000000"),
    (sid(Behavior.END_DX6, next_hop=A), 5, f"1400 0500 {A_HEX}"),
    (sid(Behavior.END_DX4, next_hop=IPv4Address("192.0.2.9")), 6, "0800 0400 c0000209"),
    (sid(Behavior.END_DT6, lookup_table=254), 7, "0800 0300 fe000000"),
    (sid(Behavior.END_DT6, vrf_table=100), 7, "0800 0900 64000000"),
    (sid(Behavior.END_DT4, vrf_table=100), 8, "0800 0900 64000000"),
    (sid(Behavior.END_DT46, vrf_table=100), 16, "0800 0900 64000000"),
    (sid(Behavior.END_B6_ENCAPS, segments=(A, B)), 10, f"2c00 0200 {SRH}"),
    # Descriptor 3, "/p".
    (
        sid(Behavior.END_BPF, bpf_program="/p"),
        15,
        "1400 0880 0800 0100 03000000 0700 0200 2f700000",
    ),
]
FLAVORS = [
    (flavored(Behavior.END, Flavor.PSP), "0c00 0b80 0800 0100 02000000"),
    (
        flavored(Behavior.END, Flavor.NEXT_CSID, csid_lengths=(32, 16)),
        "1c00 0b80 0800 0100 10000000 0500 0200 20000000 0500 0300 10000000",
    ),
    (
        flavored(Behavior.END, *BOTH, csid_lengths=(48, 32)),
        "1c00 0b80 0800 0100 12000000 0500 0200 30000000 0500 0300 20000000",
    ),
]


def packed(route: SidRoute, flags: int = routes.CREATE) -> bytes:
    interface = 9 if route.interface else None
    return requests.put(route, flags, 5, interface, 3 if route.bpf_program else None)


def encap(message: bytes) -> bytes:
    return bytes(wire.attribute_map(message, wire.NLMSGHDR.size + wire.RTMSG.size)[wire.RTA_ENCAP])


@pytest.mark.parametrize(("route", "number", "golden"), SIDS)
def test_sid(route: SidRoute, number: int, golden: str) -> None:
    expected = bytes.fromhex(f"0800 0100 {number:02x}000000 {golden} {COUNTERS}")
    assert encap(packed(route)) == expected
    assert encap(packed(replace(route, counters=False))) == expected[: -len(COUNTERS) // 2]


@pytest.mark.parametrize(("route", "golden"), FLAVORS)
def test_flavors(route: SidRoute, golden: str) -> None:
    assert encap(packed(route)) == bytes.fromhex(f"0800 0100 01000000 {COUNTERS} {golden}")


ALL = [*(r for r, *_ in SIDS), *(r for r, _ in FLAVORS)]


def observed(*messages: bytes) -> dict[str, ObservedObject]:
    return SidTable().observed([b"".join(messages)], DEVICES)


@pytest.mark.parametrize("counters", [True, False])
def test_sids_read_back(counters: bool) -> None:
    sids = [
        replace(route, prefix=IPv6Network((i << 64, 128)), counters=counters)
        for i, route in enumerate(ALL * 3)
    ]
    table = SidTable()
    for _ in range(2):
        seen = table.observed([b"".join(map(packed, sids))], DEVICES)
        assert [seen[s.key] for s in sids] == [ObservedObject(s, ours=True) for s in sids]


@pytest.mark.parametrize("route", ALL)
def test_read_back_in_bulk(route: SidRoute) -> None:
    # What runs a program is walked one by one.
    assert (make_template(memoryview(packed(route))) is None) == (route.bpf_program is not None)


@pytest.mark.parametrize(
    ("route", "change"),
    [
        # Attributes that an action does not have, or lacks.
        (sid(Behavior.END_T, lookup_table=254), {"action": Behavior.END}),
        (sid(Behavior.END_DX6, next_hop=A), {"interface": "eth9"}),
        (sid(Behavior.END_X, next_hop=A), {"next_hop": None}),
        (sid(Behavior.END_DT4, vrf_table=100), {"lookup_table": 254}),
        (sid(Behavior.END_DX4, next_hop=IPv4Address("192.0.2.9")), {"next_hop": A}),
    ],
)
def test_what_is_not_modelled(route: SidRoute, change: dict[str, object]) -> None:
    other = replace(route, **change)  # type: ignore[arg-type]
    # Behind one that is modelled, so that its template could be taken for this one.
    first = replace(route, prefix=IPv6Network("fc00:1::2/128"))
    seen = observed(packed(first), packed(other))[other.key]
    assert isinstance(seen.object, UnknownRoute)
    assert "seg6local" in seen.object.description


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, 41), (3, 0), (5, 8), (6, 1)],
    ids=["next header", "segments left", "flags", "tag"],
)
def test_srh_with_more(at: int, value: int) -> None:
    header = bytearray(srh.pack((A, B)))
    assert header == bytes.fromhex(SRH)
    assert srh.unpack(header) == (A, B)
    header[at] = value
    assert srh.unpack(header) is None


@pytest.mark.parametrize("header", [b"", bytes(8), srh.pack((A,)) + bytes(8)])
def test_srh_of_nothing(header: bytes) -> None:
    assert srh.unpack(header) is None


def route(prefix: str, behavior: Headend, table: int = 254, **more: object) -> EncapRoute:
    plain = EncapRoute(ip_network(prefix), table, behavior, (A, B))
    return replace(plain, **more)  # type: ignore[arg-type]


def test_encap_route_ipv4() -> None:
    golden = bytes.fromhex(
        "88000000 1800 0106 00000000 00000000"  # RTM_NEWROUTE, REQUEST | CREATE | EXCL
        "02 18 00 00 00 56 fd 01 00000000"  # AF_INET, /24, protocol 86, link scope, RTN_UNICAST
        "0800 0100 c6336400"
        "0800 0f00 fe000000 0800 0600 00040000"  # RTA_TABLE, RTA_PRIORITY
        "0800 0400 05000000"  # RTA_OIF
        "0c00 0880 0800 0a00 2a000000"  # RTA_METRICS: RTAX_HOPLIMIT
        f"3400 1680 3000 0100 03000000 {SRH}"  # RTA_ENCAP: SEG6_IPTUN_MODE_ENCAP_RED
        "0600 1500 0500 0000"  # RTA_ENCAP_TYPE seg6
    )
    obj = route("198.51.100.0/24", Headend.H_ENCAPS_RED, hop_limit=42)
    made = steering.put(obj, routes.CREATE, 5)
    assert made[4:] == golden[4:]
    assert len(made) == int.from_bytes(made[:4], "little")


@pytest.mark.parametrize(
    ("behavior", "mode"),
    [
        (Headend.H_ENCAPS, 1),
        (Headend.H_ENCAPS_L2, 2),
        (Headend.H_ENCAPS_RED, 3),
        (Headend.H_ENCAPS_L2_RED, 4),
    ],
)
def test_encap_modes(behavior: Headend, mode: int) -> None:
    made = steering.put(route("::/0", behavior, source=A), routes.REPLACE, 5)
    golden = f"3000 0100 {mode:02x}000000 {SRH} 1400 0200 {A_HEX}"
    assert encap(made) == bytes.fromhex(golden)


def test_insert_has_room_for_the_destination() -> None:
    """In the place of the last segment (__seg6_do_srh_inline)."""
    made = steering.put(route("::/0", Headend.H_INSERT, segments=(A,)), routes.CREATE, 5)
    header = f"0004 0401 0100 0000 {bytes(16).hex()} {A_HEX}"
    assert encap(made) == bytes.fromhex(f"3000 0100 00000000 {header}")


def test_lookup_table() -> None:
    made = steering.put(route("::/0", Headend.H_ENCAPS, lookup_table=254), routes.CREATE, 5)
    assert encap(made) == bytes.fromhex(f"3000 0100 01000000 {SRH} 0800 0300 fe000000")


HEADENDS = [
    route("fc00:7::/64", Headend.H_ENCAPS),
    route("::/0", Headend.H_ENCAPS_RED, 100),
    route("0.0.0.0/0", Headend.H_ENCAPS_L2, 100, metric=7),
    route("198.51.100.0/24", Headend.H_ENCAPS_L2_RED, hop_limit=9, source=B),
    route("fc00:7::/64", Headend.H_ENCAPS, 100, lookup_table=254),
    route("fc00:7::/64", Headend.H_INSERT, metric=9),
    NextHopRoute(A, "eth9", A),
    NextHopRoute(IPv4Address("192.0.2.9"), "eth9", IPv4Address("192.0.2.1")),
]


def put(obj: EncapRoute | NextHopRoute) -> bytes:
    index = next(i for i, name in DEVICES.items() if name == obj.device)
    if isinstance(obj, NextHopRoute):
        return next_hop.put(obj, routes.CREATE, index)
    return steering.put(obj, routes.CREATE, index)


def reading() -> list[KernelKind]:
    """The kinds that read routes outside the SID table."""
    return [steering.SteeringRoutes(HOST), next_hop.NextHopRoutes(HOST), MarkedRoutes(HOST)]


def wrote(kinds: list[KernelKind], obj: EncapRoute | NextHopRoute) -> None:
    for kind in kinds:
        kind.wrote([Create(obj)], set())


def test_headends_read_back() -> None:
    table = reading()
    for _ in range(2):
        seen = read(table, [put(o) for o in HEADENDS], DEVICES)
        assert seen == [ObservedObject(o, ours=True) for o in HEADENDS]
    renamed = {5: "other", 9: "eth9"}
    (item, *_) = read(table, [put(HEADENDS[0])], renamed)
    assert isinstance(item.object, EncapRoute)
    assert item.object.device == "other"


def test_foreign_routes_are_not_ours() -> None:
    message = bytearray(put(HEADENDS[0]))
    message[wire.NLMSGHDR.size + 5] = 4
    assert read(reading(), [bytes(message)], DEVICES) == []


@pytest.mark.parametrize(
    "more",
    [
        wire.nla_u32(30, 7),  # RTA_NH_ID
        wire.nla(wire.RTA_GATEWAY, A.packed),
        wire.nested(wire.RTA_METRICS, wire.nla_u32(2, 1400)),
        wire.nla(wire.RTA_PREF, b"\1"),
        wire.nested(wire.RTA_ENCAP, wire.nla_u32(9, 1)),
    ],
    ids=["nexthop object", "gateway", "MTU", "preference", "other encapsulation"],
)
def test_encap_route_with_more(more: bytes) -> None:
    obj = HEADENDS[0]
    body = put(obj)[wire.NLMSGHDR.size :] + more
    message = wire.message(wire.RTM_NEWROUTE, 0, body)
    (item,) = read(reading(), [message], DEVICES)
    assert isinstance(item.object, UnknownRoute)
    assert item.object.key == obj.key


def with_unknown_encap(obj: EncapRoute) -> bytes:
    """As a kernel dumps it that adds an attribute to the encapsulation."""
    body = memoryview(put(obj))[wire.NLMSGHDR.size :]
    found = wire.attribute_map(body, wire.RTMSG.size)
    more = wire.nested(wire.RTA_ENCAP, bytes(found[wire.RTA_ENCAP]) + wire.nla_u32(9, 1))
    return wire.message(wire.RTM_NEWROUTE, 0, bytes(body) + more)


def test_an_unknown_attribute_of_the_encapsulation_differs_until_we_wrote_the_route() -> None:
    obj, other = (o for o in HEADENDS[:2] if isinstance(o, EncapRoute))
    table, dump = reading(), [with_unknown_encap(obj)]
    for _ in range(2):
        (item,) = read(table, dump, DEVICES)
        assert isinstance(item.object, UnknownRoute)

    wrote(table, obj)

    for _ in range(2):
        assert read(table, dump, DEVICES) == [ObservedObject(obj, ours=True)]
    # Nor does a route differ that is read for the first time.
    dump = [with_unknown_encap(other)]
    assert read(table, dump, DEVICES) == [ObservedObject(other, ours=True)]


def test_other_unknown_attributes_differ_whatever_we_wrote() -> None:
    obj = HEADENDS[0]
    body = with_unknown_encap(route("fc00:7::/64", Headend.H_ENCAPS))[wire.NLMSGHDR.size :]
    dump = [wire.message(wire.RTM_NEWROUTE, 0, body + wire.nla_u32(30, 7))]
    table = reading()
    wrote(table, obj)
    for _ in range(2):
        (item,) = read(table, dump, DEVICES)
        assert isinstance(item.object, UnknownRoute)


def test_foreign_routes_with_unknown_attributes_are_not_ours() -> None:
    obj = route("fc00:7::/64", Headend.H_ENCAPS)
    message = bytearray(with_unknown_encap(obj))
    message[wire.NLMSGHDR.size + 5] = 186
    table = reading()
    wrote(table, obj)
    assert read(table, [bytes(message)], DEVICES) == []


@pytest.mark.parametrize("obj", HEADENDS)
def test_deletion_names_place_and_protocol(obj: EncapRoute | NextHopRoute) -> None:
    message = routes.delete(*obj.place)
    _, length, _, _, _, protocol, scope, *_ = wire.RTMSG.unpack_from(message, wire.NLMSGHDR.size)
    assert (protocol, length) == (86, obj.prefix.prefixlen)
    # Any scope: RT_SCOPE_NOWHERE.
    assert scope == (255 if obj.prefix.version == 4 else 0)
    found = wire.attribute_map(message, wire.NLMSGHDR.size + wire.RTMSG.size)
    assert wire.u32(found[wire.RTA_TABLE]) == obj.table
    assert wire.u32(found[wire.RTA_PRIORITY]) == obj.metric
