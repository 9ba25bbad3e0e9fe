"""Statuses over time: what a report says now, joined with what was known before. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from srv6mgrd.apply.outcomes import Outcome
from srv6mgrd.counters.status import ObjectRef, ObjectStatus, clipped


def merge(
    before: Mapping[ObjectRef, ObjectStatus],
    outcomes: Mapping[ObjectRef, Outcome],
    details: Mapping[ObjectRef, str],
    repaired: Collection[ObjectRef],
    now: int,
) -> dict[ObjectRef, ObjectStatus]:
    """Status of every declared object; ``since`` moves only when status or reason does.

    ``repaired`` are objects that stood before and were put back; ``now`` in nanoseconds.
    """
    merged = {}
    # Thousands of SIDs have the same.
    alike: dict[ObjectStatus, ObjectStatus] = {}
    for ref, outcome in outcomes.items():
        old, reason = before.get(ref), clipped(outcome.reason)
        same = old is not None and old.status is outcome.status and old.reason == reason
        again = old is not None and ref in repaired
        detail = details.get(ref, "")
        if old is not None and same and not again and old.detail == detail:
            # The very one, so that ``is`` tells who goes through them what changed.
            merged[ref] = old
            continue
        made = ObjectStatus(
            status=outcome.status,
            reason=reason,
            since=old.since if old is not None and same else now,
            last_repair=now if again else old.last_repair if old else 0,
            repairs=(old.repairs if old else 0) + again,
            detail=detail,
        )
        merged[ref] = alike.setdefault(made, made)
    return merged
