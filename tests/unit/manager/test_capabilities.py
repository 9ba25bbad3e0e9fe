"""What the node offers, tried out again."""

import asyncio
import errno
from dataclasses import replace

import pytest

from lab.waiting import wait_until_async
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.rejection import RejectedError
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.plan.actions import Delete
from tests.unit.manager.world import (
    END,
    END_KEY,
    EXPORT,
    RED_BGP,
    in_virtual_time,
    running,
    tree,
)

DT46 = ObjectRef(Kind.SID, str(EXPORT))
DT46_KEY = f"route6 table 8986 {EXPORT}"
GONE = "Operation not supported"
WITHOUT_DT46 = replace(
    EVERYTHING,
    behaviors=EVERYTHING.behaviors - {Behavior.END_DT46},
    missing={"End.DT46": GONE},
)


class CapabilityMonitor:
    """``kernel`` as last tried out; ``now`` is what a try finds."""

    def __init__(self, kernel=EVERYTHING):
        self.kernel = self.now = kernel
        self.tries = 0

    def probe(self):
        self.tries += 1
        before, self.kernel = self.kernel, self.now
        return self.kernel != before


def lose_dt46(world):
    """The kernel takes End.DT46 no more."""
    world.capability_monitor.now = WITHOUT_DT46
    world.kernel.reject(
        lambda a: a.object.key == DT46_KEY and not isinstance(a, Delete), errno.EOPNOTSUPP, GONE
    )


@pytest.fixture
def offered(world):
    world.capability_monitor = world.manager._probing._capability_monitor = CapabilityMonitor()
    return world


async def test_a_repair_rejected_as_not_offered_has_the_node_tried_out(offered):
    offered.commit(tree(1))
    lose_dt46(offered)

    async with asyncio.TaskGroup() as group:
        run = group.create_task(offered.manager.run())
        offered.kernel.remove(DT46_KEY)
        offered.manager.request_reconcile()
        await wait_until_async(lambda: offered.status(DT46).status is InstallStatus.UNSUPPORTED)
        run.cancel()

    assert GONE in offered.status(DT46).reason
    assert offered.status(RED_BGP).status is InstallStatus.UNSUPPORTED
    assert offered.status(END).status is InstallStatus.INSTALLED
    assert offered.capability_monitor.tries == 1


async def test_another_rejection_has_not(offered):
    offered.commit(tree(1))
    offered.kernel.reject(lambda a: a.object.key == END_KEY, errno.ENOMEM)
    offered.kernel.remove(END_KEY)

    offered.manager.repair.compare()

    assert offered.capability_monitor.tries == 0


async def test_a_commit_rejected_as_not_offered_is_rejected_in_words_of_the_node(offered):
    lose_dt46(offered)
    with pytest.raises(RejectedError, match=f"does not offer End.DT46: {GONE}"):
        offered.manager.commits.change(tree(1))
    assert DT46_KEY not in offered.kernel.objects


async def test_a_commit_that_accepts_is_carried_out_without_what_was_lost(offered):
    lose_dt46(offered)
    accepting = tree(1)
    accepting["srv6mgr-srv6:srv6"]["unsupported"] = "accept"
    offered.commit(accepting)
    assert offered.status(DT46).status is InstallStatus.UNSUPPORTED
    assert offered.status(END).status is InstallStatus.INSTALLED


async def test_what_is_offered_meanwhile_is_not_rejected(offered):
    offered.capability_monitor.kernel = WITHOUT_DT46
    offered.manager._reconciler.capabilities = WITHOUT_DT46
    offered.commit(tree(1))
    assert offered.status(DT46).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_the_node_is_tried_out_now_and_then(world):
    world.capability_monitor = world.manager._probing._capability_monitor = CapabilityMonitor()
    world.commit(tree(1))
    async with running(world.manager.run(), world.manager.probe_every(600)):
        lose_dt46(world)
        await asyncio.sleep(599)
        assert world.capability_monitor.tries == 0
        await asyncio.sleep(602)
    assert world.capability_monitor.tries == 2
    # It is installed: the kernel holds it, whatever a try says.
    assert world.status(DT46).status is InstallStatus.INSTALLED
