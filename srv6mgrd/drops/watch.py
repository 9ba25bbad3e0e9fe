"""When which SIDs are watched: nothing runs in the kernel while no counter of errors moves."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from ipaddress import IPv6Network
from itertools import islice
from typing import NamedTuple, Protocol

from srv6mgrd.drops import layout
from srv6mgrd.drops.ledger import Ledger
from srv6mgrd.drops.sids import outside, watched_links, watched_sid
from srv6mgrd.model.accounting import Watch
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.drops import Drop, How, WatchedLink, WatchedSid
from srv6mgrd.model.status import SidCounters
from srv6mgrd.netlink.errors import Failure
from srv6mgrd.plan.observed import Links
from srv6mgrd.plan.underlay import underlay

_LOG = logging.getLogger(__name__)

# A SID is watched so many seconds after its last error or drop.
_HOLD = 30.0
# Packets moved a counter of the node, and no SID had them: watched again after so long.
_REST = 300.0
# The program takes at most this part of a CPU, at so many seconds for a packet that is looked at
# and for one that is passed over (bench/drops.py).
SHARE, LOOKED_AT, PASSED_OVER = 0.03, 400e-9, 40e-9
# Where to pass over all packets would take this part of that share, it pauses.
_PAUSING = 0.7
_RETRY = 300.0
_REJECTED = (
    "reasons of drops: the kernel rejects the eBPF program: %s; it needs Linux 6.6 (tcx);"
    " tried again while errors are counted, every 5 minutes"
)
# The place of a SID that no check knows: no packet has this destination.
_NOTHING = WatchedSid(IPv6Network("::/128"), How.NEXT_SEGMENT)


class Limit(NamedTuple):
    """One of how many packets is looked at, a power of two, and in how many samples after each one
    nothing runs."""

    one_of: int = 1
    pauses: int = 0


class Program(Protocol):
    """The checks in the kernel (``drops.program.DropProgram``)."""

    def watch(self, interfaces: Collection[int]) -> Failure | None: ...

    def write(
        self, sids: Mapping[int, WatchedSid], links: Mapping[int, WatchedLink], one_of: int = 1
    ) -> Failure | None: ...

    def counts(self) -> Mapping[tuple[int, int], int]: ...

    def runs(self) -> Sequence[int]:
        """For how many packets it ran, by CPU."""

    def end(self) -> None: ...


class Node(Protocol):
    """The node as far as drops depend on it (``drops.node.DropNode``)."""

    def links(self) -> Links: ...

    def sysctl(self, path: str) -> int | None: ...

    def discards(self) -> int:
        """A number that moves when the node drops a packet that it forwards."""

    def filtered(self) -> int:
        """How many packets to SIDs the boundary's filter dropped."""


