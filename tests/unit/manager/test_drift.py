"""Drift: repaired once, counted, tried again."""

import asyncio
import errno
import itertools
from unittest.mock import patch

import pytest

from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus
from srv6mgrd.netlink.errors import KernelError
from srv6mgrd.plan.actions import Delete
from tests.unit.manager.world import (
    END,
    END_KEY,
    END_PREFIX,
    RED,
    in_virtual_time,
    running,
    tree,
)


@in_virtual_time
async def test_drift_is_repaired_and_counted(world):
    world.commit(tree(1))
    since = world.status(END).since

    async with running(world.manager.run()):
        world.kernel.remove(END_KEY)
        world.manager.request_reconcile()
        await asyncio.sleep(1)

    found = world.status(END)
    assert END_KEY in world.kernel.objects
    assert (found.status, found.repairs, found.since) == (InstallStatus.INSTALLED, 1, since)
    assert found.last_repair == pytest.approx(1000.02e9)
    assert world.status(RED).repairs == 0


@in_virtual_time
async def test_a_burst_of_events_is_one_repair(world):
    world.commit(tree(1))
    repairs = []
    compare = world.manager.repair.compare
    world.manager.repair.compare = lambda: (repairs.append(1), compare())

    async def events():
        for _ in range(50):
            yield object()

    async with running(world.manager.run(), world.manager.follow(events())):
        await asyncio.sleep(1)

    assert len(repairs) == 1


@in_virtual_time
async def test_a_fight_with_another_manager_takes_a_tenth_of_a_cpu(world):
    """It changes back what is repaired, and more that is not ours, again and again."""
    world.commit(tree(1))
    spent, compares = [0.0], []
    observe = world.kernel.observe

    def taking_time(sysctls):
        spent[0] += 0.01
        compares.append(asyncio.get_running_loop().time())
        return observe(sysctls)

    async def other_manager():
        while True:
            if END_KEY in world.kernel.objects:
                world.kernel.remove(END_KEY)
            world.manager.request_reconcile()
            await asyncio.sleep(0.01)

    world.kernel.observe = taking_time
    with (
        patch("time.thread_time", lambda: spent[0]),
        patch("srv6mgrd.manager.conductor._LOG.warning") as said,
    ):
        async with running(world.manager.run(), other_manager()):
            await asyncio.sleep(100)
            used = spent[0]
            await asyncio.sleep(100)
    assert spent[0] - used == pytest.approx(10, rel=0.05)
    found = world.status(END)
    assert found.status is InstallStatus.FAILED
    assert "changed again each time" in found.reason
    assert len([call for call in said.call_args_list if "without end" in call.args[0]]) == 1


