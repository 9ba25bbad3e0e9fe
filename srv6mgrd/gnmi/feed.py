"""What is now, and who wants to hear of changes: configuration, status and counters together.

Lives in the event loop. Reading the store and sysrepo happens in threads.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from srv6mgrd.counters.node import NodeState
from srv6mgrd.gnmi.change import Change
from srv6mgrd.gnmi.mirror import Touched, Tree, apply, differences, entries, tree
from srv6mgrd.gnmi.observed import NOTHING, Versions, observed_tree
from srv6mgrd.gnmi.pack import Sample, Table, counters_of
from srv6mgrd.gnmi.path import Step
from srv6mgrd.gnmi.projections.view import sids_of
from srv6mgrd.gnmi.schema import Node
from srv6mgrd.gnmi.state import Counters, Edition, State, Status
from srv6mgrd.gnmi.view import Model, Snapshot, with_node
from srv6mgrd.model.status import Kind, ObjectRef
from srv6mgrd.threads import one_thread

_LOG = logging.getLogger(__name__)

_POLL_S = 0.05
# Entries of lists that are as good as none.
_BARE = 100
# The state of the node hangs below it.
_TOP = "srv6mgr-srv6:srv6"


Listener = Callable[[Change], None]


@dataclass(frozen=True, slots=True)
class _Observed:
    """What was read of ``counters.observed`` and ``counters.alarms``, and how it differs from
    ``base``, the one before."""

    version: Versions = NOTHING
    tree: Tree = field(default_factory=dict)
    since: Touched = field(default_factory=Touched)
    base: Tree | None = None


@one_thread(but=("root", "is_bare", "follow"))
class TelemetryFeed:
    """Current snapshot and its changes."""

    def __init__(self, model: Model, state: State) -> None:
        self.model = model
        self._state = state
        self._config: Tree = {}
        self._status = Status()
        self._node: Tree = {}
        self._counters = Counters()
        self._proxies = NodeState()
        self._observed = _Observed()
        # What was read last with all counters.
        self._whole = Counters()
        self._counting = 0
        self._listeners: list[Listener] = []
        self._above = counters_of(model.root)
        # What the thread below read last, and the SIDs configured then.
        self._sampled: tuple[Mapping[tuple[str, ...], Any], Sample] | None = None
        # How many await the next sample, and the last one that was given to anybody.
        self._following = 0
        self._latest: Sample | None = None
        self._anew = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        # The one thread that touches the store.
        self._thread = ThreadPoolExecutor(1, "store")

    @property
    def root(self) -> Node:
        """The schema."""
        return self.model.root

    def is_bare(self) -> bool:
        """Whether almost nothing is configured, as far as sysrepo reported; for any thread."""
        return entries(self.model.root, self._config) < _BARE

    def follow(self, loop: asyncio.AbstractEventLoop) -> Callable[[Sequence[str], bool], None]:
        """A function for JSON diffs; with True they make the whole configuration. One other
        thread may call it.

        Ten thousand entries take 0.1 s to read: that must not hold up the event loop.
        """
        config: Tree = {}

        def changed(diffs: Sequence[str], is_whole: bool) -> None:
            nonlocal config
            before = config
            config = {} if is_whole else config
            for diff in diffs:
                config, touched = apply(self.model.root, config, json.loads(diff))
            if is_whole:
                # Most often nothing: srv6mgrd was restarted.
                touched = differences(self.model.root, before, config)
            loop.call_soon_threadsafe(self._changed, time.time_ns(), config, touched)

        return changed

    def _changed(self, at: int, config: Tree, touched: Touched) -> None:
        before = self.current()
        self._config = config
        self._report(Change(at, before, self.current(), touched))

    def current(self, counters: Counters | None = None) -> Snapshot:
        """What was last read; no counters unless given."""
        counters = counters or Counters()
        return Snapshot(
            self.model,
            with_node(self._config, self._node),
            self._status.objects,
            counters.by_prefix,
            counters.at,
            self._status.problem,
            self._proxies.members,
            self._observed.tree,
        )

    async def sample(self) -> Sample | None:
        """The counters of all SIDs, to be sent as they are stored; None while there are none."""
        config = sids_of(self._config)
        if (known := self._sample_at_once(config)) is not None:
            return known
        loop = asyncio.get_running_loop()
        sample = await loop.run_in_executor(self._thread, self._read_sample, config)
        if sample is not None and sample is not self._latest:
            # Never older than what anybody was given.
            self._latest = sample
            woken, self._anew = self._anew, asyncio.Event()
            woken.set()
        return sample

    def _is_old(self) -> bool:
        """Whether there are other counters than those that were read last. Cheap."""
        last, moment = self._latest, self._state.sampled()
        return last is None or (last.records.generation, last.records.sample) != moment

    def _sample_at_once(self, config: Mapping[tuple[str, ...], Any]) -> Sample | None:
        """What was given last where it is still what there is; else None."""
        edition, known = self._state.edition(), self._sampled
        if edition is None or known is None or known[0] is not config:
            return None
        records = known[1].records
        is_last = (records.generation, records.sample) == (edition.generation, edition.sample)
        return known[1] if is_last and known[1] is self._latest else None

    def _read_sample(self, config: Mapping[tuple[str, ...], Any]) -> Sample | None:
        records, known = self._state.records(), self._sampled
        if records is None or self._above is None:
            return None
        if known is None or known[0] is not config or records.slots is not known[1].table.slots:
            before = known and known[1].table
            sample = Sample(Table(self._above, config, records.slots, before), records)
        else:
            sample = known[1]
            if (sample.records.generation, sample.records.sample) != (
                records.generation,
                records.sample,
            ):
                sample = Sample(sample.table, records)
        self._sampled = config, sample
        return sample

    async def next_sample(self, last: Sample | None) -> Sample:
        """The counters of all SIDs as soon as there are others than ``last``; for who listens."""
        self._following += 1
        try:
            while (sample := self._latest) is None or sample is last:
                await self._anew.wait()
            return sample
        finally:
            self._following -= 1

    async def without_counters(self) -> Snapshot:
        """What is now; cheaper, when there are many SIDs."""
        if not self._has(self._state.edition()):
            status, proxies, observed = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._read_state
            )
            self._update(status)
            self._learn(proxies)
            self._observe(observed)
        return self.current()

    async def snapshot(self) -> Snapshot:
        """What is now, counters included."""
        if (known := self.at_once()) is not None:
            return known
        status, counters, proxies, observed = await asyncio.get_running_loop().run_in_executor(
            self._thread, self._read
        )
        self._update(status)
        self._learn(proxies)
        self._observe(observed)
        if self._counting:
            self._count(counters)
        else:
            self._counters = counters
        self._whole = counters
        return self.current(counters)

    def at_once(self) -> Snapshot | None:
        """The same where it was read before, and is still what there is; else None."""
        edition, whole = self._state.edition(), self._whole
        if edition is None or (edition.generation, edition.sample) != (
            whole.generation,
            whole.sample,
        ):
            return None
        return self.current(whole) if self._has(edition) else None

    def _has(self, edition: Edition | None) -> bool:
        """Whether all of it but counters was read, by what the readers themselves say."""
        status = self._status
        return (
            edition is not None
            and not status.problem
            and status.moment == (edition.generation, edition.node)
            and self._proxies.version == edition.proxies
            and self._observed.version == edition.observed
        )

    def _read(self) -> tuple[Status, Counters, NodeState, _Observed]:
        return (
            self._state.status(),
            self._state.counters(),
            self._state.proxies(),
            self._read_observed(),
        )

    def _read_state(self) -> tuple[Status, NodeState, _Observed]:
        return self._state.status(), self._state.proxies(), self._read_observed()

    def _read_observed(self) -> _Observed:
        """In the thread: a thousand sessions take milliseconds."""
        before, state = self._observed, self._state.observed()
        if state.version == before.version:
            return before
        made = observed_tree(self.model.root, state.tops, before.tree)
        since = differences(self.model.root, before.tree, made, of_state=True)
        return _Observed(state.version, made, since, before.tree)

    def listen(self, listener: Listener, *, counters: bool = False) -> Callable[[], None]:
        """Call ``listener`` for each change from now on, of counters too if it wants them.

        Returns what ends it.
        """
        self._listeners.append(listener)
        self._counting += counters
        if self._poller is None:
            self._poller = asyncio.get_running_loop().create_task(self._poll())

        def end() -> None:
            self._listeners.remove(listener)
            self._counting -= counters
            if not self._listeners and self._poller is not None:
                self._poller.cancel()
                self._poller = None

        return end

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                # A store that went away has moment -1, as has the status read then.
                if await loop.run_in_executor(self._thread, self._state.moment) != (
                    self._status.moment
                ):
                    self._update(await loop.run_in_executor(self._thread, self._state.status))
                self._learn(await loop.run_in_executor(self._thread, self._state.proxies))
                self._observe(await loop.run_in_executor(self._thread, self._read_observed))
                if self._counting:
                    self._count(await loop.run_in_executor(self._thread, self._state.counters))
                if self._following and await loop.run_in_executor(self._thread, self._is_old):
                    await self.sample()
            except Exception:
                _LOG.exception("reading the store failed")
            await asyncio.sleep(_POLL_S)

    def _update(self, status: Status) -> None:
        if status is self._status:
            return
        before, old, reported = self.current(), self._status.objects, self._status.node
        self._status = status
        was, touched = self._node, Touched()
        if status.node is not reported:
            self._node = tree(self.model.root, {_TOP: status.node.members})
        if not self._listeners:
            return
        self._touch_node(was, touched)
        for ref in status.differences(old):
            now = status.objects.get(ref)
            if (at := self.model.state_of(ref)) is None:
                continue
            if now is not None:
                touched.updated.append(at)
            elif any(True for _ in before.find(at)):  # else it went with its configuration
                touched.deleted.append(at)
        self._report(Change(time.time_ns(), before, self.current(), touched))

    def _touch_node(self, was: Tree, touched: Touched) -> None:
        """Changes to the state of the node; parts of a member are compared
        leaf by leaf later."""
        old, new = was.get(_TOP, {}), self._node.get(_TOP, {})
        top = self.model.root.child(_TOP)
        for member in {**old, **new}:
            node = None if top is None else top.child(member)
            if top is None or node is None or old.get(member) == new.get(member):
                continue
            reported = touched.updated if member in new else touched.deleted
            reported.append((Step(top), Step(node)))

    def _count(self, counters: Counters) -> None:
        old = self._counters
        if counters is old:
            return
        self._counters = counters
        touched = Touched()
        for prefix, now in counters.by_prefix.items():
            if old.by_prefix.get(prefix) != now:
                at = self.model.state_of(ObjectRef(Kind.SID, prefix))
                if at is not None:
                    touched.updated.append(at)
        before, after = self.current(old), self.current(counters)
        self._report(Change(counters.at, before, after, touched, counters=True))

    def _learn(self, proxies: NodeState) -> None:
        """Neighbors that proxies learned go out like status; counters to counter subscribers."""
        old = self._proxies
        if proxies.version == old.version:
            return
        before = self.current()
        self._proxies = proxies
        if not self._listeners:
            return
        touched = Touched()
        for prefix in {**old.members, **proxies.members}:
            same = old.members.get(prefix) == proxies.members.get(prefix)
            if not same and (at := self.model.state_of_proxy(prefix)) is not None:
                touched.updated.append(at)
        reported_at, after = time.time_ns(), self.current()
        self._report(Change(reported_at, before, after, touched))
        if self._counting:
            self._report(Change(reported_at, before, after, touched, counters=True))

    def _observe(self, observed: _Observed) -> None:
        """What changed of sessions, adjacencies, interfaces and alarms."""
        if observed.version == self._observed.version:
            return
        before, since = self.current(), observed.since
        if observed.base is not self._observed.tree:
            root, seen = self.model.root, self._observed.tree
            since = differences(root, seen, observed.tree, of_state=True)
        self._observed = observed
        if self._listeners:
            # State that went with its configuration was reported with that.
            gone = [at for at in since.deleted if before.has(at)]
            reported = Touched(since.updated, gone)
            self._report(Change(time.time_ns(), before, self.current(), reported))

    def _report(self, change: Change) -> None:
        if not change.touched:
            return
        for listener in list(self._listeners):
            listener(change)

    def close(self) -> None:
        if self._poller is not None:
            self._poller.cancel()
        self._thread.shutdown()
        self._state.close()
