"""How sure a median is: confidence intervals that assume nothing of how values are spread."""

from __future__ import annotations

from collections.abc import Sequence

# One in so many intervals may be without the median.
_WRONG = 20
# Values that have an interval.
FEWEST = 6


def of_median(values: Sequence[float]) -> tuple[float, float]:
    """The interval that has the true median with at least 95 %, between two of the values: how many
    are below it is binomial. With fewer than FEWEST values there is none, and all are in it.
    """
    ordered, count = sorted(values), len(values)
    # Of 2 ** count ways: those with so many below the median, and those with fewer on either side.
    outside, ways, rank = 0, 1, 0
    while rank < count // 2:
        outside += 2 * ways
        if outside * _WRONG > 1 << count:
            break
        ways = ways * (count - rank) // (rank + 1)
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[count - rank]
