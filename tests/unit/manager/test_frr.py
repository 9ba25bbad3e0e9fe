"""What FRR advertises, and FRR that comes back."""

import asyncio

import pytest

from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from tests.unit.manager.world import (
    EXPORT,
    RED_BGP,
    in_virtual_time,
    running,
    tree,
)

MAIN = ObjectRef(Kind.LOCATOR, "MAIN")


def with_isis():
    """One SID, and IS-IS for its locator."""
    config = tree(1, export=False)
    config["srv6mgr-srv6:srv6"]["srv6mgr-isis:isis"] = {
        "area": "49.0001",
        "system-id": "0000.0000.0001",
        "locator": "MAIN",
        "interface": [{"name": "core"}],
    }
    return config


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
async def test_frr_is_asked_less_often_for_what_stays_pending(world):
    """A neighbor may be down for days, and 1,000 VRFs wait for it."""
    world.commit(tree(1))

    async with running(world.manager.watch_frr()):
        await asyncio.sleep(2)
        assert world.rounds >= 6
        await asyncio.sleep(60)
        before = world.rounds
        await asyncio.sleep(30)
        assert world.rounds - before <= 16
        world.advertised["red"] = (EXPORT, "")
        await asyncio.sleep(2.5)
        assert world.status(RED_BGP).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_sessions_are_watched_without_vrfs_and_no_longer_without_bgp(world):
    world.commit(tree(1, export=False))
    without = tree(1, export=False)
    del without["srv6mgr-srv6:srv6"]["srv6mgr-bgp:bgp"]
    async with running(world.manager.watch_frr()):
        await asyncio.sleep(21)
        before = world.rounds
        assert before >= 5
        world.commit(without)
        await asyncio.sleep(1)
        # Once more, so that nothing is left of what was said.
        assert world.rounds == before + 1
        await asyncio.sleep(60)
        assert world.rounds == before + 1


@in_virtual_time
async def test_after_a_restart_the_status_is_as_it_was_until_frr_was_asked(world):
    config = with_isis()
    config["srv6mgr-srv6:srv6"] |= {
        k: v for k, v in tree(1)["srv6mgr-srv6:srv6"].items() if k != "locators"
    }
    world.advertised["red"] = (EXPORT, "")
    world.reached[MAIN] = (None, "")
    world.commit(config)
    async with running(world.manager.watch_frr()):
        await asyncio.sleep(1)
    known = world.reader.objects()
    assert known[RED_BGP].status is known[MAIN].status is InstallStatus.INSTALLED

    world.restart()
    world.manager.commits.start()
    assert world.reader.objects() == known

    # It was not asked for nothing.
    world.advertised["red"] = (None, "no BGP neighbor is configured")
    async with running(world.manager.watch_frr()):
        await asyncio.sleep(1)
    assert world.status(RED_BGP).status is InstallStatus.PENDING


@in_virtual_time
async def test_an_export_that_the_start_repaired_is_not_advertised_yet(world):
    world.advertised["red"] = (EXPORT, "")
    world.commit(tree(1))
    async with running(world.manager.watch_frr()):
        await asyncio.sleep(1)
    world.restart()
    world.frr.restart()

    world.manager.commits.start()

    assert world.status(RED_BGP).status is InstallStatus.PENDING


@in_virtual_time
async def test_a_neighbor_in_the_vrf_that_is_down_is_reported_beside_what_is_advertised(world):
    world.commit(tree(1))

    async with running(world.manager.watch_frr()):
        world.advertised["red"] = (EXPORT, "10.1.0.10 is Active")
        await asyncio.sleep(6)

    found = world.status(RED_BGP)
    assert (found.status, found.reason) == (InstallStatus.INSTALLED, "10.1.0.10 is Active")
    assert found.detail == str(EXPORT)


@in_virtual_time
async def test_a_locator_is_installed_when_isis_has_carried_it(world):
    world.commit(with_isis())
    assert world.status(MAIN).reason == "FRR was not asked yet"

    async with running(world.manager.watch_frr()):
        world.reached[MAIN] = (None, "no IS-IS neighbor at core")
        await asyncio.sleep(1)
        found = world.status(MAIN)
        assert (found.status, found.reason) == (InstallStatus.PENDING, "no IS-IS neighbor at core")
        world.reached[MAIN] = (None, "")
        await asyncio.sleep(1)

    assert world.status(MAIN).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_isis_without_its_daemon_is_rejected_for_its_locator(world):
    world.frr.reject["router isis srv6mgr"] = "isisd can't be reached"
    with pytest.raises(RejectedError, match="isisd can't be reached"):
        world.commit(with_isis())

    assert not any("isis" in key for key in world.frr.contexts)


@in_virtual_time
async def test_what_frr_says_in_the_middle_of_a_commit_does_no_harm(world):
    world.commit(tree(1, export=False))

    async with running(world.manager.watch_frr()):
        world.manager.commits.change(tree(1))
        await asyncio.sleep(6)
        world.manager.commits.stored()
        await asyncio.sleep(6)

    assert world.status(RED_BGP).status is InstallStatus.PENDING


@in_virtual_time
async def test_frr_that_comes_back_gets_its_part(world):
    world.frr.unreachable = "no such file"
    world.commit(tree(1))
    assert "FRR can't be reached" in world.status(RED_BGP).reason

    async with running(
        world.manager.run(), world.manager.compare_every(30), world.manager.watch_frr()
    ):
        world.frr.unreachable = ""
        world.advertised["red"] = (EXPORT, "")
        await asyncio.sleep(60)

    assert world.frr.contexts
    assert world.status(RED_BGP).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_what_frr_no_longer_has_in_place_is_compared_at_once(world):
    """No event of the kernel reports lines that somebody removes from FRR."""
    world.advertised["red"] = (EXPORT, "")
    world.commit(tree(1))
    async with running(world.manager.run(), world.manager.watch_frr()):
        await asyncio.sleep(10)
        contexts = dict(world.frr.contexts)
        world.frr.contexts.clear()
        world.advertised["red"] = (None, "bgpd has no SID yet")
        await asyncio.sleep(6)

    assert world.frr.contexts.keys() == contexts.keys()


@in_virtual_time
async def test_static_routes_that_do_not_forward_as_declared_are_named(world):
    config = tree(1, export=False)
    (red,) = config["srv6mgr-srv6:srv6"]["vrfs"]["vrf"]
    prefixes = ("10.9.0.0/24", "10.9.1.0/24", "10.9.2.0/24")
    hop = {"index": 1, "special-next-hop": "blackhole"}
    routes = [{"prefix": prefix, "next-hop": [hop]} for prefix in prefixes]
    red["srv6mgr-routing:static-routes"] = {"route": routes}
    refs = [ObjectRef(Kind.STATIC_ROUTE, f"red {prefix}") for prefix in prefixes]
    world.reached |= {refs[0]: (True, ""), refs[1]: (True, "one is idle"), refs[2]: (False, "no")}
    world.commit(config)

    async with running(world.manager.watch_frr()):
        await asyncio.sleep(1)

    assert world.manager.idle_static_routes() == [ref.name for ref in refs[1:]]
