"""What FRR advertises, and FRR that comes back."""

import asyncio

from srv6mgrd.counters.status import InstallStatus
from tests.unit.manager.world import (
    EXPORT,
    RED_BGP,
    in_virtual_time,
    running,
    tree,
)


@in_virtual_time
async def test_an_export_is_installed_when_bgp_advertises_its_sid(world):
    world.commit(tree(1))
    assert world.status(RED_BGP).status is InstallStatus.PENDING

    async with running(world.manager.watch_frr()):
        await asyncio.sleep(1)
        assert world.status(RED_BGP).reason == "bgpd has no SID yet"
        world.advertised["red"] = (EXPORT, "")
        await asyncio.sleep(1)

    found = world.status(RED_BGP)
    assert (found.status, found.detail) == (InstallStatus.INSTALLED, str(EXPORT))


@in_virtual_time
async def test_a_neighbor_in_the_vrf_that_is_down_is_told_beside_what_is_advertised(world):
    world.commit(tree(1))

    async with running(world.manager.watch_frr()):
        world.advertised["red"] = (EXPORT, "10.1.0.10 is Active")
        await asyncio.sleep(6)

    found = world.status(RED_BGP)
    assert (found.status, found.reason) == (InstallStatus.INSTALLED, "10.1.0.10 is Active")
    assert found.detail == str(EXPORT)


@in_virtual_time
async def test_what_frr_says_in_the_middle_of_a_commit_does_no_harm(world):
    world.commit(tree(1, export=False))

    async with running(world.manager.watch_frr()):
        world.manager.change(tree(1))
        await asyncio.sleep(6)
        world.manager.stored()
        await asyncio.sleep(6)

    assert world.status(RED_BGP).status is InstallStatus.PENDING


@in_virtual_time
async def test_frr_that_comes_back_gets_its_part(world):
    world.frr.unreachable = "no such file"
    world.commit(tree(1))
    assert "FRR can't be reached" in world.status(RED_BGP).reason

    async with running(
        world.manager.keep(), world.manager.compare_every(30), world.manager.watch_frr()
    ):
        world.frr.unreachable = ""
        world.advertised["red"] = (EXPORT, "")
        await asyncio.sleep(60)

    assert world.frr.contexts
    assert world.status(RED_BGP).status is InstallStatus.INSTALLED
