"""Loops between bgpd and zebra over a SID: found by their rate, ended once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from ipaddress import IPv6Address, IPv6Network

from srv6mgrd.frr.sid_loop import SidLoops
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.model.bgp import VrfBgp
from srv6mgrd.model.desired import Desired, Vrf

RED, BLUE = IPv6Network("fcbb:0:1:64::/64"), IPv6Network("fcbb:0:1:c8::/64")
SIDS = {"red": RED, "blue": BLUE}
DESIRED = Desired(
    vrfs={
        name: Vrf(name, table, bgp=VrfBgp(f"65000:{table}", (), (), SIDS[name]))
        for name, table in (("red", 10), ("blue", 20))
    }
)


class Frr:
    def __init__(self, error: VtyError | None = None) -> None:
        self.withdrawn: list[tuple[str, ...]] = []
        self.error = error

    def withdraw_sids(self, vrfs: Collection[str]) -> None:
        if self.error is not None:
            raise self.error
        self.withdrawn.append(tuple(vrfs))


class World:
    def __init__(self, frr: Frr | None = None) -> None:
        self.now = 0.0
        self.frr = frr or Frr()
        self.compares = 0
        self.loops = SidLoops(
            self.frr, lambda: DESIRED, self.compare, clock=lambda: self.now, drain=0
        )

    def compare(self) -> None:
        self.compares += 1

    def remove(self, address: IPv6Address, times: int, every: float) -> list[str]:
        found: list[str] = []
        for _ in range(times):
            self.now += every
            found += self.loops.looping([address])
        return found


def test_ten_removals_within_five_seconds_are_a_loop() -> None:
    world = World()
    assert world.remove(RED[0], 9, 0.05) == []
    assert world.remove(RED[0], 1, 0.05) == ["red"]
    # It is counted again from there.
    assert world.remove(RED[0], 9, 0.05) == []
    assert world.remove(RED[0], 1, 0.05) == ["red"]


def test_removals_of_commits_are_none() -> None:
    world = World()
    assert world.remove(RED[0], 100, 0.6) == []


def test_each_vrf_counts_for_itself() -> None:
    world = World()
    for _ in range(9):
        world.now += 0.01
        assert world.loops.looping([RED[0], BLUE[0]]) == {}
    assert world.loops.looping([BLUE[0]]) == {"blue": BLUE[0]}


def test_host_routes_that_are_no_sid_of_a_vrf_are_passed_over() -> None:
    world = World()
    assert world.remove(IPv6Address("2001:db8::1"), 100, 0.01) == []


def test_the_line_is_removed_and_a_compare_asked_for() -> None:
    world = World()

    async def removed() -> AsyncIterator[list[IPv6Address]]:
        for _ in range(12):
            yield [RED[0]]

    asyncio.run(world.loops.run(removed()))
    assert world.frr.withdrawn == [("red",)]
    assert world.compares == 1


def test_a_bgpd_that_is_out_of_reach_is_tried_again() -> None:
    world = World(Frr(VtyError(111, "bgpd can't be reached")))

    async def removed() -> AsyncIterator[list[IPv6Address]]:
        for number in range(20):
            if number == 10:
                world.frr.error = None
            yield [RED[0]]

    asyncio.run(world.loops.run(removed()))
    assert world.frr.withdrawn == [("red",)]
    assert world.compares == 1
