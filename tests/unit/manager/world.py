"""A manager on fakes, in virtual time."""

import asyncio
import contextlib
from types import SimpleNamespace

from srv6mgrd.apply.journal import Journal
from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.counters.store_reader import StoreReader
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.frr.render import render
from srv6mgrd.in_loop import InLoop
from srv6mgrd.manager.conductor import Manager
from srv6mgrd.model.status import Kind, ObjectRef
from tests.builders import net
from tests.fakes.frr import FakeFrr
from tests.fakes.inline import Inline
from tests.fakes.kernel import FakeKernel

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

    def __init__(self):
        super().__init__()
        self._now = 1000.0
        self._executor = Inline()
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

    def publish_proxies(self, proxies):
        self.proxies = proxies

    def publish_accounting(self, found):
        self.accounting = found


class Drops:
    """What is learned of drops."""

    def __init__(self):
        self.since, self.found = 0, []
        self.changes, self.ends = 0, 0
        self.moved = []

    def learn(self, *drops):
        self.found = drops
        self.changes = 1

    def sample(self, desired, totals, moved):
        self.moved.append(sorted(moved))
        has_changed, self.changes = bool(self.changes), 0
        return has_changed

    def end(self):
        self.ends += 1


class World:
    def __init__(self, path, writer=None, state=None, in_loop=None):
        """Without threads all is called at once."""
        self.threads = {
            "writer": writer or Inline(),
            "state": state or Inline(),
            "in_loop": in_loop or InLoop(),
        }
        self.path = path
        # Notifications.
        self.reported = []
        self.kernel = FakeKernel({"eth1": 2})
        self.frr = FakeFrr()
        self.journal = self.threads["writer"].submit(Journal, None).result()
        self.running = {}
        self.advertised = {}
        # What FRR says of locators.
        self.reached = {}
        # Reasons of drops: what is learned of them, and what was written.
        self.drops = Drops()
        self.drop_reasons = []
        # Rows of accounting.
        self.accounted = None
        # How often what FRR says beside that was published.
        self.rounds = 0
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
            advertised=lambda desired: (
                {
                    ObjectRef(Kind.VRF_BGP, name): self.advertised.get(
                        name, (None, "bgpd has no SID yet")
                    )
                    for name, vrf in desired.vrfs.items()
                    if vrf.bgp
                }
                | self.reached
            ),
            running=lambda: self.running,
            **self.threads,
            notifier=SimpleNamespace(put=lambda some, left_out=0: self.reported.extend(some)),
            proxies=self,
            accounting=SimpleNamespace(write=lambda found: setattr(self, "accounted", found)),
            drops=self.drops,
            drop_reasons=SimpleNamespace(write=self.drop_reasons.append),
            observed=self,
        )

    def stage(self, part, members):
        raise NotImplementedError("FRR's part is staged where FRR is asked")

    def publish(self):
        self.rounds += 1

    def write(self, proxies):
        self.proxies = proxies

    def commit(self, config):
        self.manager.commits.change(config)
        self.running = config
        self.manager.commits.stored()

    def status(self, ref):
        return self.reader.objects()[ref]


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
