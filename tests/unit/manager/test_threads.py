"""The writer beside the event loop: nothing waits for a commit that does not have to."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from srv6mgrd.in_loop import InLoop
from tests.unit.manager.world import END, END_PREFIX, EXPORT, World, running, tree

# Counted in turns of the loop: how fast they come is the machine's affair.
_TURNS = 100


class Gate:
    """Where a thread waits until it is let through."""

    def __init__(self):
        self.reached, self._open = threading.Event(), threading.Event()

    def pass_through(self):
        self.reached.set()
        assert self._open.wait(30)

    def open(self):
        self._open.set()


@pytest.fixture
async def threaded(tmp_path):
    writer, state = ThreadPoolExecutor(1, "writer"), ThreadPoolExecutor(1, "state")
    world = World(tmp_path / "store", writer, state, InLoop(asyncio.get_running_loop()))
    world.in_writer = lambda call, *args: asyncio.get_running_loop().run_in_executor(
        writer, call, *args
    )
    world.in_state = lambda call: asyncio.get_running_loop().run_in_executor(state, call)
    world.gate = Gate()
    yield world
    world.gate.open()
    for thread in (writer, state):
        await asyncio.to_thread(thread.shutdown)


def stop_in(world, name):
    """Have the kernel's method wait at the gate before it does its work."""
    method = getattr(world.kernel, name)

    def stopped(*args):
        world.gate.pass_through()
        return method(*args)

    setattr(world.kernel, name, stopped)


def stop_behind(world, prefix):
    """Have the kernel wait at the gate when it has written the route to this SID."""
    apply = world.kernel.apply

    def stopped(actions):
        rejected = apply(actions)
        if any(a.object.key == f"route6 table 8986 {prefix}" for a in actions):
            world.gate.pass_through()
        return rejected

    world.kernel.apply = stopped


async def reached(gate):
    assert await asyncio.to_thread(gate.reached.wait, 30)


@pytest.mark.parametrize("where", ["apply", "observe", "links"])
async def test_the_loop_turns_while_a_commit_is_carried_out(threaded, where):
    stop_in(threaded, where)
    commit = threaded.in_writer(threaded.commit, tree(1))
    await reached(threaded.gate)

    for _ in range(_TURNS):
        await asyncio.sleep(0)
    assert not commit.done()

    threaded.gate.open()
    await commit
    # A commit returns when its statuses are published.
    assert END in threaded.reader.objects()


async def test_counters_are_sampled_while_a_commit_is_carried_out(threaded):
    await threaded.in_writer(threaded.commit, tree(1))
    stop_behind(threaded, EXPORT)
    commit = threaded.in_writer(threaded.commit, tree(1, 2, table=20))
    await reached(threaded.gate)

    async with running(threaded.manager.sample_every(0.01)):
        threaded.kernel.counters[END_PREFIX] = (7, 700, 0)
        async with asyncio.timeout(30):
            while threaded.reader.counters()[END.name].packets != 7:
                await asyncio.sleep(0.01)
    assert not commit.done()

    threaded.gate.open()
    await commit


async def test_a_sample_in_the_middle_of_a_replacement_counts_nothing_twice(threaded):
    world = threaded
    await world.in_writer(world.commit, tree(1, table=10))
    world.kernel.counters[EXPORT] = (10, 1000, 0)
    stop_behind(world, EXPORT)
    commit = world.in_writer(world.commit, tree(1, table=20))
    await reached(world.gate)
    # The new route counts already, and who commits has not said yet that it is another.
    world.kernel.counters[EXPORT] = (3, 300, 0)

    await world.in_state(world.manager.sampling.sample)
    assert world.reader.counters()[str(EXPORT)].packets == 10

    world.gate.open()
    await commit
    world.kernel.counters[EXPORT] = (4, 400, 0)
    await world.in_state(world.manager.sampling.sample)
    assert world.reader.counters()[str(EXPORT)].packets == 14


async def test_a_repair_waits_for_the_commit_and_the_loop_for_neither(threaded):
    world = threaded
    await world.in_writer(world.commit, tree(1))
    stop_in(world, "apply")
    commit = world.in_writer(world.commit, tree(1, 2))
    await reached(world.gate)

    async with running(world.manager.run()):
        world.manager.request_reconcile()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        world.gate.open()
        await commit
        # Behind the compare, which is in the writer's queue or is done.
        await world.manager.reconcile()

    assert {"route6 table 8986 fcbb:0:1:1::/64", "route6 table 8986 fcbb:0:1:2::/64"} <= set(
        world.kernel.objects
    )
