"""The cost of sampling, and who may have how much of it. Pure.

Counters of all SIDs are sent as they are stored. Other leaves are made once and sent again until
something of them changes; that something may change each time decides how often they are sampled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grpc import StatusCode

from srv6mgrd.gnmi.failure import RpcError
from srv6mgrd.gnmi.pack import Sample
from srv6mgrd.gnmi.watch import Watch

# Seconds that a leaf takes (docs/performance.md): read from the tree and encoded, sent again as it
# was encoded, packed from the store and sent.
PER_LEAF = 30e-6
PER_SENT_LEAF = 1e-6
PER_PACKED_LEAF = 0.6e-6
# Of a core: that one subscription may take which says how often, and all of them.
ONE, ALL = 0.25, 0.5
# The same of those who leave it to us.
ONE_FLEXIBLE, ALL_FLEXIBLE = 0.05, 0.1
_LEAST = 0.001


@dataclass(slots=True)
class Grant:
    """What one subscription takes; ``asked`` 0 leaves the interval to us."""

    asked: float
    cost: float = 0.0

    @property
    def load(self) -> float:
        return self.cost / self.asked if self.asked else 0.0


def packed_cost(sample: Sample, watch: Watch) -> float:
    """Of one sample of the counters of all SIDs."""
    return len(sample.table.keys) * len(watch.packed) * PER_PACKED_LEAF


def shortest(cost: float, fastest: float, share: float = ONE) -> float:
    """Seconds between samples that cost so much, in tenths, for a share of a core."""
    return max(fastest, math.ceil(cost / share * 10 - 1e-9) / 10)


class SampleLoad:
    """The sampling of all subscribers."""

    def __init__(self) -> None:
        self._grants: list[Grant] = []

    @contextmanager
    def admitted(self, what: str, asked: float, cost: float, fastest: float) -> Iterator[Grant]:
        """A subscription whose samples cost so many seconds, every ``asked`` seconds; 0: as often
        as it can be served. Raises RpcError."""
        least = shortest(cost, fastest)
        if asked and asked < least:
            raise RpcError(
                StatusCode.INVALID_ARGUMENT,
                f"path {what}: sample_interval {asked:g} s is too short for what it names;"
                f" {least:g} s is the shortest; name counters only, or use ON_CHANGE",
            )
        grant = Grant(asked, cost)
        if sum(g.load for g in self._grants) + grant.load > ALL:
            raise RpcError(
                StatusCode.RESOURCE_EXHAUSTED,
                f"path {what}: the samples of all subscribers would take more than {ALL:.0%} of a"
                " core; use a longer sample_interval or ON_CHANGE",
            )
        self._grants.append(grant)
        try:
            yield grant
        finally:
            self._grants.remove(grant)

    def interval(self, grant: Grant, cost: float, fastest: float) -> float:
        """Seconds until the next sample, now that it costs so much: what was granted, unless there
        is more to read than there was. Those who leave it to us share what the others leave."""
        grant.cost = cost
        if grant.asked:
            return max(grant.asked, shortest(cost, fastest))
        left = ALL - sum(g.load for g in self._grants)
        flexible = sum(1 for g in self._grants if not g.asked)
        share = min(ONE_FLEXIBLE, min(ALL_FLEXIBLE, left) / flexible)
        return shortest(cost, fastest, max(share, _LEAST))
