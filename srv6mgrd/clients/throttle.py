"""How often passwords may be guessed, and how often one may be denied. Pure."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

_FORGOTTEN_S = 600.0
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class FailureDelay:
    """``free`` failures, then a wait of ``first`` seconds that doubles up to ``longest``."""

    free: int
    first: float
    longest: float

    def after(self, failures: int) -> float:
        """Seconds to wait after so many failures."""
        over = failures - self.free
        if over <= 0:
            return 0.0
        return min(self.longest, self.first * 2.0 ** min(over - 1, 30))


@dataclass(slots=True)
class _Record:
    failures: int
    last: float


class Throttle:
    """Failures by key, each with the wait that follows from them."""

    def __init__(self, delay: FailureDelay) -> None:
        self._delay = delay
        # The one that failed last is the last.
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def wait(self, key: str, now: float) -> float:
        """Seconds until ``key`` may try again; 0: now."""
        record = self._records.get(key)
        if record is None or now - record.last > _FORGOTTEN_S:
            return 0.0
        return max(0.0, record.last + self._delay.after(record.failures) - now)

    def failed(self, key: str, now: float) -> None:
        """Count a failure."""
        record = self._records.pop(key, None)
        if record is None or now - record.last > _FORGOTTEN_S:
            record = _Record(0, now)
        self._records[key] = _Record(record.failures + 1, now)
        while len(self._records) > _MOST:
            self._records.popitem(last=False)

    def __len__(self) -> int:
        return len(self._records)


class RateLimiter:
    """So many of something a second by key, and ``free`` at once; who comes more often waits."""

    def __init__(self, rate: float, free: int, longest: float) -> None:
        """No wait is longer than ``longest`` seconds."""
        self._rate, self._free, self._longest = rate, free, longest
        # When what came would have been at the rate; the one that came last is the last.
        self._until: OrderedDict[str, float] = OrderedDict()

    def wait(self, key: str, now: float) -> float:
        """Count one; seconds that it has to wait."""
        until = max(now, self._until.pop(key, now)) + 1 / self._rate
        self._until[key] = min(until, now + self._longest + self._free / self._rate)
        while len(self._until) > _MOST:
            self._until.popitem(last=False)
        return max(0.0, min(self._longest, until - now - self._free / self._rate))
