"""The state machine of a transaction, pure: an event in, commands out.

All routers go through a phase together: dry run, set with commit-confirmed, verification. The
first phase that fails on any of them leads to the decision to abort, the last one to that to
commit. The decision is written before the first confirmation.

With ``is_partial`` a router that does not answer the dry run is deferred: the others go on, and it
gets its part later. One that vanishes after the dry run leads to the decision to abort all the
same, since nobody knows what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    """Write that routers may be changed from now on, without the ``deferred`` ones. Needs no
    answer."""

    deferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decide:
    """Write the decision, and answer with Decided. ``deferred``: routers that get it later."""

    decision: Decision
    reasons: tuple[str, ...]
    deferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settle:
    """Write that a router is as it was decided. Needs no answer."""

    router: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an Ask; ``problem`` is empty when it was done. ``is_unanswered``: nobody knows
    whether it was."""

    router: str
    problem: str = ""
    is_unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision that the store has: this one, or one that was there before."""

    decision: Decision


Command = Ask | Touch | Decide | Settle
Event = Answer | Decided


@dataclass(frozen=True, slots=True)
class State:
    """``pending``: routers whose answer is awaited. ``touched``: those that may have been changed;
    the others have nothing to roll back. ``deferred``: those that get their part later, and why
    not now, which is the reason to abort where no other one is left."""

    phase: Phase
    routers: frozenset[str]
    pending: frozenset[str]
    touched: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    decision: Decision | None = None
    is_partial: bool = False
    deferred: Mapping[str, str] = field(default_factory=dict)


Step = tuple[State, tuple[Command, ...]]
_NEXT = {
    Phase.CHECKING: (Phase.INSTALLING, Verb.INSTALL),
    Phase.INSTALLING: (Phase.VERIFYING, Verb.VERIFY),
}


def begin(
    routers: Iterable[str], deferred: Mapping[str, str] | None = None, *, is_partial: bool = False
) -> Step:
    """A new transaction, whose record has been written. ``deferred`` are routers of which is known
    that they do not answer, with the reason; they are asked nothing."""
    known = dict(deferred or {})
    names = frozenset(routers) - known.keys()
    state = State(Phase.CHECKING, names, names, is_partial=is_partial, deferred=known)
    if names:
        return state, _ask(Verb.CHECK, names)
    if known:
        return _advanced(state)
    # Another document for the same configuration of all routers.
    return replace(state, phase=Phase.DECIDING), (Decide(Decision.COMMITTED, ()),)


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
    state = replace(state, pending=state.pending - {event.router})
    if state.is_partial and state.phase is Phase.CHECKING and event.is_unanswered:
        known = {**state.deferred, event.router: event.problem}
        state = replace(state, routers=state.routers - {event.router}, deferred=known)
    elif event.problem:
        state = replace(state, problems=(*state.problems, event.problem))
    if state.phase is Phase.SETTLING:
        settled: tuple[Command, ...] = () if event.problem else (Settle(event.router),)
        done = replace(state, phase=Phase.SETTLING if state.pending else Phase.DONE)
        return done, settled
    return _advanced(state) if not state.pending else (state, ())


def _advanced(state: State) -> Step:
    """All routers have answered in this phase."""
    # Where no router answers, nothing says that the change is accepted.
    problems = state.problems or (() if state.routers else tuple(state.deferred.values()))
    if problems:
        return replace(state, phase=Phase.DECIDING), (Decide(Decision.ABORTED, problems),)
    if state.phase is Phase.VERIFYING:
        decide = Decide(Decision.COMMITTED, (), tuple(sorted(state.deferred)))
        return replace(state, phase=Phase.DECIDING), (decide,)
    phase, verb = _NEXT[state.phase]
    following = replace(state, phase=phase, pending=state.routers, touched=state.routers)
    # Written first: without it, a controller that resumes must not undo anything, since what it
    # finds on a router may be that of others.
    deferred = tuple(sorted(state.deferred))
    touch: tuple[Command, ...] = (Touch(deferred),) if verb is Verb.INSTALL else ()
    return following, (*touch, *_ask(verb, state.routers))


def _settling(state: State, decision: Decision) -> Step:
    verb = Verb.CONFIRM if decision is Decision.COMMITTED else Verb.CANCEL
    untouched = state.routers - state.touched
    if decision is Decision.ABORTED:
        untouched |= state.deferred.keys()
    settled = tuple(Settle(name) for name in sorted(untouched))
    phase = Phase.SETTLING if state.touched else Phase.DONE
    following = replace(state, phase=phase, pending=state.touched, decision=decision, problems=())
    return following, (*settled, *_ask(verb, state.touched))


def _ask(verb: Verb, routers: Iterable[str]) -> tuple[Command, ...]:
    return tuple(Ask(verb, name) for name in sorted(routers))