class DropWatch:
    """In the thread of samples."""

    def __init__(
        self,
        program: Program,
        node: Node,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._program, self._node, self._clock = program, node, clock
        self._ledger = Ledger(now)
        self.since = now()
        self._errors: dict[str, int] = {}
        self._discards: int | None = None
        self._filtered: int | None = None
        # Until when SIDs are watched, and interfaces to the outside; their places in the program.
        self._until: dict[IPv6Network, float] = {}
        self._outside_until = 0.0
        self._places: dict[int, IPv6Network] = {}
        self._counts: Mapping[tuple[int, int], int] = {}
        self._limit = Limit()
        # Samples until it runs again; how often it ran, and when it began to since that was read.
        self._pauses = 0
        self._runs: Sequence[int] = ()
        self._began = 0.0
        # Not before: the kernel rejected the program, or there was nothing to see.
        self._not_before = self._rest = 0.0

    @property
    def found(self) -> Iterable[Drop]:
        return self._ledger.drops

    @property
    def is_watching(self) -> bool:
        return bool(self._places)

    def sample(
        self, desired: Desired, totals: Mapping[str, SidCounters], moved: Iterable[str]
    ) -> bool:
        """After each sample of the counters, of which those ``moved``. Whether drops did."""
        now = self._clock()
        errors = self._new_errors(totals, moved := list(moved))
        has_changed = self._ledger.keep(desired)
        if self._places:
            has_changed |= self._read(desired, errors, now)
        for prefix in self._suspects(desired, errors, moved, now):
            if prefix in desired.sids:
                self._until[prefix] = now + _HOLD
        self._until = {
            p: until for p, until in self._until.items() if until > now and p in desired.sids
        }
        if not self._until:
            self.end()
        elif now >= self._not_before:
            self._watch(desired, now)
        return has_changed

    def end(self) -> None:
        """Nothing is watched any more."""
        if self._places:
            self._program.end()
        self._ledger.end(self._places.values())
        self._places, self._counts, self._until = {}, {}, {}
        self._limit, self._pauses, self._runs = Limit(), 0, ()

    def _new_errors(
        self, totals: Mapping[str, SidCounters], moved: Iterable[str]
    ) -> dict[IPv6Network, int]:
        found = {}
        for name in moved:
            if (counted := totals.get(name)) is None:
                continue
            errors = counted.errors
            if (more := errors - self._errors.get(name, errors)) > 0:
                found[IPv6Network(name)] = more
            self._errors[name] = errors
        return found

    def _suspects(
        self,
        desired: Desired,
        errors: Collection[IPv6Network],
        moved: Sequence[str],
        now: float,
    ) -> Iterable[IPv6Network]:
        """SIDs that are to be watched from now on."""
        discards, filtered = self._node.discards(), self._node.filtered()
        has_discarded = self._discards not in (None, discards)
        has_filtered = self._filtered not in (None, filtered)
        self._discards, self._filtered = discards, filtered
        if has_filtered:
            self._outside_until = now + _HOLD
            return list(islice(desired.sids, layout.MAX_WATCHED))
        is_always = desired.accounting.watch_drops is Watch.ALWAYS
        if not is_always and (errors or not has_discarded or now < self._rest):
            return errors
        self._rest = now + _REST
        return [IPv6Network(name) for name in islice(moved, layout.MAX_WATCHED)]

    def _watch(self, desired: Desired, now: float) -> None:
        self._give_places()
        if self._pauses:
            self._rejected(self._program.watch(()), now)
            return
        self._began = now
        links = self._node.links()
        cores = self._indexes(underlay(desired, links.receivers), links)
        strangers = {}
        if self._outside_until > now:
            strangers = self._indexes(outside(desired, links.receivers), links)
        failure = self._program.watch([*cores.values(), *strangers.values()])
        failure = failure or self._program.write(
            {place: self._sid(prefix, desired, links) for place, prefix in self._places.items()},
            watched_links(links, cores, strangers, self._node.sysctl),
            self._limit.one_of,
        )
        self._rejected(failure, now)

    def _rejected(self, failure: Failure | None, now: float) -> None:
        if failure is not None:
            level = logging.DEBUG if self._not_before else logging.WARNING
            _LOG.log(level, _REJECTED, failure.message)
            self._not_before = now + _RETRY
            self.end()

    def _give_places(self) -> None:
        """A place is that of a SID for as long as it is watched."""
        expired = {place: p for place, p in self._places.items() if p not in self._until}
        self._ledger.end(expired.values())
        self._places = {place: p for place, p in self._places.items() if place not in expired}
        known = set(self._places.values())
        free = iter([n for n in range(layout.MAX_WATCHED) if n not in self._places])
        for prefix in self._until:
            if prefix not in known and (place := next(free, None)) is not None:
                self._places[place] = prefix
                self._ledger.begin(prefix)

    @staticmethod
    def _indexes(names: Iterable[str], links: Links) -> dict[str, int]:
        return {name: links.indexes[name] for name in names if name in links.indexes}

    def _sid(self, prefix: IPv6Network, desired: Desired, links: Links) -> WatchedSid:
        return watched_sid(desired.sids[prefix], desired, links, self._node.sysctl) or _NOTHING

    def _read(self, desired: Desired, errors: Mapping[IPv6Network, int], now: float) -> bool:
        # The kernel's errors were read before: what was counted as one has been looked at.
        counts, before = self._program.counts(), self._counts
        self._counts = counts
        seen: dict[IPv6Network, dict[int, int]] = {}
        for key, count in counts.items():
            place, number = key
            grown = count - before.get(key, 0)
            if grown and (prefix := self._places.get(place)) is not None:
                seen.setdefault(prefix, {})[number] = grown
        dropping = self._ledger.seen(desired, seen)
        self._until.update(dict.fromkeys(dropping, now + _HOLD))
        has_changed = bool(dropping)
        # What is counted for several packets explains no errors one by one.
        is_all = self._limit == Limit()
        has_changed |= self._ledger.counted(desired, errors, all_seen=is_all)
        if self._pauses:
            self._pauses -= 1
        else:
            self._set_limit(now)
        return has_changed

    def _set_limit(self, now: float) -> None:
        """Look at fewer packets where these would take too much of the busiest CPU."""
        runs, seconds = self._program.runs(), max(now - self._began, 0.001)
        before = self._runs or [0] * len(runs)
        rate = max(new - old for new, old in zip(runs, before, strict=True)) / seconds
        self._runs, self._limit = runs, limit_at(rate)
        self._pauses = self._limit.pauses


def limit_at(rate: float) -> Limit:
    """At so many packets per second on a CPU."""
    passed = rate * PASSED_OVER
    pauses = int(passed / (SHARE * _PAUSING))
    wanted = rate * LOOKED_AT / (SHARE * (pauses + 1) - passed)
    return Limit(1 << max(math.ceil(wanted) - 1, 0).bit_length(), pauses)
