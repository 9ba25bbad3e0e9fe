"""How sure a median is: confidence intervals that assume nothing of how values are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

_CONFIDENCE = 0.95
# Values that have an interval.
FEWEST = 6


def of_median(values: Sequence[float]) -> tuple[float, float]:
    """The interval that has the true median with at least 95 %, between two of the values: how many
    are below it is binomial. With fewer than FEWEST values there is none, and all are in it.
    """
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while rank < count // 2:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 1 - _CONFIDENCE:
            break
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[count - rank]
