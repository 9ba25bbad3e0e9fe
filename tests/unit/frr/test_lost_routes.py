"""Lines of mgmtd that staticd has lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from srv6mgrd.frr.blocks import MGMTD
from srv6mgrd.frr.lost_routes import LostRoutes, held
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.static_routes import NextHop, SpecialNextHop, StaticRoute
from tests.unit.manager.world import VirtualTime, running

BLACKHOLE = NextHop(1, special=SpecialNextHop.BLACKHOLE)
CE = NextHop(1, ip_address("10.1.0.10"))
ROUTES = (
    StaticRoute("red", ip_network("10.9.0.0/24"), (BLACKHOLE,)),
    StaticRoute("red", ip_network("10.9.1.0/24"), (CE, replace(BLACKHOLE, preference=254)), 7),
    StaticRoute("red", ip_network("fd09::/64"), (NextHop(1, ip_address("fe80::1"), "eth1"),)),
)
DESIRED = Desired(static_routes={r.name: r for r in ROUTES})
LINES = (
    "ip route 10.9.0.0/24 blackhole",
    "ip route 10.9.1.0/24 10.1.0.10 tag 7",
    "ip route 10.9.1.0/24 blackhole tag 7 254",
    "ipv6 route fd09::/64 fe80::1 eth1",
)


def path(distance: int, tag: int | None = None, **hop: str) -> dict[str, Any]:
    """As staticd 10.3 prints it."""
    shown = {"vrf": "red", "gateway": "", "interface": "(null)", **hop}
    tagged = {} if tag is None else {"tag": tag}
    return {
        "table-id": 0, "distance": distance, **tagged, "frr-nexthops": {"nexthop": [shown]},
    }  # fmt: skip


PATHS = {
    "10.9.0.0/24": [path(1, **{"nh-type": "blackhole", "bh-type": "unspec"})],
    "10.9.1.0/24": [
        path(1, 7, **{"nh-type": "ip4", "gateway": "10.1.0.10"}),
        path(254, 7, **{"nh-type": "blackhole", "bh-type": "unspec"}),
    ],
    "fd09::/64": [path(1, **{"nh-type": "ip6-ifindex", "gateway": "fe80::1", "interface": "eth1"})],
}


def shown(paths: dict[str, list[dict[str, Any]]]) -> str:
    routes = [{"prefix": prefix, "path-list": found} for prefix, found in paths.items()]
    protocol = {"vrf": "red", "frr-staticd:staticd": {"route-list": routes}}
    protocols = {"control-plane-protocol": [protocol]}
    return json.dumps({"frr-routing:routing": {"control-plane-protocols": protocols}})


class Frr:
    def __init__(self) -> None:
        self.lines = list(LINES)
        self.paths = dict(PATHS)
        self.withdrawn: list[str] = []
        self.silent = False
        self.asked = 0

    def show(self, daemon: str, command: str) -> str:
        self.asked += 1
        if self.silent:
            raise VtyError(110, "silent")
        if daemon == MGMTD:
            return "\n".join(["vrf red", *(f" {line}" for line in self.lines), "exit-vrf"])
        assert command == "show configuration running json"
        return shown(self.paths)

    def configure(self, daemon: str, lines: Sequence[str]) -> None:
        assert daemon == MGMTD
        self.withdrawn += lines


class World:
    def __init__(self) -> None:
        self.frr = Frr()
        self.idle = [r.name for r in ROUTES]
        self.compares = 0
        self.lost = LostRoutes(self.frr, lambda: DESIRED, lambda: self.idle, self.compare)

    def compare(self) -> None:
        self.compares += 1

    def look(self) -> bool:
        return self.lost.look(self.idle)


def test_what_staticd_has_is_not_lost() -> None:
    world = World()
    assert [world.look(), world.look()] == [False, False]
    assert world.frr.withdrawn == []


def test_what_is_lost_twice_is_removed_from_mgmtd() -> None:
    world = World()
    del world.frr.paths["10.9.0.0/24"]
    world.frr.paths["10.9.1.0/24"] = PATHS["10.9.1.0/24"][:1]

    assert [world.look(), world.look()] == [False, True]

    assert world.frr.withdrawn == [
        "no ip route 10.9.0.0/24 blackhole vrf red",
        "no ip route 10.9.1.0/24 blackhole tag 7 254 vrf red",
    ]


def test_what_comes_in_between_is_not_removed() -> None:
    world = World()
    paths, world.frr.paths = world.frr.paths, {}
    assert not world.look()
    world.frr.paths = paths
    assert not world.look()
    assert world.frr.withdrawn == []


def test_what_mgmtd_lacks_is_for_a_compare() -> None:
    world = World()
    world.frr.lines.remove("ip route 10.9.0.0/24 blackhole")
    del world.frr.paths["10.9.0.0/24"]
    assert world.look()
    assert world.frr.withdrawn == []


def test_staticd_without_routes_holds_none() -> None:
    assert held("{}") == {}


@pytest.mark.parametrize("silent", [False, True])
def test_it_looks_while_a_route_is_not_in_place(silent: bool) -> None:
    async def case() -> None:
        world = World()
        world.frr.silent = silent
        async with running(world.lost.run()):
            await asyncio.sleep(300)
            assert world.compares == 0
            world.frr.silent = False
            world.frr.paths = {}
            await asyncio.sleep(125)
        assert world.compares
        assert set(world.frr.withdrawn) == {f"no {line} vrf red" for line in LINES}

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(case())


def test_it_asks_nothing_while_all_are_in_place() -> None:
    async def case() -> None:
        world = World()
        world.idle = []
        async with running(world.lost.run()):
            await asyncio.sleep(300)
        assert world.frr.asked == 0

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(case())
