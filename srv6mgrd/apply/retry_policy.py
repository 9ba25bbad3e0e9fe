"""What is not written for now, since writing it did not help."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from srv6mgrd.backoff import Backoff
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.model.rejection import Rejection
from srv6mgrd.plan.actions import Action, Replace

# A kernel that ignores a part of an object does so until it is replaced; each write zeroes the
# counters of a SID.
_UNREAD_FIRST, _UNREAD_LAST = 60.0, 3600.0
# FRR may have been restarted in between.
_FRR_FIRST = 1.0
# Somebody who undoes each repair is met this often, within this many seconds of quiet, before
# repairs wait. Far above what a hand does, far below what a tool in a loop does.
_FLAPS, _QUIET = 100, 10.0
_FLAPPING_FIRST, _FLAPPING_LAST = 1.0, 60.0


@dataclass(slots=True)
class _Unread:
    action: Action
    rejection: Rejection
    backoff: Backoff
    until: float


@dataclass(slots=True)
class _Flapping:
    backoff: Backoff
    count: int = 0
    last: float = 0.0
    delay: float = 0.0

    def is_over(self, now: float) -> bool:
        return now - self.last > self.delay + _QUIET


class RetryPolicy:
    """``clock`` in seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unread: dict[str, _Unread] = {}
        self._flapping: dict[str, _Flapping] = {}

    def holds(self, action: Action) -> Rejection | None:
        """Why an action has to wait; None when it has not."""
        key, now = action.object.key, self._clock()
        unread = self._unread.get(key)
        if unread is not None and unread.action == action and now < unread.until:
            return unread.rejection
        flapping = self._flapping.get(key)
        if flapping is not None and now < flapping.last + flapping.delay:
            return Rejection(
                key,
                f"repaired {_FLAPS} times and changed again each time",
                "find what keeps changing it (ip monitor)",
                "fought",
            )
        return None

    def repaired(
        self, actions: Iterable[Action], unread: Mapping[str, tuple[Action, Rejection]]
    ) -> None:
        """What was carried out; ``unread`` is by key what would have to be done again, and why."""
        now = self._clock()
        self._flapping = {k: f for k, f in self._flapping.items() if not f.is_over(now)}
        for key in {action.object.key for action in actions}:
            if key not in unread:
                self._unread.pop(key, None)
            flapping = self._flapping.setdefault(
                key, _Flapping(Backoff(_FLAPPING_FIRST, _FLAPPING_LAST))
            )
            flapping.count, flapping.last = flapping.count + 1, now
            if flapping.count >= _FLAPS:
                flapping.delay = flapping.backoff.delay()
        for key, (action, rejection) in unread.items():
            if not isinstance(action, Replace):
                # Not altered but gone again: somebody else's doing.
                continue
            known = self._unread.get(key)
            first = _FRR_FIRST if isinstance(action.object, FrrBlock) else _UNREAD_FIRST
            backoff = Backoff(first, _UNREAD_LAST)
            if known is not None and known.action == action:
                backoff = known.backoff
            self._unread[key] = _Unread(action, rejection, backoff, now + backoff.delay())
