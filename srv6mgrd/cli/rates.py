"""Rates of counters, from two samples. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from srv6mgrd.cli.units import NS
from srv6mgrd.model.status import SidCounters


class Sample(NamedTuple):
    """Counters of all SIDs by prefix, and when they were read (ns since the epoch)."""

    at: int
    counters: Mapping[str, SidCounters]


class Rate(NamedTuple):
    """Per second: packets, bits, errors."""

    packets: float = 0.0
    bits: float = 0.0
    errors: float = 0.0


def rates(before: Sample, after: Sample) -> dict[str, Rate]:
    """Of the SIDs that are in both and were not cleared or begun again in between; none when no
    time passed."""
    seconds = (after.at - before.at) / NS
    if seconds <= 0:
        return {}
    found = {}
    idle = Rate()
    # Of a store's counters each one alone takes longer than all at once.
    earlier = dict(before.counters.items()) if len(after.counters) > 1 else before.counters
    for prefix, now in after.counters.items():
        old = earlier.get(prefix)
        if old is None or old.discontinuity != now.discontinuity:
            continue
        if old == now:
            found[prefix] = idle
            continue
        found[prefix] = Rate(
            (now.packets - old.packets) / seconds,
            8 * (now.octets - old.octets) / seconds,
            (now.errors - old.errors) / seconds,
        )
    return found
