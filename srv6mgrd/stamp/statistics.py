"""Delay, jitter and loss of a session, one measurement interval after the other. Pure.

Times are nanoseconds of a monotonic clock; ``ended`` of a result is one of the wall clock.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from srv6mgrd.stamp.directions import Counters, DirectionCount, Directions, newest

# So long an answer may take; a later one is lost.
REPLY_TIMEOUT = 2_000_000_000
# Between two clocks of one machine.
_SLACK = 1_000_000


@dataclass(frozen=True, slots=True)
class Delay:
    """Round-trip delay without the time in the reflector, in ns."""

    minimum: int
    median: int
    p99: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Jitter:
    """Variation between the delays of consecutive packets, in ns (RFC 3393)."""

    median: int
    p99: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement interval. No delay without an answer, no jitter without two in a row, no
    directions unless the reflector counts."""

    ended: int
    sent: int
    received: int
    delay: Delay | None = None
    jitter: Jitter | None = None
    directions: Directions | None = None

    @property
    def loss(self) -> float:
        """Share of lost packets."""
        return 1 - self.received / self.sent if self.sent else 0.0


def first_end(now: int, wall: int, length: int) -> int:
    """When the first interval ends, which is half to one and a half as long as others. They end at
    multiples of their length by the wall clock: all sessions have results at the same time."""
    left = length - wall % length
    return now + (left if 2 * left >= length else left + length)


def percentile(ordered: Sequence[int], share: float) -> int:
    """By nearest rank, of at least one value."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


@dataclass(slots=True)
class _Interval:
    """Samples of one interval."""

    ends: int
    sent: int = 0
    received: int = 0
    delays: array[int] = field(default_factory=lambda: array("q"))
    jitters: array[int] = field(default_factory=lambda: array("q"))
    directions: DirectionCount | None = None

    def result(self, wall: int) -> Measurement:
        delays, jitters = sorted(self.delays), sorted(self.jitters)
        delay = jitter = None
        if delays:
            median, p99 = percentile(delays, 0.5), percentile(delays, 0.99)
            delay = Delay(delays[0], median, p99, delays[-1])
        if jitters:
            jitter = Jitter(percentile(jitters, 0.5), percentile(jitters, 0.99))
        directions = self.directions.result() if self.directions is not None else None
        return Measurement(wall, self.sent, self.received, delay, jitter, directions)


class Statistics:
    """Takes in what a session sends and what comes back."""

    def __init__(self, first_end: int, length: int) -> None:
        self._length = length
        # The last one is current, those before wait for answers.
        self._intervals = [_Interval(first_end)]
        # By sequence number: when it was sent, and in which interval.
        self._open: dict[int, tuple[int, _Interval]] = {}
        self._previous: tuple[int, int] | None = None
        self._counters: Counters | None = None

    def sent(self, sequence: int, now: int) -> None:
        interval = self._current(now)
        interval.sent += 1
        self._open[sequence] = now, interval

    def unsent(self, sequence: int) -> None:
        """The packet did not leave the router: it counts as lost."""
        self._open.pop(sequence, None)

    def answered(
        self, sequence: int, delay: int, now: int, counters: Counters | None = None
    ) -> bool:
        """False for what is late, a duplicate, or was never sent. A delay that is negative, or
        longer than the packet was away, is a clock that was set: only the arrival counts."""
        found = self._open.pop(sequence, None)
        if found is None or now - found[0] > REPLY_TIMEOUT:
            return False
        began, interval = found
        interval.received += 1
        if counters is not None:
            self._count(interval, counters)
        if not 0 <= delay <= now - began + _SLACK:
            return True
        interval.delays.append(delay)
        if self._previous is not None and self._previous[0] == sequence - 1:
            interval.jitters.append(abs(delay - self._previous[1]))
        self._previous = sequence, delay
        return True

    def _count(self, interval: _Interval, counters: Counters) -> None:
        if interval.directions is None:
            interval.directions = DirectionCount(self._counters)
        interval.directions.add(counters)
        # Where the next interval begins; answers to this one may come while that one is current.
        self._counters = newest(self._counters, counters)

    def close(self, now: int, wall: int) -> Measurement | None:
        """The last interval to which no answer can come any more; None while there is none."""
        self._current(now)
        found = None
        while len(self._intervals) > 1 and now - self._intervals[0].ends > REPLY_TIMEOUT:
            interval = self._intervals.pop(0)
            found = interval.result(wall - (now - interval.ends))
            self._open = {n: one for n, one in self._open.items() if one[1] is not interval}
        return found

    def _current(self, now: int) -> _Interval:
        current = self._intervals[-1]
        if now >= current.ends:
            passed = (now - current.ends) // self._length + 1
            current = _Interval(current.ends + passed * self._length)
            self._intervals.append(current)
        return current
