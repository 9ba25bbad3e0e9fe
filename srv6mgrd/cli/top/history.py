"""Rates of the last while, for each SID and all together. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from srv6mgrd.cli.rates import Rate, Sample, rates

KEPT = 60
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.:-=+*#"


class History:
    """Takes samples as they come; ``total`` and ``of`` are rates, the newest last."""

    def __init__(self) -> None:
        self._last: Sample | None = None
        self._rates: dict[str, deque[Rate]] = {}
        self.total: deque[Rate] = deque(maxlen=KEPT)

    @property
    def last(self) -> Sample | None:
        return self._last

    def add(self, sample: Sample) -> bool:
        """Whether it is a new one."""
        # Made at once, and looked at often.
        sample = Sample(sample.at, dict(sample.counters.items()))
        before, self._last = self._last, sample
        if before is None:
            return True
        if sample.at == before.at:
            return False
        found = rates(before, sample)
        for prefix in self._rates.keys() - sample.counters.keys():
            del self._rates[prefix]
        for prefix, rate in found.items():
            kept = self._rates.get(prefix)
            if kept is None:
                kept = self._rates[prefix] = deque(maxlen=KEPT)
            kept.append(rate)
        self.total.append(_sum(found))
        return True

    def of(self, prefix: str) -> Iterable[Rate]:
        return self._rates.get(prefix, ())

    def now(self, prefix: str) -> Rate:
        """The last rate of a SID; zeros before there is one."""
        found = self._rates.get(prefix)
        return found[-1] if found else Rate()


def _sum(found: Mapping[str, Rate]) -> Rate:
    columns = zip(*found.values(), strict=True)
    return Rate(*map(sum, columns)) if found else Rate()


def sparkline(values: Iterable[float], width: int, *, plain: bool = False) -> str:
    """The last ``width`` values as bars, the highest one full; blank where there are none yet."""
    bars = _PLAIN if plain else _BARS
    shown = list(values)[-width:]
    most = max(shown, default=0)
    text = "".join(
        bars[min(len(bars) - 1, int(value / most * len(bars)))] if most > 0 else bars[0]
        for value in shown
    )
    return text.rjust(width)
