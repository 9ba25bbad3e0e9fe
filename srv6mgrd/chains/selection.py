"""Which paths of a chain the flows take, by the states of its functions. Pure.

New flows are spread over slots, each of which has a path. Both directions of a connection have the
same slot, and paths through the same functions the same slots, whatever their direction.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from srv6mgrd.kinds.chain.object import ServicePath
from srv6mgrd.model.chains import FunctionState
from srv6mgrd.model.service_paths import preferred

SLOTS = 256

_Functions = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """``slots`` are places in the sequence of paths, None where none can be used. Flows may stay on
    those in ``kept``."""

    slots: tuple[int | None, ...]
    kept: frozenset[int]


def select(paths: Sequence[ServicePath], states: Mapping[str, FunctionState]) -> Selection:
    """New flows take the paths with the lowest preference of those whose functions all are up.
    Flows stay where all are up or draining, but not with a higher preference than that: they come
    back from a bypass. Functions without a state are up."""
    kept = [
        place
        for place, path in enumerate(paths)
        if all(states.get(name) is not FunctionState.DOWN for name in path.functions)
    ]
    best = preferred(paths, states)
    if not best:
        return Selection((None,) * SLOTS, frozenset(kept))
    preference = paths[best[0]].preference
    kept = [place for place in kept if paths[place].preference <= preference]
    chosen = {paths[place].functions: place for place in best}
    # All that are declared have places, so that one that fails moves no flows of others.
    declared = sorted(
        (path.functions, path.weight) for path in paths if path.preference == preference
    )
    usable = tuple(functions in chosen for functions, _ in declared)
    slots = _spread(tuple(declared), usable)
    return Selection(tuple(chosen[functions] for functions in slots), frozenset(kept))


@lru_cache(maxsize=4096)
def _spread(
    declared: tuple[tuple[_Functions, int], ...], usable: tuple[bool, ...]
) -> tuple[_Functions, ...]:
    """The functions of each slot: those that it has while all can be used, or else the ones that
    rendezvous hashing gives."""
    slots = []
    for home, order in _homes(declared):
        place = home if usable[home] else next(place for place in order if usable[place])
        slots.append(declared[place][0])
    return tuple(slots)


@lru_cache(maxsize=4096)
def _homes(declared: tuple[tuple[_Functions, int], ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Of each slot the place that has it while all can be used, and the order of the others. The
    places have as many slots as their weights say; which ones follows from the names alone."""
    if len(declared) == 1:
        return ((0, (0,)),) * SLOTS
    costs = [
        [cost / weight if weight else math.inf for cost in _costs(functions)]
        for functions, weight in declared
    ]
    places = range(len(declared))
    order = [
        tuple(sorted(places, key=[cost[slot] for cost in costs].__getitem__))
        for slot in range(SLOTS)
    ]
    left = _quotas([weight for _, weight in declared])
    homes: dict[int, int] = {}
    pairs = ((costs[place][slot], slot, place) for slot in range(SLOTS) for place in places)
    for _, slot, place in sorted(pairs):
        if slot not in homes and left[place]:
            homes[slot] = place
            left[place] -= 1
    return tuple((homes[slot], order[slot]) for slot in range(SLOTS))


def _quotas(weights: Sequence[int]) -> list[int]:
    """How many slots each has: by largest remainders. Without any weight all are alike."""
    if not sum(weights):
        weights = [1] * len(weights)
    shares = [SLOTS * weight / sum(weights) for weight in weights]
    quotas = [math.floor(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda n: (quotas[n] - shares[n], n))
    for place in by_remainder[: SLOTS - sum(quotas)]:
        quotas[place] += 1
    return quotas


@lru_cache(maxsize=4096)
def _costs(functions: _Functions) -> tuple[float, ...]:
    """Of rendezvous hashing: a slot goes where it costs least for its weight."""
    name = "\0".join(functions).encode()
    digest = hashlib.shake_128(name).digest(4 * SLOTS)
    return tuple(-math.log((number + 1) / 2**32) for number in struct.unpack(f"<{SLOTS}I", digest))
