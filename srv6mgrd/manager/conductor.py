"""What srv6mgrd does when: commits, drift, samples. No I/O of its own; the parts are given."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

from srv6mgrd.apply.reconciler import Reconciler, Report
from srv6mgrd.backoff import Backoff
from srv6mgrd.counters import statuses
from srv6mgrd.counters.store import StoreWriter
from srv6mgrd.manager.commits import Commits
from srv6mgrd.manager.ports import Herald, Node, Observed, Offering, Outward, Proxies
from srv6mgrd.manager.probing import Probing
from srv6mgrd.manager.publication import Publication
from srv6mgrd.manager.repair import Repair
from srv6mgrd.manager.sampling import Sampling
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.outcomes import carried
from srv6mgrd.model.status import ObjectRef
from srv6mgrd.news import News
from srv6mgrd.pace import Cost, Pace
from srv6mgrd.plan.actions import Action
from srv6mgrd.ports import AdapterError, Kernel
from srv6mgrd.stages import Stage, stages
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

# Drift is looked at this long after its first event, so that a burst is one repair.
_SETTLE = 0.02
# What was refused is tried again after these many seconds, doubling.
_BACKOFF_FIRST, _BACKOFF_LAST = 1.0, 60.0
_FRR_POLL_PENDING, _FRR_POLL_SETTLED = 0.25, 5.0


@one_thread(but=("reported", "warnings"))
class Manager:
    """One instance per network namespace; everything runs in the event loop's thread."""

    def __init__(
        self,
        reconciler: Reconciler,
        kernel: Kernel,
        *,
        store: StoreWriter,
        outward: Outward,
        advertised: Callable[[Desired], statuses.Advertised],
        running: Callable[[], Mapping[str, Any]],
        node: Node | None = None,
        herald: Herald | None = None,
        offering: Offering | None = None,
        proxies: Proxies | None = None,
        observed: Observed | None = None,
    ) -> None:
        """``advertised`` asks FRR (in a thread), ``running`` reads the running configuration;
        ``node`` gets the statistics, ``proxies`` the state of service proxies, ``herald`` the
        notifications; ``offering`` is tried out again where something turns out to be missing;
        ``observed`` gets what else is seen of what is declared, that of FRR from ``advertised``."""
        self._reconciler = reconciler
        self._advertised_now = advertised
        self._node = node
        self._herald = herald
        self._observed = observed
        self._publication = Publication(store, outward, self.notify)
        self._sampling = Sampling(kernel, store, outward, proxies, lambda: reconciler.desired)
        self._probing = Probing(reconciler, offering)
        self._commits = Commits(reconciler, kernel, running, self._probing, self)
        self._repair = Repair(
            reconciler,
            kernel,
            self._commits,
            self._probing,
            is_installed=self._publication.is_installed,
            conductor=self,
        )
        self._wake = asyncio.Event()
        self._ask_frr = asyncio.Event()
        self._retry: asyncio.TimerHandle | None = None
        self._backoff = Backoff(_BACKOFF_FIRST, _BACKOFF_LAST)
        reconciler.before_writing = self._sampling.last_counts
        reconciler.after_writing = self._sampling.count_anew

    @property
    def reported(self) -> bool:
        """Whether the statuses in the store are this process's own."""
        return self._publication.reported

    # Commits (called by the datastore).

    @property
    def warnings(self) -> Sequence[str]:
        """What whoever committed last should know of the running configuration."""
        return self._commits.warnings

    def start(self) -> None:
        """As in ``Commits``, and so are the next four."""
        self._commits.start()

    def change(self, tree: Mapping[str, Any], *, rollback: bool = False) -> int:
        return self._commits.change(tree, rollback=rollback)

    def stored(self) -> None:
        self._commits.stored()

    def aborted(self) -> None:
        self._commits.aborted()

    def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        return self._commits.plan(tree)

    # Repair.

    def disturbed(self) -> None:
        """Something of interest changed in the kernel, or a compare is due."""
        self._wake.set()

    def retry_later(self) -> None:
        """A compare is due after a while, which doubles."""
        if self._retry is not None:
            self._retry.cancel()
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(self._backoff.delay(), self.disturbed)

    def compare(self) -> Report:
        """As in ``Repair``, and so is the next one."""
        return self._repair.compare()

    def reconcile(self) -> list[Action]:
        return self._repair.reconcile()

    async def keep(self) -> None:
        """Repair whenever disturbed; runs for ever."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(_SETTLE)
            self._wake.clear()
            try:
                self.compare()
            except AdapterError as error:
                _LOG.error("%s", error)
                self.retry_later()
            except OSError as error:
                # EMFILE, ENFILE, ENOMEM, ENOSPC: they pass, and what is installed forwards.
                _LOG.error("compare: %s; it is tried again", error.strerror or error)
                self.retry_later()

    async def follow(self, events: AsyncIterator[object]) -> None:
        """Be disturbed by every event of the kernel."""
        async for _ in events:
            self.disturbed()

    async def compare_every(self, seconds: float) -> None:
        """Compare without an event too, since events can be lost."""
        pace = Pace(seconds, quiet=0.002, free=0.2)
        while True:
            await asyncio.sleep(seconds)
            # What the last one took is known by now.
            due = pace.after(self._repair.whole_cost.seconds, quiet=True)
            await asyncio.sleep(due - seconds)
            self._commits.check_staged()
            self._repair.doubt()
            self.disturbed()

    async def try_out_every(self, seconds: float) -> None:
        """Try out what the node offers now and then; runs for ever."""
        while True:
            await asyncio.sleep(seconds)
            try:
                otherwise = self._probing.changed()
            except OSError as error:
                _LOG.error("capabilities: %s; they are probed again later", error)
                continue
            if otherwise:
                self.disturbed()

    # Samples.

    async def sample_every(self, seconds: float) -> None:
        """Sample counters on a beat, which is slower with many SIDs, and where none counts."""
        beat, pace, cost = time.monotonic(), Pace(seconds, quiet=0.004, free=0.01), Cost()
        while True:
            quiet = False
            try:
                with cost, stages(Stage.SAMPLE):
                    quiet = not self.sample()
            except (AdapterError, OSError) as error:
                _LOG.error("counters: %s", error)
            beat += pace.after(cost.seconds, quiet=quiet)
            beat = max(beat, time.monotonic())
            await asyncio.sleep(beat - time.monotonic())

    def sample(self) -> bool:
        """As in ``Sampling``, and so is the next one."""
        return self._sampling.sample()

    def clear_counters(self, sid: str | None = None) -> None:
        self._sampling.clear(sid)

    # Publication.

    def report(self, report: Report, repaired: Iterable[ObjectRef] = ()) -> None:
        """Make known what a pass did, and what it put back."""
        self._ask_frr.set()
        if not self._publication.is_of(report.desired):
            self._sampling.declared(report.desired)
        self._publication.report(report, repaired)
        if self._publication.has_failed:
            self.retry_later()
        else:
            if self._retry is not None:
                self._retry.cancel()
                self._retry = None
            self._backoff.reset()

    def notify(self, told: Iterable[News]) -> None:
        if self._herald is not None:
            self._herald.put(told)

    def count(self, *, commits: int = 0, refused: int = 0) -> None:
        """Count in the statistics of the node."""
        if self._node is not None:
            self._node.statistics.commits += commits
            self._node.statistics.refused += refused
            self._node.write()

    def drifted(self, objects: int, repaired: int) -> None:
        """Count what a compare found to differ, and put back."""
        if self._node is not None:
            self._node.statistics.drifted(objects, repaired, time.time_ns())
            self._node.write()

    async def watch_frr(self) -> None:
        """Learn which SIDs FRR advertises; quickly while something is on its way."""
        # Once more when nothing is left, so that nothing is said of what was there; and at the
        # start, when readers have what the process before said.
        asked = True
        while True:
            desired = self._reconciler.desired
            refs = carried(desired)
            if asked or refs or desired.bgp is not None:
                asked = bool(refs) or desired.bgp is not None
                found = await asyncio.to_thread(self._advertised_now, desired)
                if not self._commits.is_under_way and self._publication.advertise(found, refs):
                    # It may be somebody's doing in FRR, of which the kernel reports nothing.
                    self.disturbed()
                if self._observed is not None:
                    self._observed.publish()
            waiting = any(map(self._publication.is_pending, refs))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FRR_POLL_PENDING if waiting else _FRR_POLL_SETTLED):
                    await self._ask_frr.wait()
            self._ask_frr.clear()

    def idle_static_routes(self) -> list[str]:
        """The names of those that FRR has not in place with all their next hops."""
        return self._publication.idle_static_routes(self._reconciler.desired.static_routes)
