"""Whether neighbors have a way back to the locators."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from srv6mgrd.kernel.echoes import Probe
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Sid
from srv6mgrd.return_paths import ReturnPaths, free_address
from srv6mgrd.service_state.evidence import ReturnPath
from tests.unit.service_state.samples import DESIRED

NEAR, FAR = IPv6Address("2001:db8::2"), IPv6Address("2001:db8::3")
MAIN = DESIRED.locators["MAIN"]


class Core:
    """Neighbors that answer nothing, and those that have no route to the locator."""

    def __init__(self) -> None:
        self.silent: set[IPv6Address] = set()
        self.without_route: set[IPv6Address] = set()
        self.without_address: set[IPv6Address] = set()
        self.asked: list[Probe] = []

    def answered(self, probes: Sequence[Probe]) -> set[Probe]:
        self.asked = list(probes)
        return {
            probe
            for probe in probes
            if probe.neighbor not in self.silent
            and not (probe.locator and probe.neighbor in self.without_route)
            and (probe.locator or probe.neighbor not in self.without_address)
        }


@pytest.fixture
def core() -> Core:
    return Core()


@pytest.fixture
def paths(core: Core) -> ReturnPaths:
    return ReturnPaths(lambda: DESIRED, core)


async def ask(paths: ReturnPaths, times: int) -> frozenset[ReturnPath]:
    for _ in range(times):
        await paths.ask()
    return paths.lost


async def test_each_neighbor_is_asked_from_both_addresses(core: Core, paths: ReturnPaths) -> None:
    await paths.ask()
    own = IPv6Address("fcbb:0:1:ffff:ffff:ffff:ffff:ffff")
    assert core.asked == [
        Probe(neighbor, name, source)
        for neighbor in (NEAR, FAR)
        for name, source in (("", None), ("MAIN", own))
    ]


async def test_who_misses_three_times_in_a_row_has_no_way_back(
    core: Core, paths: ReturnPaths
) -> None:
    core.without_route = {FAR}
    assert await ask(paths, 2) == frozenset()
    core.without_route = set()
    assert await ask(paths, 1) == frozenset()
    core.without_route = {FAR}
    assert await ask(paths, 3) == {ReturnPath(FAR, "MAIN")}
    core.without_route = set()
    assert await ask(paths, 1) == frozenset()


async def test_who_answers_nothing_says_nothing(core: Core, paths: ReturnPaths) -> None:
    core.silent = {NEAR}
    assert await ask(paths, 5) == frozenset()
    core.silent, core.without_route = set(), {NEAR}
    assert await ask(paths, 3) == {ReturnPath(NEAR, "MAIN")}
    core.silent = {NEAR}
    assert await ask(paths, 5) == {ReturnPath(NEAR, "MAIN")}


async def test_who_answered_and_stops_is_silent(core: Core, paths: ReturnPaths) -> None:
    core.silent = {FAR}
    await ask(paths, 5)
    # It may answer nobody.
    assert not paths.silent
    core.silent = {NEAR}
    await ask(paths, 2)
    assert not paths.silent
    missed = time.monotonic()
    await ask(paths, 1)
    assert set(paths.silent) == {NEAR}
    # Since the first echo that it missed.
    assert paths.silent[NEAR].since < missed
    assert paths.silent[NEAR].is_whole
    since = paths.silent
    await ask(paths, 1)
    assert paths.silent is since
    core.silent = set()
    await ask(paths, 1)
    assert not paths.silent


async def test_who_answers_a_locator_alone_is_not_wholly_silent(
    core: Core, paths: ReturnPaths
) -> None:
    await ask(paths, 1)
    core.without_address = {NEAR}
    await ask(paths, 3)
    assert not paths.silent[NEAR].is_whole
    core.silent = {NEAR}
    await ask(paths, 1)
    assert paths.silent[NEAR].is_whole


async def test_who_is_asked_no_more_is_forgotten(core: Core) -> None:
    now = [DESIRED]
    paths = ReturnPaths(lambda: now[0], core)
    core.without_route = {NEAR, FAR}
    assert len(await ask(paths, 3)) == 2
    assert DESIRED.bgp is not None
    now[0] = replace(DESIRED, bgp=replace(DESIRED.bgp, neighbors=DESIRED.bgp.neighbors[:1]))
    assert await ask(paths, 1) == {ReturnPath(NEAR, "MAIN")}
    core.silent = {NEAR}
    await ask(paths, 3)
    assert set(paths.silent) == {NEAR}
    now[0] = Desired()
    assert await ask(paths, 1) == frozenset()
    assert not paths.silent


async def test_many_neighbors_are_asked_in_turn(core: Core) -> None:
    assert DESIRED.bgp is not None
    (one, *_) = DESIRED.bgp.neighbors
    many = tuple(replace(one, address=f"2001:db8::{n:x}") for n in range(1, 41))
    desired = replace(DESIRED, bgp=replace(DESIRED.bgp, neighbors=many))
    paths = ReturnPaths(lambda: desired, core)
    seen = set[IPv6Address]()
    for _ in range(3):
        await paths.ask()
        assert len(core.asked) == 32
        seen |= {probe.neighbor for probe in core.asked}
    assert len(seen) == 40


def test_the_address_of_a_locator_is_in_no_sid() -> None:
    taken = [
        IPv6Network("fcbb:0:1:ffff:ffff:ffff:ffff:ffff/128"),
        IPv6Network("fcbb:0:1:ffff:ffff:ffff:ffff:fff0/126"),
        IPv6Network("fcbb:0:1:ffff:ffff:ffff:ffff:fffc/127"),
        IPv6Network("fcbb:0:1:ffff:ffff:ffff:ffff:fffe/128"),
    ]
    sids = {prefix: Sid(prefix, "MAIN", Behavior.END) for prefix in taken}
    found = free_address(MAIN, replace(DESIRED, sids=sids))
    assert found == IPv6Address("fcbb:0:1:ffff:ffff:ffff:ffff:fffb")
