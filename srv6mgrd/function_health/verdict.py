"""What the state of a function is, from its health checks. Pure.

Each check is a packet that has to come out of the function again before the next one is sent. A
function is down with the first of its checks that is down, and up again with the last: half a
function is none to a chain. Until something is known of it, it stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from srv6mgrd.model.chains import FunctionState, HealthCheck


@dataclass(slots=True)
class CheckHistory:
    """The last results of one check of a function."""

    is_down: bool = False
    # In a row, of the kind that would change ``is_down``.
    contrary: int = 0
    # None before the first result.
    reason: str | None = None

    def add(self, problem: str | None, check: HealthCheck, *, at_once: bool = False) -> None:
        """One result: None, or why it failed. ``at_once`` needs no second one, such as a link that
        is down."""
        first = self.reason is None
        self.reason = problem or ""
        if bool(problem) is self.is_down and not first:
            self.contrary = 0
            return
        self.contrary += 1
        needed = check.failures if problem else check.successes
        # The first success after a start says enough: nobody has left it yet.
        if at_once or self.contrary >= needed or (first and not problem):
            self.is_down, self.contrary = bool(problem), 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """State of a function, and why where it is not up."""

    state: FunctionState = FunctionState.UP
    reason: str = ""


@dataclass(slots=True)
class FunctionHistory:
    """The checks of a function by name; ``delays`` of answers in microseconds. ``was_down`` is what
    chains went by before this process began."""

    was_down: bool = False
    checks: dict[str, CheckHistory] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)

    def keep(self, names: Iterable[str]) -> None:
        """Only these are its checks now. Without any, what it was before says nothing."""
        kept = set(names)
        self.was_down = self.was_down and bool(kept)
        self.checks = {n: c for n, c in self.checks.items() if n in kept}
        self.delays = {n: d for n, d in self.delays.items() if n in kept}

    def add(
        self, name: str, problem: str | None, check: HealthCheck, *, at_once: bool = False
    ) -> None:
        known = self.checks.setdefault(name, CheckHistory(self.was_down))
        known.add(problem, check, at_once=at_once)

    def took(self, name: str, microseconds: float) -> None:
        """A sliding average over some ten answers."""
        before = self.delays.get(name, microseconds)
        self.delays[name] = before + (microseconds - before) / 10

    @property
    def delay(self) -> int | None:
        """The mean of all checks, in microseconds."""
        delays = self.delays.values()
        return round(sum(delays) / len(delays)) if delays else None

    def verdict(self, *, drain: bool) -> Verdict:
        """``drain`` is what the operator wants; a function that is down is down."""
        for name, check in self.checks.items():
            if check.is_down:
                return Verdict(FunctionState.DOWN, f"{name}: {check.reason or 'recovering'}")
        if self.was_down and not self.checks:
            return Verdict(FunctionState.DOWN, "it was down before srv6mgrd was started")
        if drain:
            return Verdict(FunctionState.DRAINING, "drain is set")
        return Verdict()
