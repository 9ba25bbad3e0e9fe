"""Status and counters, read from the store that srv6mgrd writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from srv6mgrd.counters import accounting, alarms, drops, lease, observed, proxies
from srv6mgrd.counters.node import ABSENT, NodeReader, NodeState, Version, beside
from srv6mgrd.counters.store_file import EXPIRED, StoreError
from srv6mgrd.counters.store_reader import Counted, Records, StoreReader
from srv6mgrd.gnmi.observed import NOTHING, TOP, Observed, Versions
from srv6mgrd.model.status import ObjectRef, ObjectStatus, SidCounters

_UNKNOWN = -1
# Longer than a restart of srv6mgrd takes; as long as it vouches for statuses by default.
_RESTART_S = 10.0

# What moves when a status or the state of the node does.
Moment = tuple[int, Version]


class Edition(NamedTuple):
    """What moves when anything does that is read here."""

    generation: int
    sample: int
    node: Version
    proxies: Version
    observed: Versions


@dataclass(frozen=True, slots=True)
class Status:
    """Status of all objects at one generation, and state of the node; ``problem`` when the store
    can't be read."""

    generation: int = _UNKNOWN
    objects: Mapping[ObjectRef, ObjectStatus] = field(default_factory=dict)
    problem: str = ""
    node: NodeState = field(default_factory=NodeState)
    # Of which objects it differs from ``base``, those of the status before.
    changed: tuple[ObjectRef, ...] = field(default=(), compare=False)
    base: Mapping[ObjectRef, ObjectStatus] | None = field(default=None, compare=False)

    def differences(self, objects: Mapping[ObjectRef, ObjectStatus]) -> Iterable[ObjectRef]:
        """The objects whose status differs from these."""
        if self.base is objects:
            return self.changed
        return list(_differing(objects, self.objects))

    @property
    def moment(self) -> Moment:
        return self.generation, self.node.version


def _differing(
    before: Mapping[ObjectRef, ObjectStatus], now: Mapping[ObjectRef, ObjectStatus]
) -> Iterator[ObjectRef]:
    if before is now:
        return
    for ref, status in now.items():
        then = before.get(ref)
        # Most are the very ones of before.
        if then is not status and then != status:
            yield ref
    yield from before.keys() - now.keys()


@dataclass(frozen=True, slots=True)
class Counters:
    """One sample of the objects of a generation; ``at`` (ns) is when it was taken."""

    sample: int = -1
    at: int = 0
    by_prefix: Mapping[str, SidCounters] = field(default_factory=dict)
    generation: int = _UNKNOWN


class State:
    """Reads the store; keeps what it read until the store says that it changed.

    Used by one thread at a time, but for ``edition``, which is used by another one.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # Since when the store can't be read.
        self._lost: float | None = None
        self._reader, self._looker = StoreReader(path), StoreReader(path)
        self._node = NodeReader(beside(path))
        self._status = Status()
        self._counters = Counters()
        self._proxies = NodeReader(proxies.beside(path))
        self._observed = NodeReader(observed.beside(path))
        self._accounting = NodeReader(accounting.beside(path))
        self._drops = NodeReader(drops.beside(path))
        self._alarms = NodeReader(alarms.beside(path))
        self._counted = -1, -1
        self._records: Records | None = None

    def edition(self) -> Edition | None:
        """What there is to read; None while there is nothing, or it is being written. Waits for
        nobody."""
        try:
            store = self._looker.look()
        except (StoreError, OSError):
            return None
        if store is None:
            return None
        observed = NOTHING
        if not store[0] & EXPIRED:
            observed = tuple(reader.version() for reader in self._beside)
        return Edition(*store, self._node.version(), self._proxies.version(), observed)

    def moment(self) -> Moment:
        """Cheap; -1 and ABSENT while there is nothing to read."""
        try:
            return self._reader.generation, self._node.version()
        except (StoreError, OSError):
            return -1, ABSENT

    def sampled(self) -> tuple[int, int]:
        """Generation and number of the last sample. Cheap; -1 while there is nothing to read."""
        try:
            return self._reader.generation, self._reader.sample[0]
        except StoreError:
            return -1, -1

    def status(self) -> Status:
        try:
            generation = self._reader.generation
            node = self._node.read()
            if (generation, node.version) != self._status.moment or self._status.problem:
                before = self._status.objects
                same = generation == self._status.generation
                objects = before if same else self._reader.objects()
                changed = () if same else self._reader.differences(before)
                if changed is None:
                    changed = tuple(_differing(before, objects))
                self._status = Status(generation, objects, node=node, changed=changed, base=before)
            self._lost = None
        except (StoreError, OSError) as e:
            self._status = self._without(str(e))
        return self._status

    def _without(self, problem: str) -> Status:
        """What is known while the store can't be read: as long as the restart of srv6mgrd may
        take all that was, and then that it is unknown."""
        now = self._clock()
        if self._lost is None:
            self._lost = now
        known = self._status
        if now - self._lost < _RESTART_S:
            return known if known.problem == problem else replace(known, problem=problem)
        if known.generation == _UNKNOWN and known.problem == problem:
            return known
        objects = lease.expired(known.objects, time.time_ns())
        return Status(_UNKNOWN, objects, problem, known.node)

    def counters(self) -> Counters:
        try:
            # A new object owns a record before it is sampled: ask the generation as well.
            read = self._reader.sample[0], self._reader.generation
            if read != self._counted:
                found = self._records = self._reader.records(self._records)
                self._counted = found.sample, found.generation
                self._counters = Counters(found.sample, found.at, Counted(found), found.generation)
        except (StoreError, OSError):
            # They have the time at which they were read from the kernel.
            self._counted = -1, -1
        return self._counters

    def proxies(self) -> NodeState:
        """State of the proxies, by prefix, in RFC 7951 form. Cheap while it is the same."""
        return self._proxies.read()

    def observed(self) -> Observed:
        """State of sessions, adjacencies and interfaces, rows of accounting,
        reasons of drops, and alarms; nothing
        when srv6mgrd no longer vouches for it. Cheap while it is the same."""
        with suppress(StoreError, OSError):
            if self._reader.generation & EXPIRED:
                return Observed(NOTHING, {})
        found = [reader.read() for reader in self._beside]
        state, counted, dropped, listed = (one.members for one in found)
        of_srv6 = {**state, **accounting.joined(counted, dropped)}
        return Observed(tuple(one.version for one in found), {TOP: of_srv6, alarms.TOP: listed})

    @property
    def _beside(self) -> tuple[NodeReader, ...]:
        return self._observed, self._accounting, self._drops, self._alarms

    def records(self) -> Records | None:
        """The counters as they are stored; None while none were read."""
        with suppress(StoreError, OSError):
            self._records = self._reader.records(self._records)
        return self._records

    def close(self) -> None:
        self._reader.close()
        self._looker.close()
