"""Which SIDs packets arrived for, by their counters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The local SIDs that packets arrived for from ``since`` to ``until``, in seconds of the
    monotonic clock."""

    since: float
    until: float
    sids: frozenset[str] = frozenset()
