"""Static routes that FRR would take and never use."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired, SegmentList, SteeredRoute
from srv6mgrd.model.names import of_ref
from srv6mgrd.model.parse import parse
from srv6mgrd.model.partition import partition
from srv6mgrd.model.references import of_path, static_route_ref
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from tests.builders import desired, vrf

AT = "/srv6mgr-srv6:srv6/vrfs/vrf[name='red']/srv6mgr-routing:static-routes"
CE = NextHop(1, ip_address("10.1.0.10"))
BLACKHOLE = NextHop(2, special=SpecialNextHop.BLACKHOLE)


def hop(address: str = "10.1.0.10", **more: Any) -> NextHop:
    return NextHop(1, ip_address(address), **more)


def having(*hops: NextHop, prefix: str = "10.9.0.0/24") -> Desired:
    state = desired(vrf("red", 10, "eth1"), vrf("blue", 20, "eth2"))
    route = StaticRoute("red", ip_network(prefix), hops)
    return replace(state, static_routes={route.name: route})


def steered() -> Desired:
    state = having(CE)
    path = SegmentList("PATH", (ip_address("fcbb:0:2::1"),))
    route = SteeredRoute("red", ip_network("10.9.0.0/24"), "PATH")
    return replace(state, segment_lists={"PATH": path}, routes={route.name: route})


@pytest.mark.parametrize(
    ("state", "words", "tag"),
    [
        (having(CE, prefix="224.0.0.0/4"), "224.0.0.0/4 of VRF red: multicast, link-local and"
         " loopback prefixes are not routed; route a unicast prefix", "route-prefix-reserved"),
        (steered(), "the prefix is steered into a segment list, too; keep the one or the other",
         "static-route-steered"),
        (having(NextHop(3)), "next hop 3 leads nowhere; add address, interface or"
         " special-next-hop", "next-hop-missing"),
        (having(CE, BLACKHOLE), "next hop 2 drops packets, and others of preference 1 forward them"
         " or drop them otherwise; give it a preference of its own", "next-hop-special"),
        (having(hop("fd00::1")), "next hop fd00::1 is no IPv4 address; name an IPv4 address, or an"
         " interface alone", "next-hop-family"),
        (having(hop("fe80::1"), prefix="fd09::/64"), "next hop fe80::1 is link-local and does not"
         " say on which link; add interface", "next-hop-interface-missing"),
        (having(hop("127.0.0.1")), "next hop 127.0.0.1 is loopback; name the address of a"
         " neighbor", "next-hop-reserved"),
        (having(hop(interface="eth2")), "interface eth2 is in VRF blue; name an interface of VRF"
         " red", "next-hop-interface"),
        (having(hop(interface="srv6mgr")), "interface srv6mgr carries the local SIDs; name an"
         " interface of VRF red", "next-hop-interface"),
    ],
)  # fmt: skip
def test_rejected(state: Desired, words: str, tag: str) -> None:
    with pytest.raises(RejectedError) as error:
        check(state)

    (found,) = error.value.rejections
    assert str(found).startswith("static route ")
    assert str(found).endswith(words)
    assert found.tag == tag
    assert found.path.startswith(f"{AT}/route[prefix='")


@pytest.mark.parametrize(
    "state",
    [
        having(CE, replace(BLACKHOLE, preference=254)),
        having(hop(interface="eth1", bfd=True)),
        having(hop("fe80::1", interface="eth1"), prefix="fd09::/64"),
        having(BLACKHOLE, prefix="::/0"),
        # Somebody else may put it into the VRF.
        having(hop(interface="eth9")),
    ],
)
def test_accepted(state: Desired) -> None:
    check(state)


def test_one_that_is_invalid_is_left_out_alone() -> None:
    good = StaticRoute("red", ip_network("10.8.0.0/24"), (CE,))
    state = having(hop("fd00::1"))
    state = replace(state, static_routes={**state.static_routes, good.name: good})

    def rejections(part: Desired) -> list[Any]:
        try:
            check(part)
        except RejectedError as error:
            return error.rejections
        return []

    found = partition(state, rejections)

    bad = static_route_ref(state.static_routes["red 10.9.0.0/24"])
    assert set(found.rejected) == {bad}
    assert set(found.valid.static_routes) == {good.name}
    assert found.whole(found.valid) == state
    assert of_ref(bad) == "static route 10.9.0.0/24 of VRF red"
    assert of_path(f"{AT}/route[prefix='10.9.0.0/24']/next-hop[index='1']") == bad


def test_parsed() -> None:
    hops = [
        {"index": 2, "special-next-hop": "blackhole", "preference": 254},
        {"index": 1, "address": "10.1.0.10", "interface": "eth1", "bfd": True},
    ]
    route = {"prefix": "10.9.0.7/24", "next-hop": hops, "tag": 7}
    entry = {
        "name": "red",
        "table-id": 10,
        "srv6mgr-routing:static-routes": {"route": [route]},
    }

    found = parse({"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [entry]}}}).static_routes

    assert found == {
        "red 10.9.0.0/24": StaticRoute(
            "red",
            ip_network("10.9.0.0/24"),
            (
                NextHop(1, ip_address("10.1.0.10"), "eth1", bfd=True),
                NextHop(2, special=SpecialNextHop.BLACKHOLE, preference=254),
            ),
            7,
        )
    }
