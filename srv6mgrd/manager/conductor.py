"""What srv6mgrd does when: commits, drift, samples. No I/O of its own; the parts are given."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Executor
from typing import Any, ParamSpec, TypeVar

from srv6mgrd.apply.reconciler import Reconciler
from srv6mgrd.backoff import Backoff
from srv6mgrd.counters import statuses
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.duty_cycle import Allowance, DutyCycle
from srv6mgrd.in_loop import InLoop
from srv6mgrd.manager.commits import Commits
from srv6mgrd.manager.ports import (
    Accounting,
    CapabilityMonitor,
    Drops,
    Node,
    Observed,
    Outward,
    Proxies,
)
from srv6mgrd.manager.probing import Probing
from srv6mgrd.manager.publication import Publication
from srv6mgrd.manager.relay import FromWriter, NotifierInLoop
from srv6mgrd.manager.repair import Repair
from srv6mgrd.manager.sampling import Sampling
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.outcomes import carried
from srv6mgrd.model.status import ObjectRef
from srv6mgrd.notifications import Notifier
from srv6mgrd.plan.actions import Action
from srv6mgrd.ports import AdapterError, Kernel
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# Drift is looked at this long after its first event, so that a burst is one repair.
_SETTLE = 0.02
# Whatever keeps changing, comparing takes this share of a CPU once it has used so many seconds, and
# is put off no longer than the last figure. Far above what commits, links and hands cause.
_COMPARE_SHARE, _COMPARE_BURST, _COMPARE_LATEST = 0.1, 5.0, 10.0
# What was rejected is tried again after these many seconds, doubling.
_BACKOFF_FIRST, _BACKOFF_LAST = 1.0, 60.0
# FRR is asked as often; less so where its answers take time: a share of it, but for the last. What
# stays pending is asked for after a part of the time that it has been so.
_FRR_POLL_PENDING, _FRR_POLL_SETTLED, _FRR_POLL_LAST = 0.25, 2.0, 5.0
_FRR_PART_OF_PENDING = 0.1
_FRR_SHARE, _FRR_SHARE_OF_HINTS = 0.02, 0.2


@one_thread(but=("reported",))
class Manager:
    """One instance per network namespace. It lives in the event loop; ``commits`` and ``repair``
    work in the writer's thread, ``sampling`` and ``publication`` in that of ``state``."""

    def __init__(
        self,
        reconciler: Reconciler,
        kernel: Kernel,
        *,
        store: StoreWriter,
        outward: Outward,
        advertised: Callable[[Desired], statuses.Advertised],
        running: Callable[[], Mapping[str, Any]],
        writer: Executor,
        state: Executor,
        in_loop: InLoop,
        node: Node | None = None,
        notifier: Notifier | None = None,
        capability_monitor: CapabilityMonitor | None = None,
        proxies: Proxies | None = None,
        accounting: Accounting | None = None,
        drops: Drops | None = None,
        drop_reasons: Accounting | None = None,
        observed: Observed | None = None,
    ) -> None:
        """``advertised`` asks FRR (in a thread), ``running`` reads the running configuration (in
        the writer's); ``node`` gets the statistics, ``proxies`` the state of service proxies,
        ``accounting`` the rows of accounting, ``drop_reasons`` what ``drops`` learns, ``notifier``
        the notifications;
        ``capability_monitor`` probes again where something turns out to be missing; ``observed``
        gets what else is seen of what is declared, that of FRR from ``advertised``. ``writer`` and
        ``state`` have one thread each."""
        self._reconciler = reconciler
        self._advertised_now = advertised
        self._node = node
        self._observed = observed
        self._writer = writer
        self._state = state
        reported = NotifierInLoop(notifier, in_loop)
        # Made in their thread, since they read the store, which is that thread's.
        self.publication = state.submit(Publication, store, outward, reported.put).result()
        self.sampling = state.submit(
            Sampling,
            kernel,
            store,
            outward,
            lambda: reconciler.desired,
            proxies=proxies,
            accounting=accounting,
            drops=drops,
            drop_reasons=drop_reasons,
            observed=observed,
        ).result()
        rooms = self.sampling, self.publication
        conductor = FromWriter(self, in_loop, reported, state, rooms)
        reconciler.before_writing = conductor.before_writing
        reconciler.after_writing = conductor.after_writing
        self._probing = Probing(reconciler, capability_monitor)
        self.commits = Commits(reconciler, kernel, running, self._probing, conductor)
        self.repair = Repair(
            reconciler,
            kernel,
            self.commits,
            self._probing,
            is_installed=self.publication.is_installed,
            conductor=conductor,
        )
        self._wake = asyncio.Event()
        self._ask_frr = asyncio.Event()
        # What a question to FRR takes, and when one that was asked for is due.
        self._frr_seconds = 0.0
        self._hint: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._backoff = Backoff(_BACKOFF_FIRST, _BACKOFF_LAST)
        # Whether the log says that comparisons are put off.
        self._said_slower = False

    @property
    def reported(self) -> bool:
        """Whether the statuses in the store are this process's own."""
        return self.publication.reported

    async def _run(
        self, thread: Executor, call: Callable[P, T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """The result of a call in that thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(thread, lambda: call(*arguments, **named))

    # What is asked of the writer and of the state: as in their rooms.

    async def start(self) -> None:
        await self._run(self._writer, self.commits.start)

    async def plan(self, tree: Mapping[str, Any]) -> list[Action]:
        return await self._run(self._writer, self.commits.plan, tree)

    async def reconcile(self) -> list[Action]:
        return await self._run(self._writer, self.repair.reconcile)

    async def clear_counters(self, sid: str | None = None) -> None:
        await self._run(self._state, self.sampling.clear, sid)

    # Repair.

    def request_reconcile(self) -> None:
        """Something of interest changed in the kernel, or a compare is due."""
        self._wake.set()

    def retry_later(self) -> None:
        """A compare is due after a while, which doubles."""
        if self._retry is not None:
            self._retry.cancel()
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(self._backoff.delay(), self.request_reconcile)

    async def run(self) -> None:
        """Repair whenever disturbed; runs forever."""
        allowance = Allowance(
            _COMPARE_BURST,
            share=_COMPARE_SHARE,
            longest=_COMPARE_LATEST,
            clock=asyncio.get_running_loop().time,
        )
        while True:
            await self._wake.wait()
            await asyncio.sleep(max(_SETTLE, self._put_off(allowance)))
            self._wake.clear()
            try:
                await self._run(self._writer, self.repair.compare)
            except AdapterError as error:
                _LOG.error("%s", error)
                self.retry_later()
            except OSError as error:
                # EMFILE, ENFILE, ENOMEM, ENOSPC: they pass, and what is installed forwards.
                _LOG.error("compare: %s; it is tried again", error.strerror or error)
                self.retry_later()
            allowance.use(self.repair.cost.seconds)

    def _put_off(self, allowance: Allowance) -> float:
        """Seconds until the next compare, since events do not end; it is said once."""
        pause = allowance.wait()
        if pause > _SETTLE and not self._said_slower:
            _LOG.warning(
                "the kernel reports changes without end; they are compared with what is declared"
                " more slowly, so that this takes a tenth of a CPU; find what keeps changing"
                " (ip monitor)"
            )
            self._said_slower = True
        elif allowance.is_whole:
            self._said_slower = False
        return pause

    async def follow(self, events: AsyncIterator[object]) -> None:
        """Be disturbed by every event of the kernel."""
        async for _ in events:
            self.request_reconcile()

    async def compare_every(self, seconds: float) -> None:
        """Compare without an event too, since events can be lost."""
        duty_cycle = DutyCycle(seconds, quiet=0.002, free=0.2)
        while True:
            await asyncio.sleep(seconds)
            # What the last one took is known by now.
            due = duty_cycle.after(self.repair.whole_cost.seconds, quiet=True)
            await asyncio.sleep(due - seconds)
            await self._run(self._writer, self.commits.check_staged)
            await self._run(self._writer, self.repair.force_full_resync)
            self.request_reconcile()

    async def probe_every(self, seconds: float) -> None:
        """Try out what the node offers now and then; runs forever."""
        while True:
            await asyncio.sleep(seconds)
            try:
                otherwise = await self._run(self._writer, self._probing.changed)
            except OSError as error:
                _LOG.error("capabilities: %s; they are probed again later", error)
                continue
            if otherwise:
                self.request_reconcile()

    # Samples.

    async def sample_every(self, seconds: float) -> None:
        """Sample counters on a beat, which is slower with many SIDs, and where none counts."""
        beat, duty_cycle = time.monotonic(), DutyCycle(seconds, quiet=0.004, free=0.004 * seconds)
        while True:
            quiet = False
            try:
                quiet = not await self._run(self._state, self.sampling.beat)
            except (AdapterError, OSError) as error:
                _LOG.error("counters: %s", error)
            if self._observed is not None:
                self._observed.publish()
            beat += duty_cycle.after(self.sampling.cost.seconds, quiet=quiet)
            beat = max(beat, time.monotonic())
            await asyncio.sleep(beat - time.monotonic())

    # Publication.

    def published(self, *, failed: bool) -> None:
        """The statuses of a pass are known; whether something failed that is tried again."""
        self._ask_frr.set()
        if failed:
            self.retry_later()
            return
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._backoff.reset()

    def count(self, *, commits: int = 0, rejected: int = 0) -> None:
        """Count in the statistics of the node."""
        if self._node is not None:
            self._node.statistics.commits += commits
            self._node.statistics.rejected += rejected
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
        before = 0.0
        pending, since = frozenset[ObjectRef](), 0.0
        while True:
            desired = self._reconciler.desired
            refs = carried(desired)
            if asked or refs or desired.bgp is not None:
                asked = bool(refs) or desired.bgp is not None
                began = time.monotonic()
                found = await asyncio.to_thread(self._advertised_now, desired)
                # One alone may have waited for a daemon that hung.
                seconds = time.monotonic() - began
                self._frr_seconds, before = min(before, seconds), seconds
                if not self.commits.is_under_way and await self._run(
                    self._state, self.publication.advertise, found, refs
                ):
                    # It may be somebody's doing in FRR, of which the kernel reports nothing.
                    self.request_reconcile()
                if self._observed is not None:
                    self._observed.publish()
            now = asyncio.get_running_loop().time()
            waiting = frozenset(filter(self.publication.is_pending, refs))
            if waiting != pending:
                pending, since = waiting, now
            settled = max(_FRR_POLL_SETTLED, self._frr_seconds / _FRR_SHARE)
            pause = min(settled, _FRR_POLL_LAST)
            if waiting:
                part = _FRR_PART_OF_PENDING * (now - since)
                pause = min(max(_FRR_POLL_PENDING, part), pause)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ask_frr.wait()
            self._ask_frr.clear()

    def ask_frr_soon(self) -> None:
        """The kernel reports what FRR may have done. Many such reports are one question."""
        if self._hint is None or self._hint.when() <= asyncio.get_running_loop().time():
            delay = max(_FRR_POLL_PENDING, self._frr_seconds / _FRR_SHARE_OF_HINTS)
            self._hint = asyncio.get_running_loop().call_later(delay, self._ask_frr.set)

    def idle_static_routes(self) -> list[str]:
        """The names of those that FRR has not in place with all their next hops."""
        return self.publication.idle_static_routes(self._reconciler.desired.static_routes)
