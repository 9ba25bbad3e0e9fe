"""The state machine of a transaction, pure: an event in, commands out.

All routers go through a phase together: dry run, set with commit-confirmed, verification. The
first phase that fails on any of them leads to the decision to abort, the last one to that to
commit. The decision is written before the first confirmation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from srv6net.transaction.record import Decision


class Phase(StrEnum):
    CHECKING = "checking"
    INSTALLING = "installing"
    VERIFYING = "verifying"
    DECIDING = "deciding"
    SETTLING = "settling"
    DONE = "done"


class Verb(StrEnum):
    """What a command does with a router."""

    CHECK = "check"
    INSTALL = "install"
    VERIFY = "verify"
    CONFIRM = "confirm"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Ask:
    """Do this on a router, and answer with an Answer."""

    verb: Verb
    router: str


@dataclass(frozen=True, slots=True)
class Touch:
    """Write that routers may be changed from now on. Needs no answer."""


@dataclass(frozen=True, slots=True)
class Decide:
    """Write the decision, and answer with Decided."""

    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settle:
    """Write that a router is as it was decided. Needs no answer."""

    router: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an Ask; ``problem`` is empty when it was done."""

    router: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision that the store has: this one, or one that was there before."""

    decision: Decision


Command = Ask | Touch | Decide | Settle
Event = Answer | Decided


@dataclass(frozen=True, slots=True)
class State:
    """``pending``: routers whose answer is awaited. ``touched``: those that may have been changed;
    the others have nothing to roll back."""

    phase: Phase
    routers: frozenset[str]
    pending: frozenset[str]
    touched: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    decision: Decision | None = None


Step = tuple[State, tuple[Command, ...]]
_NEXT = {
    Phase.CHECKING: (Phase.INSTALLING, Verb.INSTALL),
    Phase.INSTALLING: (Phase.VERIFYING, Verb.VERIFY),
}


def begin(routers: Iterable[str]) -> Step:
    """A new transaction, whose record has been written."""
    names = frozenset(routers)
    if not names:
        # Another document for the same configuration of all routers.
        state = State(Phase.DECIDING, names, names)
        return state, (Decide(Decision.COMMITTED, ()),)
    return State(Phase.CHECKING, names, names), _ask(Verb.CHECK, names)


def resume(routers: Iterable[str], decision: Decision | None, *, is_touched: bool) -> Step:
    """After the death of a controller: without a decision nothing may stay. ``routers`` are those
    that are not settled; ``is_touched`` whether Touch was written."""
    names = frozenset(routers)
    state = State(Phase.DECIDING, names, frozenset(), names if is_touched else frozenset())
    if decision is None:
        reasons = ("the controller ended before the decision",)
        return state, (Decide(Decision.ABORTED, reasons),)
    return _settling(state, decision)


def step(state: State, event: Event) -> Step:
    """The next state, and what to do for it."""
    if isinstance(event, Decided):
        return _settling(state, event.decision)
    if event.router not in state.pending:
        return state, ()  # an answer that came twice
    problems = state.problems + ((event.problem,) if event.problem else ())
    state = replace(state, pending=state.pending - {event.router}, problems=problems)
    if state.phase is Phase.SETTLING:
        settled: tuple[Command, ...] = () if event.problem else (Settle(event.router),)
        done = replace(state, phase=Phase.SETTLING if state.pending else Phase.DONE)
        return done, settled
    return _advanced(state) if not state.pending else (state, ())


def _advanced(state: State) -> Step:
    """All routers have answered in this phase."""
    if state.problems or state.phase is Phase.VERIFYING:
        decision = Decision.ABORTED if state.problems else Decision.COMMITTED
        return replace(state, phase=Phase.DECIDING), (Decide(decision, state.problems),)
    phase, verb = _NEXT[state.phase]
    following = replace(state, phase=phase, pending=state.routers, touched=state.routers)
    # Written first: without it, a controller that resumes must not undo anything, since what it
    # finds on a router may be that of others.
    touch: tuple[Command, ...] = (Touch(),) if verb is Verb.INSTALL else ()
    return following, (*touch, *_ask(verb, state.routers))


def _settling(state: State, decision: Decision) -> Step:
    verb = Verb.CONFIRM if decision is Decision.COMMITTED else Verb.CANCEL
    untouched = tuple(Settle(name) for name in sorted(state.routers - state.touched))
    phase = Phase.SETTLING if state.touched else Phase.DONE
    following = replace(state, phase=phase, pending=state.touched, decision=decision, problems=())
    return following, (*untouched, *_ask(verb, state.touched))


def _ask(verb: Verb, routers: Iterable[str]) -> tuple[Command, ...]:
    return tuple(Ask(verb, name) for name in sorted(routers))