@in_virtual_time
async def test_a_link_that_flaps_is_met_at_once(world):
    world.commit(tree(1))
    spent, observe = [0.0], world.kernel.observe

    def taking_time(sysctls):
        spent[0] += 0.1
        return observe(sysctls)

    world.kernel.observe = taking_time
    with patch("time.thread_time", lambda: spent[0]):
        async with running(world.manager.run()):
            for _ in range(20):
                world.kernel.remove(END_KEY)
                world.manager.request_reconcile()
                await asyncio.sleep(0.1)
                assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_drift_without_an_event_is_found_by_the_slow_compare(world):
    world.commit(tree(1))

    async with running(world.manager.run(), world.manager.compare_every(30)):
        world.kernel.remove(END_KEY)
        await asyncio.sleep(29)
        assert END_KEY not in world.kernel.objects
        await asyncio.sleep(2)

    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_what_fails_is_tried_again_less_and_less_often(world):
    world.commit(tree(1))
    tries = []

    def reject(action):
        if action.object.key == END_KEY:
            tries.append(asyncio.get_running_loop().time() - 1000)
            return True
        return False

    async with running(world.manager.run()):
        world.kernel.remove(END_KEY)
        world.kernel.reject(reject, errno.ENOMEM)
        world.manager.request_reconcile()
        await asyncio.sleep(200)
        assert world.status(END).status is InstallStatus.FAILED
        assert "ENOMEM" in world.status(END).reason
        world.kernel.accept_all()
        await asyncio.sleep(61)

    waits = [round(b - a) for a, b in itertools.pairwise(tries)]
    assert waits[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert world.status(END).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_after_a_success_failures_are_tried_again_quickly(world):
    world.commit(tree(1))

    async with running(world.manager.run()):
        for _ in range(2):
            world.kernel.remove(END_KEY)
            world.kernel.reject(lambda a: a.object.key == END_KEY)
            world.manager.request_reconcile()
            await asyncio.sleep(0.5)
            world.kernel.accept_all()
            await asyncio.sleep(1)
            assert END_KEY in world.kernel.objects
            await asyncio.sleep(100)


@in_virtual_time
async def test_a_kernel_that_can_not_be_read_is_tried_again(world):
    reported = KernelError("netlink dump", "interrupted 10 times in a row", "find what changes it")
    await is_tried_again(world, reported)


@in_virtual_time
async def test_a_compare_without_descriptors_is_tried_again(world):
    await is_tried_again(world, OSError(errno.EMFILE, "Too many open files"))


async def is_tried_again(world, error):
    world.commit(tree(1))
    observe, tries = world.kernel.observe, []

    def failing(_):
        tries.append(1)
        raise error

    async with running(world.manager.run()):
        world.kernel.remove(END_KEY)
        world.kernel.observe = failing
        world.manager.request_reconcile()
        await asyncio.sleep(5)
        world.kernel.observe = observe
        await asyncio.sleep(4)

    assert END_KEY in world.kernel.objects
    assert len(tries) == 3


@in_virtual_time
async def test_a_compare_waits_for_the_end_of_a_commit(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sampling.sample()
    world.kernel.remove("rule 2000 to fcbb:0:1::/48")

    async with running(world.manager.run()):
        world.manager.commits.change(tree(2))
        world.manager.request_reconcile()
        await asyncio.sleep(1)
        world.manager.commits.aborted()
        await asyncio.sleep(1)
        world.kernel.remove(END_KEY)
        world.manager.commits.change(tree(1, 2))
        world.manager.request_reconcile()
        await asyncio.sleep(1)
        world.manager.commits.aborted()
        await asyncio.sleep(1)

    world.manager.sampling.sample()
    assert world.reader.counters()[END.name].packets == 7
    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_what_could_not_be_undone_is_found_by_a_compare(world):
    world.commit(tree(1))
    added = "route6 table 8986 fcbb:0:1:2::/64"
    world.kernel.reject(lambda a: a.object.key == "route6 table 8986 fcbb:0:1:3::/64")
    world.kernel.reject(lambda a: isinstance(a, Delete) and a.object.key == added)

    async with running(world.manager.run()):
        with pytest.raises(RejectedError):
            world.manager.commits.change(tree(1, 2, 3))
        assert added in world.kernel.objects
        world.kernel.accept_all()
        await asyncio.sleep(1)

    assert added not in world.kernel.objects


@in_virtual_time
async def test_a_whole_compare_that_takes_long_is_rare_whatever_else_is_compared(world):
    world.commit(tree(1))
    loop, spent, doubted, doubts = asyncio.get_running_loop(), [0.0], [], []
    observe = world.kernel.observe

    def force_full_resync():
        doubts.append(loop.time())
        doubted.append(True)

    def taking_time(sysctls):
        spent[0] += 0.5 if doubted else 0.001
        doubted.clear()
        return observe(sysctls)

    world.kernel.force_full_resync, world.kernel.observe = force_full_resync, taking_time
    began = loop.time()

    with patch("time.thread_time", lambda: spent[0]):
        async with running(world.manager.run(), world.manager.compare_every(30)):
            for _ in range(100):
                await asyncio.sleep(6)
                world.manager.request_reconcile()

    # Half a second is a five hundredth of 250 s.
    assert [round(at - began) for at in doubts] == [30, 280, 530]


@in_virtual_time
async def test_a_compare_that_is_due_reads_everything_from_the_kernel(world):
    """Notifications can be lost, so what was reported is not trusted forever."""
    world.commit(tree(1))
    doubts = []
    world.kernel.force_full_resync = lambda: doubts.append(asyncio.get_running_loop().time())

    async with running(world.manager.run(), world.manager.compare_every(30)):
        await asyncio.sleep(100)
    world.manager.repair.reconcile()

    assert len(doubts) == 4
