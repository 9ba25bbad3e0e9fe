"""Commits, drift, samples and retries, in virtual time."""

import asyncio
import contextlib
import copy
import errno
import itertools
from concurrent.futures import Executor, Future
from dataclasses import replace
from types import SimpleNamespace

import pytest

from srv6mgrd import manager as manager_module
from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.counters.node import Statistics
from srv6mgrd.counters.status import InstallStatus, Kind, ObjectRef
from srv6mgrd.counters.store import StoreReader, StoreWriter
from srv6mgrd.frr.render import render
from srv6mgrd.kernel.errors import KernelError
from srv6mgrd.manager import Manager
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING
from srv6mgrd.model.refusal import RefusedError
from srv6mgrd.plan.actions import Delete
from srv6mgrd.ports import AdapterError
from tests.builders import net
from tests.fakes.frr import FakeFrr
from tests.fakes.kernel import NEW_PROXY, Crash, FakeKernel

END = ObjectRef(Kind.SID, "fcbb:0:1:1::/64")
END_PREFIX = net(END.name)
END_KEY = f"route6 table 8986 {END.name}"
RED = ObjectRef(Kind.VRF, "red")
RED_BGP = ObjectRef(Kind.VRF_BGP, "red")
EXPORT = net("fcbb:0:1:64::/64")


def tree(*sids, table=10, export=True):
    """A running configuration: VRF red, and SIDs with these functions."""
    red = {"name": "red", "table-id": table}
    entries = [{"prefix": f"fcbb:0:1:{n}::/64", "locator": "MAIN", "behavior": "End"} for n in sids]
    if export:
        red["srv6mgr-bgp:bgp"] = {
            "rd": "65000:10",
            "import-rt": ["65000:10"],
            "export-rt": ["65000:10"],
            "export-sid": str(EXPORT),
        }
        entries.append(
            {"prefix": str(EXPORT), "locator": "MAIN", "behavior": "End.DT46", "vrf": "red"}
        )
    return {
        "srv6mgr-srv6:srv6": {
            "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
            "vrfs": {"vrf": [red]},
            "local-sids": {"sid": entries},
            "srv6mgr-bgp:bgp": {"as-number": 65000, "router-id": "10.0.0.1"},
        }
    }


class VirtualTime(asyncio.SelectorEventLoop):
    """Time passes at once when there is nothing to do; threads are not used."""

    class _Inline(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            future.set_result(fn(*args, **kwargs))
            return future

    def __init__(self):
        super().__init__()
        self._now = 1000.0
        self._executor = self._Inline()
        select = self._selector.select

        def advance(timeout=None):
            self._now += timeout or 0
            return select(0 if timeout is not None else None)

        self._selector.select = advance

    def time(self):
        return self._now

    def run_in_executor(self, executor, fn, *args):
        return super().run_in_executor(self._executor, fn, *args)


class Outward:
    def __init__(self):
        self.published = []
        self.samples = []

    def publish(self, desired, statuses):
        self.published.append((desired, statuses))

    def publish_counters(self, counters):
        self.samples.append(counters)


class World:
    def __init__(self, path):
        self.path = path
        self.kernel = FakeKernel({"eth1": 2})
        self.frr = FakeFrr()
        self.journal = Journal(None)
        self.running = {}
        self.advertised = {}
        self.restart()
        self.reader = StoreReader(path)

    def restart(self):
        self.outward = Outward()
        reconciler = Reconciler(self.kernel, self.frr, self.journal, render)
        self.manager = Manager(
            reconciler,
            self.kernel,
            store=StoreWriter(self.path),
            outward=self.outward,
            advertised=lambda desired: {
                name: self.advertised.get(name, (None, "bgpd has no SID yet"))
                for name, vrf in desired.vrfs.items()
                if vrf.bgp
            },
            running=lambda: self.running,
            proxies=self,
        )

    def write(self, proxies):
        self.proxies = proxies

    def commit(self, config):
        self.manager.change(config)
        self.running = config
        self.manager.stored()

    def status(self, ref):
        return self.reader.objects()[ref]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "store")


@pytest.fixture
def clock(monkeypatch):
    """The wall clock and the beat of samples, in nanoseconds and seconds of the loop."""

    class Clock:
        @staticmethod
        def monotonic():
            return asyncio.get_running_loop().time()

        @staticmethod
        def time_ns():
            return int(asyncio.get_running_loop().time() * 1_000_000_000)

    monkeypatch.setattr(manager_module, "time", Clock)


