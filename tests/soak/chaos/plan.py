"""Which step a campaign takes, by its seed and the number of the step alone. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.soak.chaos.things import THINGS

# Seconds from the begin of a commit to the fault.
LATEST_STRIKE = 0.3
MOMENTS = ("before", "during", "after")
ROWS = tuple(name for name, thing in THINGS.items() if thing.row)
OTHERS = tuple(name for name, thing in THINGS.items() if not thing.row)
# Northbounds with confirmed commits.
CONFIRMING = ("gNMI", "NETCONF")


class Commit(StrEnum):
    """How a change is committed: at once, or to be confirmed (RFC 6241 section 8.4)."""

    PLAIN = "committed"
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"
    EXPIRED = "not confirmed in time"


@dataclass(frozen=True, slots=True)
class Step:
    """A change through a northbound, and a fault at some moment of it."""

    number: int
    northbound: str
    things: tuple[str, ...]
    fault: str
    moment: str
    delay: float
    # Of the fault's own choices.
    seed: str
    commit: Commit = Commit.PLAIN

    def __str__(self) -> str:
        things = " ".join(self.things)
        when = f"{self.moment} {self.delay:.2f} s" if self.moment == "during" else self.moment
        how = "" if self.commit is Commit.PLAIN else f", {self.commit}"
        return f"{self.number}: {self.northbound} toggles {things}{how}; {self.fault} ({when})"


def step(seed: int, number: int, northbounds: Sequence[str], faults: Sequence[str]) -> Step:
    """The same for the same arguments, whatever the steps before it were."""
    own = f"{seed}/{number}"
    rng = random.Random(own)
    northbound = rng.choice(northbounds)
    pool = ROWS if northbound == "CONFIG_DB" else OTHERS
    things = tuple(rng.sample(pool, rng.randint(1, 3)))
    fault, moment, delay = rng.choice(faults), rng.choice(MOMENTS), rng.uniform(0, LATEST_STRIKE)
    # Half of the changes are plain where there is a choice.
    plain = northbound not in CONFIRMING or rng.random() < 0.5
    commit = Commit.PLAIN if plain else rng.choice([c for c in Commit if c is not Commit.PLAIN])
    return Step(number, northbound, things, fault, moment, delay, own, commit)


def possible(
    commit: Commit, before: frozenset[str], after: frozenset[str], *, sure: bool
) -> set[frozenset[str]]:
    """What may be declared after a change; ``sure``: it was accepted, and nothing was lost."""
    if commit in (Commit.CANCELLED, Commit.EXPIRED):
        return {before}
    return {after} if sure else {before, after}
