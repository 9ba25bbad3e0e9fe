"""The rounds of ping: in each one probe for each leg of the target."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from srv6mgrd.cli.oam.exchange import Exchange, Outcome, Shot
from srv6mgrd.cli.oam.probe import Probe


@dataclass(frozen=True, slots=True)
class Timing:
    """``count`` rounds, one each ``interval`` seconds; ``timeout`` of each answer."""

    count: int = 5
    interval: float = 1.0
    timeout: float = 1.0


class Leg:
    """A part of the target with the forms that may reach it. After the first one that arrives no
    other is sent."""

    def __init__(self, forms: Sequence[Probe]) -> None:
        self._forms = tuple(forms)
        self.outcomes: list[Outcome] = []

    def probe(self, exchange: Exchange, timeout: float) -> Outcome:
        """One round. What a router says counts more than that nothing came."""
        best: Outcome | None = None
        for outcome in exchange.run([Shot(form) for form in self._forms], 0, timeout):
            if outcome.arrived:
                self._forms = (outcome.shot.probe,)
                best = outcome
                break
            if best is None or _weight(outcome) > _weight(best):
                best = outcome
        assert best is not None
        self.outcomes.append(best)
        return best

    @property
    def arrived(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.arrived]

    @property
    def form(self) -> Probe:
        return self._forms[0]


def _weight(outcome: Outcome) -> int:
    if outcome.reply is not None:
        return 2
    return 1 if outcome.problem else 0


def rounds(
    exchange: Exchange,
    legs: Sequence[Leg],
    timing: Timing,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[int, Outcome]]:
    """Number of the round, from 1, and the outcome of each leg in it."""
    for number in range(1, timing.count + 1):
        began = clock()
        for leg in legs:
            yield number, leg.probe(exchange, timing.timeout)
        if number < timing.count:
            sleep(max(0.0, began + timing.interval - clock()))


@dataclass(frozen=True, slots=True)
class Times:
    """Round-trip times in seconds."""

    least: float
    middle: float
    most: float


def times(outcomes: Sequence[Outcome]) -> Times | None:
    """None where nothing arrived."""
    found = [one.seconds for one in outcomes if one.arrived]
    return Times(min(found), median(found), max(found)) if found else None