def in_virtual_time(test):
    """Run an async test function in virtual time."""

    def run(world, clock):
        with asyncio.Runner(loop_factory=VirtualTime) as runner:
            runner.run(test(world))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@contextlib.asynccontextmanager
async def running(*jobs):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job) for job in jobs]
        yield
        for task in tasks:
            task.cancel()


# Commits.


@in_virtual_time
async def test_a_commit_is_in_the_kernel_before_it_is_stored(world):
    world.manager.change(tree(1))

    assert END_KEY in world.kernel.objects
    assert world.reader.objects() == {}


@in_virtual_time
async def test_a_stored_commit_is_in_the_store_and_outward(world):
    world.commit(tree(1))

    assert {ref for ref, s in world.reader.objects().items() if s.status == 2} == {
        ObjectRef(Kind.LOCATOR, "MAIN"),
        RED,
        END,
        ObjectRef(Kind.SID, str(EXPORT)),
    }
    assert len(world.outward.published) == 1


@in_virtual_time
async def test_a_refused_commit_changes_nothing(world):
    world.commit(tree(1))
    kernel, store = dict(world.kernel.objects), world.reader.objects()
    world.kernel.refuse(lambda a: "fcbb:0:1:2::/64" in a.object.key and not isinstance(a, Delete))

    with pytest.raises(RefusedError):
        world.manager.change(tree(1, 2))
    world.manager.compare()

    assert world.kernel.objects == kernel
    assert world.reader.objects() == store


@in_virtual_time
async def test_an_aborted_commit_is_taken_back(world):
    world.commit(tree(1))
    kernel, frr = dict(world.kernel.objects), dict(world.frr.contexts)
    world.manager.change(tree(2, table=20))

    world.manager.aborted()

    assert world.kernel.objects == kernel
    assert world.frr.contexts == frr
    assert END in world.reader.objects()


@in_virtual_time
async def test_an_abort_after_our_own_refusal_is_harmless(world):
    world.commit(tree(1))
    kernel = dict(world.kernel.objects)
    world.kernel.refuse(lambda a: "fcbb:0:1:2::/64" in a.object.key and not isinstance(a, Delete))
    with pytest.raises(RefusedError):
        world.manager.change(tree(2))

    world.manager.aborted()

    assert world.kernel.objects == kernel


