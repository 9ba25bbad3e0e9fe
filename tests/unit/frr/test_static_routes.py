"""Static routes in mgmtd's words, and what zebra and bfdd say of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from srv6mgrd.frr.blocks import BFDD, BGPD, MGMTD, STATICD, block, slot_of
from srv6mgrd.frr.daemons import absent
from srv6mgrd.frr.running import parse
from srv6mgrd.frr.script import additions, commands, removals
from srv6mgrd.frr.static_routes import apart, blocks, status
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired, Vrf
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.plan.actions import Create, Delete, Replace
from srv6mgrd.plan.target import target

CE = NextHop(1, ip_address("10.1.0.10"))
BLACKHOLE = NextHop(2, special=SpecialNextHop.BLACKHOLE, preference=254)
RED = ObjectRef(Kind.STATIC_ROUTE, "red 10.9.0.0/24")
RESOLUTION = ("no ip nht resolve-via-default", "no ipv6 nht resolve-via-default")


def having(*hops: NextHop, prefix: str = "10.9.0.0/24", tag: int | None = None) -> Desired:
    route = StaticRoute("red", ip_network(prefix), hops, tag)
    return Desired(vrfs={"red": Vrf("red", 10)}, static_routes={route.name: route})


@pytest.mark.parametrize(
    ("hop", "tag", "line"),
    [
        (CE, None, "10.1.0.10"),
        (replace(CE, interface="eth1", preference=9, bfd=True), 7, "10.1.0.10 eth1 tag 7 9 bfd"),
        (NextHop(1, interface="eth1"), 7, "eth1 tag 7"),
        (BLACKHOLE, None, "blackhole 254"),
        (NextHop(1, special=SpecialNextHop.UNREACHABLE), None, "reject"),
    ],
)
def test_lines(hop: NextHop, tag: int | None, line: str) -> None:
    of_vrf, of_route = blocks(having(hop, tag=tag))

    assert (of_vrf.key, of_vrf.lines) == ("frr mgmtd vrf red", RESOLUTION)
    assert of_route.key == "frr mgmtd vrf red / ip route 10.9.0.0/24"
    assert of_route.lines == (f"ip route 10.9.0.0/24 {line}",)


def test_an_ipv6_prefix_is_written_as_the_c_library_does() -> None:
    hop = NextHop(1, ip_address("fd00::a"))

    _, found = blocks(having(hop, prefix="::ffff:c000:200/124"))

    assert found.lines == ("ipv6 route ::ffff:192.0.2.0/124 fd00::a",)


def test_a_next_hop_that_is_there_twice_is_one() -> None:
    _, found = blocks(having(CE, replace(CE, index=2)))

    assert len(found.lines) == 1


def test_each_route_of_a_vrf_is_a_block() -> None:
    shown = (
        "vrf red\n ip route 10.9.0.0/24 10.1.0.10\n ip route 10.9.0.0/24 blackhole 254\n"
        " ipv6 route fd09::/64 blackhole\nexit-vrf\n!\n"
        "vrf red\n no ip nht resolve-via-default\nexit-vrf\n"
    )

    found = apart(parse(MGMTD, shown).values())

    assert {key: b.lines for key, b in found.items()} == {
        "frr mgmtd vrf red": ("no ip nht resolve-via-default",),
        "frr mgmtd vrf red / ip route 10.9.0.0/24": (
            "ip route 10.9.0.0/24 10.1.0.10",
            "ip route 10.9.0.0/24 blackhole 254",
        ),
        "frr mgmtd vrf red / ipv6 route fd09::/64": ("ipv6 route fd09::/64 blackhole",),
    }


def test_the_profile_for_data_centers_resolves_by_no_default_by_itself() -> None:
    shown = "frr defaults datacenter\nvrf red\n ip nht resolve-via-default\nexit-vrf\n"

    assert [b.lines for b in parse(MGMTD, shown).values()] == [
        ("ip nht resolve-via-default", "no ipv6 nht resolve-via-default")
    ]


def test_a_route_is_written_with_its_vrf() -> None:
    of_vrf, of_route = blocks(having(CE, tag=7))
    _, tagged = blocks(having(CE, tag=8))

    sent = commands(additions([Create(of_vrf), Create(of_route)], {}))
    assert [c.text for c in sent] == [
        "vrf red",
        *RESOLUTION,
        "end",
        "configure terminal",
        "ip route 10.9.0.0/24 10.1.0.10 tag 7 vrf red",
    ]
    # Another tag takes the place of the one before, without a gap.
    assert removals([Replace(of_route, tagged)], {}) == []
    (gone,) = removals([Delete(of_route)], {})
    assert (gone.context, gone.line) == ((), "no ip route 10.9.0.0/24 10.1.0.10 tag 7 vrf red")


@pytest.mark.parametrize(
    ("line", "slot"),
    [
        ("ip route 10.9.0.0/24 10.1.0.10 tag 7 9 bfd", "ip route 10.9.0.0/24 10.1.0.10 9"),
        ("ip route 10.9.0.0/24 10.1.0.10 eth1", "ip route 10.9.0.0/24 10.1.0.10 eth1"),
        ("ip route 10.9.0.0/24 blackhole 254", "ip route 10.9.0.0/24 blackhole 254"),
        ("ipv6 route fd09::/64 fd00::a bfd", "ipv6 route fd09::/64 fd00::a"),
    ],
)
def test_what_tells_next_hops_apart(line: str, slot: str) -> None:
    assert slot_of(line) == slot


def test_the_route_that_a_block_serves() -> None:
    state = having(CE)

    serves = target(state, {}, blocks(state)).serves

    assert serves["frr mgmtd vrf red / ip route 10.9.0.0/24"] == [RED]
    assert serves["frr mgmtd vrf red"] == [RED]


def test_daemons_that_a_line_needs() -> None:
    _, plain = blocks(having(CE))
    _, tracked = blocks(having(replace(CE, bfd=True)))

    assert absent(Create(plain), {MGMTD, STATICD}.__contains__, atomic=True) is None
    assert absent(Create(plain), {MGMTD}.__contains__, atomic=True) == (
        "staticd does not run",
        "see that /etc/frr/daemons does not say staticd=no, and restart FRR",
    )
    assert absent(Create(tracked), {MGMTD, STATICD}.__contains__, atomic=True) == (
        "bfdd does not run, which BFD needs",
        "set bfdd=yes in /etc/frr/daemons and restart FRR",
    )
    assert absent(Create(tracked), {MGMTD, STATICD, BFDD}.__contains__, atomic=True) is None
    # Its own socket says so.
    assert absent(Create(plain), lambda _: False, atomic=True) is None
    assert (
        absent(Create(block(BGPD, ("router bgp 1",), ["x bfd"])), lambda _: False, atomic=True)
        is None
    )


def entry(distance: int, *hops: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    found = {"protocol": "static", "selected": True, "installed": True, **more}
    return {**found, "distance": distance, "nexthops": [{"active": True, **h} for h in hops]}


class Shown:
    """zebra with these entries for the prefix, and bfdd with the state of one session."""

    def __init__(self, *static: Mapping[str, Any], bfd: str = "", other: str = "") -> None:
        self.static, self.bfd, self.other = static, bfd, other
        self.away = ""

    def show(self, daemon: str, command: str) -> str:
        if self.away:
            raise VtyError(2, self.away)
        if daemon == BFDD:
            assert command == "show bfd vrf red peers brief json"
            if not self.bfd:
                raise VtyError(2, "bfdd can't be reached")
            return json.dumps([{"peer": "10.1.0.10", "status": self.bfd}])
        if command == "show ip route vrf red static json":
            return json.dumps({"10.9.0.0/24": self.static} if self.static else {})
        assert command == "show ip route vrf red 10.9.0.0/24 json"
        used = [{"protocol": self.other, "selected": True, "distance": 0}] if self.other else []
        return json.dumps({"10.9.0.0/24": [*self.static, *used]})


VIA_CE = {"ip": "10.1.0.10", "interfaceName": "eth1"}
NO_ROUTE = "next hop 10.1.0.10 is not used: VRF red has no route to it"


@pytest.mark.parametrize(
    ("hops", "shown", "verdict"),
    [
        ([CE], Shown(entry(1, VIA_CE)), (True, "")),
        ([replace(CE, interface="eth1")], Shown(entry(1, VIA_CE)), (True, "")),
        ([CE], Shown(), (False, NO_ROUTE)),
        ([CE], Shown(entry(1, {**VIA_CE, "active": False}, selected=False)),
         (False, "zebra could not install it; see its log")),
        ([CE, BLACKHOLE], Shown(entry(254, {"blackhole": True, "unreachable": True})),
         (True, NO_ROUTE)),
        ([CE], Shown(entry(1, VIA_CE, selected=False), other="connected"),
         (False, "a connected route to the prefix, of preference 0, is used instead")),
        ([replace(CE, bfd=True)], Shown(bfd="down"),
         (False, "next hop 10.1.0.10 is not used: its BFD session is down")),
        ([replace(CE, bfd=True)], Shown(),
         (False, "next hop 10.1.0.10 is not used: its BFD session is not kept, since bfdd does not"
                 " run")),
        ([replace(CE, bfd=True)], Shown(bfd="up"), (False, NO_ROUTE)),
        ([replace(CE, interface="eth2")], Shown(),
         (False, "next hop 10.1.0.10 on eth2 is not used: VRF red has no route to it")),
        ([NextHop(1, interface="eth2")], Shown(),
         (False, "interface eth2 is not used: it is down, or not in VRF red")),
        ([NextHop(1, special=SpecialNextHop.UNREACHABLE)], Shown(),
         (False, "next hop unreachable is not used yet")),
    ],
)  # fmt: skip
def test_status(hops: list[NextHop], shown: Shown, verdict: tuple[bool, str]) -> None:
    assert status(having(*hops), shown) == {RED: verdict}


def test_status_while_zebra_is_away() -> None:
    shown = Shown()
    shown.away = "zebra can't be reached"

    assert status(having(CE), shown) == {RED: (False, "zebra can't be reached")}
