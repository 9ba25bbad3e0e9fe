"""The start: what is right is not written, what is missing removes nothing."""

import asyncio

import pytest

from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.plan.actions import Delete
from srv6mgrd.ports import AdapterError
from tests.fakes.kernel import Crash
from tests.unit.manager.world import (
    END,
    END_KEY,
    in_virtual_time,
    running,
    tree,
)


@in_virtual_time
async def test_a_restart_writes_nothing_and_keeps_the_statuses(world):
    world.commit(tree(1))
    writes, store = world.kernel.writes + world.frr.writes, world.reader.objects()
    world.restart()

    world.manager.commits.start()

    assert world.kernel.writes + world.frr.writes == writes
    assert world.reader.objects() == store


@in_virtual_time
async def test_a_restart_goes_outward_although_nothing_changed(world):
    world.commit(tree(1))
    world.restart()

    world.manager.commits.start()

    assert len(world.outward.published) == 1


@in_virtual_time
async def test_what_the_start_could_not_put_in_place_is_tried_again(world):
    world.running = tree(1)
    world.kernel.reject(lambda a: a.object.key == END_KEY)
    world.manager.commits.start()
    assert world.status(END).status is InstallStatus.FAILED
    world.kernel.accept_all()

    async with running(world.manager.run()):
        await asyncio.sleep(2)

    assert world.status(END).status is InstallStatus.INSTALLED


def unreadable():
    raise AdapterError("running configuration", "sysrepo is gone", "start it")


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(unreadable, id="unreadable"),
        pytest.param(dict, id="empty"),
        pytest.param(lambda: {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [{}]}}}, id="half read"),
        pytest.param(lambda: {"srv6mgr-srv6:srv6": {"vrfs": ["red"]}}, id="of another shape"),
    ],
)
def test_a_missing_configuration_removes_nothing_until_it_is_there(world, read):
    @in_virtual_time
    async def test(world):
        world.commit(tree(1))
        objects, writes = dict(world.kernel.objects), world.kernel.writes + world.frr.writes
        world.restart()
        whole, world.manager.commits._running = world.manager.commits._running, read

        world.manager.commits.start()
        async with running(world.manager.run()):
            world.manager.request_reconcile()
            await asyncio.sleep(5)
            assert world.kernel.objects == objects
            assert world.kernel.writes + world.frr.writes == writes
            world.manager.commits._running = whole
            world.kernel.remove(END_KEY)
            await asyncio.sleep(60)

        assert world.kernel.objects == objects

    test(world, None)


@in_virtual_time
async def test_a_commit_ends_the_wait_for_a_missing_configuration(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.commits.start()

    world.commit(tree(2))

    assert END_KEY not in world.kernel.objects
    world.kernel.remove("route6 table 8986 fcbb:0:1:2::/64")
    assert world.manager.repair.compare().actions


@in_virtual_time
async def test_an_aborted_commit_after_a_missing_configuration_removes_nothing(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.commits.start()

    world.manager.commits.change(tree(1, 2))
    world.manager.commits.aborted()
    world.manager.repair.compare()

    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_the_order_to_reconcile_takes_over_an_empty_configuration(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.commits.start()

    world.manager.repair.reconcile()

    assert not any(seen.ours for seen in world.kernel.objects.values())


@in_virtual_time
async def test_a_death_in_a_commit_of_nothing_ends_with_nothing(world):
    world.commit(tree(1))
    world.kernel.crash_after(1)
    with pytest.raises(Crash):
        world.manager.commits.change({})
    world.running = {}
    world.restart()

    world.manager.commits.start()

    assert not any(seen.ours for seen in world.kernel.objects.values())


@in_virtual_time
async def test_a_rejected_commit_of_nothing_does_not_make_an_empty_configuration_meant(world):
    world.commit(tree(1))
    world.kernel.reject(lambda a: isinstance(a, Delete))
    with pytest.raises(RejectedError):
        world.manager.commits.change({})
    world.kernel.accept_all()
    world.running = {}
    world.restart()

    world.manager.commits.start()

    assert END_KEY in world.kernel.objects


def with_sid_outside(running):
    bad = {"prefix": "fcbb:0:9:1::/64", "locator": "MAIN", "behavior": "End"}
    running["srv6mgr-srv6:srv6"]["local-sids"]["sid"].append(bad)
    return running


@in_virtual_time
async def test_a_start_shows_what_is_invalid_as_rejected_and_carries_out_the_rest(world):
    outside = ObjectRef(Kind.SID, "fcbb:0:9:1::/64")
    world.running = with_sid_outside(tree(1))

    world.manager.commits.start()

    assert world.status(END).status is InstallStatus.INSTALLED
    assert world.status(outside).status is InstallStatus.REJECTED
    assert "outside locator MAIN" in world.status(outside).reason
    _, outward = world.outward.published[-1]
    assert outward[outside].status is InstallStatus.REJECTED

    world.commit(with_sid_outside(tree(1, 2)))
    assert world.status(outside).status is InstallStatus.REJECTED
    world.commit(tree(1, 2))
    assert outside not in world.reader.objects()


@in_virtual_time
async def test_an_aborted_commit_leaves_it_rejected(world):
    outside = ObjectRef(Kind.SID, "fcbb:0:9:1::/64")
    world.running = with_sid_outside(tree(1))
    world.manager.commits.start()

    world.manager.commits.change(with_sid_outside(tree(1, 2)))
    world.manager.commits.aborted()

    assert world.status(outside).status is InstallStatus.REJECTED
    assert "route6 table 8986 fcbb:0:1:2::/64" not in world.kernel.objects


@in_virtual_time
async def test_a_rollback_to_what_a_start_found_is_accepted(world):
    world.running = with_sid_outside(tree(1))
    world.manager.commits.start()
    world.commit(tree(1))

    with pytest.raises(RejectedError):
        world.manager.commits.change(with_sid_outside(tree(1)))
    world.manager.commits.change(with_sid_outside(tree(1)), rollback=True)
    world.manager.commits.stored()

    assert world.status(ObjectRef(Kind.SID, "fcbb:0:9:1::/64")).status is InstallStatus.REJECTED


def test_a_start_and_each_commit_warn_of_an_open_boundary(world, caplog):
    @in_virtual_time
    async def test(world):
        opened = tree(1)
        opened["srv6mgr-srv6:srv6"]["boundary"] = {"default-role": "core"}
        world.running = opened
        world.manager.commits.start()
        world.commit(opened)

    test(world, None)

    said = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert [text.startswith("boundary: eth1 can reach SIDs") for text in said] == [True, True]