@in_virtual_time
async def test_a_change_that_no_status_shows_goes_outward_too(world):
    world.commit(tree(1))
    other = tree(1)
    other["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0] |= {"behavior": "End.DT6", "vrf": "red"}

    world.commit(other)

    assert len(world.outward.published) == 2
    assert world.outward.published[0] != world.outward.published[1]


@in_virtual_time
async def test_the_same_commit_again_writes_nothing(world):
    world.commit(tree(1))
    writes = world.kernel.writes + world.frr.writes

    world.commit(tree(1))

    assert world.kernel.writes + world.frr.writes == writes


@in_virtual_time
async def test_a_commit_that_is_left_half_way_is_taken_back(world):
    world.commit(tree(1))
    world.manager.change(tree(2))

    async with running(world.manager.keep(), world.manager.compare_every(30)):
        await asyncio.sleep(61)

    assert END_KEY in world.kernel.objects
    assert "route6 table 8986 fcbb:0:1:2::/64" not in world.kernel.objects


# Start.


@in_virtual_time
async def test_a_restart_writes_nothing_and_keeps_the_statuses(world):
    world.commit(tree(1))
    writes, store = world.kernel.writes + world.frr.writes, world.reader.objects()
    world.restart()

    world.manager.start()

    assert world.kernel.writes + world.frr.writes == writes
    assert world.reader.objects() == store


@in_virtual_time
async def test_a_restart_goes_outward_although_nothing_changed(world):
    world.commit(tree(1))
    world.restart()

    world.manager.start()

    assert len(world.outward.published) == 1


@in_virtual_time
async def test_what_the_start_could_not_put_in_place_is_tried_again(world):
    world.running = tree(1)
    world.kernel.refuse(lambda a: a.object.key == END_KEY)
    world.manager.start()
    assert world.status(END).status is InstallStatus.FAILED
    world.kernel.accept_all()

    async with running(world.manager.keep()):
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
        whole, world.manager._running = world.manager._running, read

        world.manager.start()
        async with running(world.manager.keep()):
            world.manager.disturbed()
            await asyncio.sleep(5)
            assert world.kernel.objects == objects
            assert world.kernel.writes + world.frr.writes == writes
            world.manager._running = whole
            world.kernel.remove(END_KEY)
            await asyncio.sleep(60)

        assert world.kernel.objects == objects

    test(world, None)


@in_virtual_time
async def test_a_commit_ends_the_wait_for_a_missing_configuration(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.start()

    world.commit(tree(2))

    assert END_KEY not in world.kernel.objects
    world.kernel.remove("route6 table 8986 fcbb:0:1:2::/64")
    assert world.manager.compare().actions


@in_virtual_time
async def test_an_aborted_commit_after_a_missing_configuration_removes_nothing(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.start()

    world.manager.change(tree(1, 2))
    world.manager.aborted()
    world.manager.compare()

    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_the_order_to_reconcile_takes_over_an_empty_configuration(world):
    world.commit(tree(1))
    world.running = {}
    world.restart()
    world.manager.start()

    world.manager.reconcile()

    assert not any(seen.ours for seen in world.kernel.objects.values())


@in_virtual_time
async def test_a_death_in_a_commit_of_nothing_ends_with_nothing(world):
    world.commit(tree(1))
    world.kernel.crash_after(1)
    with pytest.raises(Crash):
        world.manager.change({})
    world.running = {}
    world.restart()

    world.manager.start()

    assert not any(seen.ours for seen in world.kernel.objects.values())


@in_virtual_time
async def test_a_refused_commit_of_nothing_does_not_make_an_empty_configuration_meant(world):
    world.commit(tree(1))
    world.kernel.refuse(lambda a: isinstance(a, Delete))
    with pytest.raises(RefusedError):
        world.manager.change({})
    world.kernel.accept_all()
    world.running = {}
    world.restart()

    world.manager.start()

    assert END_KEY in world.kernel.objects


# Drift.


@in_virtual_time
async def test_drift_is_repaired_and_counted(world):
    world.commit(tree(1))
    since = world.status(END).since

    async with running(world.manager.keep()):
        world.kernel.remove(END_KEY)
        world.manager.disturbed()
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
    compare = world.manager.compare
    world.manager.compare = lambda: (repairs.append(1), compare())

    async def events():
        for _ in range(50):
            yield object()

    async with running(world.manager.keep(), world.manager.follow(events())):
        await asyncio.sleep(1)

    assert len(repairs) == 1


@in_virtual_time
async def test_drift_without_an_event_is_found_by_the_slow_compare(world):
    world.commit(tree(1))

    async with running(world.manager.keep(), world.manager.compare_every(30)):
        world.kernel.remove(END_KEY)
        await asyncio.sleep(29)
        assert END_KEY not in world.kernel.objects
        await asyncio.sleep(2)

    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_what_fails_is_tried_again_less_and_less_often(world):
    world.commit(tree(1))
    tries = []

    def refuse(action):
        if action.object.key == END_KEY:
            tries.append(asyncio.get_running_loop().time() - 1000)
            return True
        return False

    async with running(world.manager.keep()):
        world.kernel.remove(END_KEY)
        world.kernel.refuse(refuse, errno.ENOMEM)
        world.manager.disturbed()
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

    async with running(world.manager.keep()):
        for _ in range(2):
            world.kernel.remove(END_KEY)
            world.kernel.refuse(lambda a: a.object.key == END_KEY)
            world.manager.disturbed()
            await asyncio.sleep(0.5)
            world.kernel.accept_all()
            await asyncio.sleep(1)
            assert END_KEY in world.kernel.objects
            await asyncio.sleep(100)


@in_virtual_time
async def test_a_kernel_that_can_not_be_read_is_tried_again(world):
    world.commit(tree(1))
    observe, tries = world.kernel.observe, []

    def interrupted(_):
        tries.append(1)
        raise KernelError("netlink dump", "interrupted 10 times in a row", "find what changes it")

    async with running(world.manager.keep()):
        world.kernel.remove(END_KEY)
        world.kernel.observe = interrupted
        world.manager.disturbed()
        await asyncio.sleep(5)
        world.kernel.observe = observe
        await asyncio.sleep(4)

    assert END_KEY in world.kernel.objects
    assert len(tries) == 3


@in_virtual_time
async def test_a_compare_waits_for_the_end_of_a_commit(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sample()
    world.kernel.remove("rule 2000 to fcbb:0:1::/48")

    async with running(world.manager.keep()):
        world.manager.change(tree(2))
        world.manager.disturbed()
        await asyncio.sleep(1)
        world.manager.aborted()
        await asyncio.sleep(1)
        world.kernel.remove(END_KEY)
        world.manager.change(tree(1, 2))
        world.manager.disturbed()
        await asyncio.sleep(1)
        world.manager.aborted()
        await asyncio.sleep(1)

    world.manager.sample()
    assert world.reader.counters()[END.name].packets == 7
    assert END_KEY in world.kernel.objects


@in_virtual_time
async def test_what_could_not_be_undone_is_found_by_a_compare(world):
    world.commit(tree(1))
    added = "route6 table 8986 fcbb:0:1:2::/64"
    world.kernel.refuse(lambda a: a.object.key == "route6 table 8986 fcbb:0:1:3::/64")
    world.kernel.refuse(lambda a: isinstance(a, Delete) and a.object.key == added)

    async with running(world.manager.keep()):
        with pytest.raises(RefusedError):
            world.manager.change(tree(1, 2, 3))
        assert added in world.kernel.objects
        world.kernel.accept_all()
        await asyncio.sleep(1)

    assert added not in world.kernel.objects


# Counters.


@in_virtual_time
async def test_what_was_counted_since_the_last_sample_is_kept_when_a_route_is_replaced(world):
    world.commit(tree(1, table=10))
    world.kernel.counters[EXPORT] = (7, 700, 0)
    world.manager.sample()
    world.kernel.counters[EXPORT] = (10, 1000, 2)

    world.commit(tree(1, table=20))

    world.kernel.counters[EXPORT] = (1, 100, 1)
    world.manager.sample()
    found = world.reader.counters()[str(EXPORT)]
    assert (found.packets, found.octets, found.errors) == (11, 1100, 3)


@in_virtual_time
async def test_counters_go_on_over_a_commit_that_was_undone(world):
    world.commit(tree(1, table=10))
    world.kernel.counters[EXPORT] = (7, 700, 0)
    world.kernel.refuse(lambda a: a.object.key == "route6 table 8986 fcbb:0:1:2::/64")

    with pytest.raises(RefusedError):
        world.manager.change(tree(1, 2, table=20))

    world.kernel.counters[EXPORT] = (100, 10000, 0)
    world.manager.sample()
    assert world.reader.counters()[str(EXPORT)].packets == 107


@in_virtual_time
async def test_counters_that_can_not_be_read_are_read_at_the_next_beat(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    answers = [KernelError("netlink dump", "interrupted", "look"), world.kernel.sid_counters()]

    def counters():
        answer = answers.pop(0) if answers else {}
        if isinstance(answer, Exception):
            raise answer
        return answer

    world.kernel.sid_counters = counters
    async with running(world.manager.sample_every(1.0)):
        await asyncio.sleep(1.5)

    assert world.reader.counters()[END.name].packets == 7


@in_virtual_time
async def test_samples_go_to_the_store_and_outward(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 1)

    world.manager.sample()

    found = world.reader.counters()[END.name]
    assert (found.packets, found.octets, found.errors) == (7, 700, 1)
    assert world.outward.samples[-1][END.name] == found


PROXY = tree(1, export=False)
PROXY["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0] |= {
    "behavior": "End.AM",
    "srv6mgr-proxy:proxy": {"inner-type": "ipv6", "interface": "eth1", "next-hop": "2001:db8::2"},
}


@in_virtual_time
async def test_a_proxy_is_told_of_as_long_as_it_is_declared(world):
    world.commit(PROXY)
    world.manager.sample()
    assert world.proxies == {END_PREFIX: NEW_PROXY}

    world.commit(tree(export=False))
    world.manager.sample()
    assert world.proxies == {}


@in_virtual_time
async def test_a_proxy_that_is_changed_goes_on_counting(world):
    world.commit(PROXY)
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sample()
    changed = copy.deepcopy(PROXY)
    sid = changed["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0]
    sid["srv6mgr-proxy:proxy"]["decrement-hop-limit"] = False

    world.commit(changed)

    world.kernel.counters[END_PREFIX] = (9, 900, 0)
    world.manager.sample()
    assert world.reader.counters()[END.name].packets == 9


@in_virtual_time
async def test_a_proxy_that_is_made_anew_counts_on(world):
    world.commit(PROXY)
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sample()
    world.kernel.remove(f"proxy {END_PREFIX}")
    world.manager.compare()

    world.kernel.counters[END_PREFIX] = (100, 10000, 0)
    world.manager.sample()
    assert world.reader.counters()[END.name].packets == 107


@in_virtual_time
async def test_without_sids_nothing_is_sampled(world):
    world.commit(tree(export=False))

    world.manager.sample()

    assert world.outward.samples == []


@in_virtual_time
async def test_samples_keep_their_beat(world):
    world.commit(tree(1))

    before, _ = world.reader.sample
    async with running(world.manager.sample_every(1.0)):
        await asyncio.sleep(10.5)

    assert world.reader.sample[0] == before + 11


@in_virtual_time
async def test_counters_that_stand_still_are_not_written_again(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 1)
    standing = world.kernel.sid_counters()
    world.kernel.sid_counters = lambda: standing

    assert world.manager.sample()
    told = len(world.outward.samples)
    assert not world.manager.sample()

    assert len(world.outward.samples) == told
    assert world.reader.counters()[END.name].packets == 7


@in_virtual_time
async def test_a_sid_declared_later_has_its_counters_in_the_store_at_the_next_sample(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 1)
    world.manager.sample()
    world.commit(tree(1, 2))

    world.manager.sample()

    counters = world.reader.counters()
    assert counters[END.name].packets == 7
    assert all(c.discontinuity for c in counters.values())


@in_virtual_time
async def test_counters_go_on_over_a_repair_however_much_was_counted_since(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sample()
    world.kernel.remove(END_KEY)
    world.manager.compare()
    world.kernel.counters[END_PREFIX] = (100, 10000, 0)

    world.manager.sample()

    assert world.reader.counters()[END.name].packets == 107


@in_virtual_time
async def test_counters_go_on_over_a_commit_and_a_sample_before_it_is_stored(world):
    world.commit(tree(1, table=10))
    world.kernel.counters[EXPORT] = (7, 700, 0)
    world.manager.sample()
    world.manager.change(tree(1, table=20))
    world.kernel.counters[EXPORT] = (100, 10000, 0)
    world.manager.sample()
    world.manager.stored()
    world.kernel.counters[EXPORT] = (105, 10500, 0)

    world.manager.sample()

    assert world.reader.counters()[str(EXPORT)].packets == 112


@in_virtual_time
async def test_counters_go_on_over_a_restart(world):
    world.commit(tree(1))
    world.kernel.counters[END_PREFIX] = (7, 700, 0)
    world.manager.sample()
    world.restart()
    world.manager.start()
    world.kernel.counters[END_PREFIX] = (9, 900, 0)

    world.manager.sample()

    assert world.reader.counters()[END.name].packets == 9


# FRR.


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


class Node:
    """Counts how often the statistics were made known."""

    def __init__(self):
        self.statistics = Statistics(since=1)
        self.writes = 0

    def write(self):
        self.writes += 1


async def test_statistics_count_commits_refusals_compares_and_drift(world):
    node = world.manager._node = Node()
    world.commit(tree(1))
    outside = tree(1)
    outside["srv6mgr-srv6:srv6"]["local-sids"]["sid"][0]["prefix"] = "fcbb:9:1:1::/64"
    with pytest.raises(RefusedError):
        world.manager.change(outside)
    world.manager.compare()
    del world.kernel.objects[END_KEY]
    report = world.manager.compare()
    assert [a.object.key for a in report.actions] == [END_KEY]
    told = node.statistics
    assert (told.commits, told.refused, told.compares) == (1, 1, 2)
    assert (told.drifts, told.repairs) == (1, 1)
    assert told.last_drift > 0
    assert node.writes == 4


async def test_drift_and_status_changes_are_told(world):
    told = []
    world.manager._herald = SimpleNamespace(put=told.extend)
    world.commit(tree(1))
    assert {n.name for n in told} == {"sid-status-change"}
    told.clear()
    del world.kernel.objects[END_KEY]
    world.manager.compare()
    assert [(n.name, n.leaves["name"]) for n in told] == [
        ("drift-detected", END.name),
        ("drift-repaired", END.name),
    ]


# Capabilities.

DT46 = ObjectRef(Kind.SID, str(EXPORT))
DT46_KEY = f"route6 table 8986 {EXPORT}"
GONE = "Operation not supported"
WITHOUT_DT46 = replace(
    EVERYTHING,
    behaviors=EVERYTHING.behaviors - {Behavior.END_DT46},
    missing={"End.DT46": GONE},
)


class Offering:
    """``kernel`` as last tried out; ``now`` is what a try finds."""

    def __init__(self, kernel=EVERYTHING):
        self.kernel = self.now = kernel
        self.tries = 0

    def try_out(self):
        self.tries += 1
        before, self.kernel = self.kernel, self.now
        return self.kernel != before


def lose_dt46(world):
    """The kernel takes End.DT46 no more."""
    world.offering.now = WITHOUT_DT46
    world.kernel.refuse(
        lambda a: a.object.key == DT46_KEY and not isinstance(a, Delete), errno.EOPNOTSUPP, GONE
    )


@pytest.fixture
def offered(world):
    world.offering = world.manager._offering = Offering()
    return world


async def test_a_repair_refused_as_not_offered_has_the_node_tried_out(offered):
    offered.commit(tree(1))
    lose_dt46(offered)

    async with asyncio.TaskGroup() as group:
        keep = group.create_task(offered.manager.keep())
        offered.kernel.remove(DT46_KEY)
        offered.manager.disturbed()
        while offered.status(DT46).status is not InstallStatus.UNSUPPORTED:
            await asyncio.sleep(0.01)
        keep.cancel()

    assert GONE in offered.status(DT46).reason
    assert offered.status(RED_BGP).status is InstallStatus.UNSUPPORTED
    assert offered.status(END).status is InstallStatus.INSTALLED
    assert offered.offering.tries == 1


async def test_another_refusal_has_not(offered):
    offered.commit(tree(1))
    offered.kernel.refuse(lambda a: a.object.key == END_KEY, errno.ENOMEM)
    offered.kernel.remove(END_KEY)

    offered.manager.compare()

    assert offered.offering.tries == 0


async def test_a_commit_refused_as_not_offered_is_refused_in_words_of_the_node(offered):
    lose_dt46(offered)
    with pytest.raises(RefusedError, match=f"does not offer End.DT46: {GONE}"):
        offered.manager.change(tree(1))
    assert DT46_KEY not in offered.kernel.objects


async def test_a_commit_that_accepts_is_carried_out_without_what_was_lost(offered):
    lose_dt46(offered)
    accepting = tree(1)
    accepting["srv6mgr-srv6:srv6"]["unsupported"] = "accept"
    offered.commit(accepting)
    assert offered.status(DT46).status is InstallStatus.UNSUPPORTED
    assert offered.status(END).status is InstallStatus.INSTALLED


async def test_what_is_offered_meanwhile_is_not_refused(offered):
    offered.offering.kernel = WITHOUT_DT46
    offered.manager._reconciler.capabilities = WITHOUT_DT46
    offered.commit(tree(1))
    assert offered.status(DT46).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_the_node_is_tried_out_now_and_then(world):
    world.offering = world.manager._offering = Offering()
    world.commit(tree(1))
    async with running(world.manager.keep(), world.manager.try_out_every(600)):
        lose_dt46(world)
        await asyncio.sleep(599)
        assert world.offering.tries == 0
        await asyncio.sleep(602)
    assert world.offering.tries == 2
    # It stands: the kernel holds it, whatever a try says.
    assert world.status(DT46).status is InstallStatus.INSTALLED


@in_virtual_time
async def test_a_compare_that_is_due_reads_everything_from_the_kernel(world):
    """Notifications can be lost, so what was told is not trusted for ever."""
    world.commit(tree(1))
    doubts = []
    world.kernel.doubt = lambda: doubts.append(asyncio.get_running_loop().time())

    async with running(world.manager.keep(), world.manager.compare_every(30)):
        await asyncio.sleep(100)
    world.manager.reconcile()

    assert len(doubts) == 4
