"""Findings count when they have lasted for as long as they have to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.service_state.finding import Finding


@dataclass(frozen=True, slots=True)
class Held:
    """``active`` count; ``waiting`` do not yet, the first of them in ``due`` seconds."""

    active: tuple[Finding, ...] = ()
    waiting: tuple[Finding, ...] = ()
    due: float | None = None


class HoldTimes:
    """Remembers since when each finding has been there. One that is away for a moment begins
    again."""

    def __init__(self) -> None:
        self._since: dict[tuple[ConditionType, str], float] = {}
        self._active: set[tuple[ConditionType, str]] = set()

    def sort(self, findings: Iterable[Finding], now: float) -> Held:
        """``now`` in seconds of a monotonic clock."""
        active: dict[tuple[ConditionType, str], Finding] = {}
        waiting: list[Finding] = []
        since, due = {}, None
        for finding in findings:
            key = finding.key
            began = since[key] = self._since.get(key, now)
            left = began + finding.hold - now
            # What counted goes on counting, even if it is now of a kind that waits longer.
            if left <= 0 or key in self._active:
                active[key] = _joined(active.get(key), finding)
            else:
                waiting.append(finding)
                due = left if due is None else min(due, left)
        self._since, self._active = since, set(active)
        return Held(tuple(active.values()), tuple(waiting), due)


def _joined(known: Finding | None, finding: Finding) -> Finding:
    """Two of one key are one: the worse one stands for both."""
    if known is None:
        return finding
    first, second = sorted((known, finding), key=lambda one: -one.worst)
    vrfs = {v: max(first.vrfs.get(v, s), s) for v, s in second.vrfs.items()}
    sids = {p: max(first.sids.get(p, s), s) for p, s in second.sids.items()}
    return Finding(
        first.type,
        first.resource,
        first.cause,
        first.remedy,
        {**first.vrfs, **vrfs},
        {**first.sids, **sids},
        first.hold,
        first.is_shared or second.is_shared,
    )
