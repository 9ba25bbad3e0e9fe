"""The state machine of a transaction: what follows what."""

from __future__ import annotations

from srv6net.transaction.machine import (
    Answer,
    Ask,
    Command,
    Decide,
    Decided,
    Phase,
    Settle,
    State,
    Touch,
    Verb,
    begin,
    resume,
    step,
)
from srv6net.transaction.record import Decision

TWO = ("pe1", "pe2")


def asks(verb: Verb) -> tuple[Command, ...]:
    return tuple(Ask(verb, name) for name in TWO)


def answered(state: State, **problems: str) -> tuple[State, tuple[Command, ...]]:
    """Both routers answer; the commands that follow the last one."""
    commands: tuple[Command, ...] = ()
    for name in TWO:
        assert commands == () or state.phase is Phase.SETTLING
        state, commands = step(state, Answer(name, problems.get(name, "")))
    return state, commands


def test_each_phase_follows_when_all_routers_have_answered() -> None:
    state, commands = begin(TWO)
    assert commands == asks(Verb.CHECK)
    state, commands = answered(state)
    assert commands == (Touch(), *asks(Verb.INSTALL))
    state, commands = answered(state)
    assert commands == asks(Verb.VERIFY)
    state, commands = answered(state)
    assert commands == (Decide(Decision.COMMITTED, ()),)
    state, commands = step(state, Decided(Decision.COMMITTED))
    assert commands == asks(Verb.CONFIRM)
    state, commands = answered(state)
    assert (state.phase, commands) == (Phase.DONE, (Settle("pe2"),))


def test_a_dry_run_that_fails_ends_it_without_a_word_to_the_routers() -> None:
    state, commands = answered(begin(TWO)[0], pe1="no")
    assert commands == (Decide(Decision.ABORTED, ("no",)),)
    state, commands = step(state, Decided(Decision.ABORTED))
    assert (state.phase, commands) == (Phase.DONE, (Settle("pe1"), Settle("pe2")))


def test_a_router_that_fails_later_rolls_all_back() -> None:
    for phase in (Verb.INSTALL, Verb.VERIFY):
        state, commands = answered(begin(TWO)[0])
        while Ask(phase, "pe1") not in commands:
            state, commands = answered(state)
        state, commands = answered(state, pe2="no")
        assert commands == (Decide(Decision.ABORTED, ("no",)),)
        assert step(state, Decided(Decision.ABORTED))[1] == asks(Verb.CANCEL)


def test_an_answer_that_comes_twice_changes_nothing() -> None:
    state, _ = step(begin(TWO)[0], Answer("pe1"))
    assert step(state, Answer("pe1", "no")) == (state, ())


def test_who_resumes_without_a_decision_aborts() -> None:
    state, commands = resume(TWO, None, is_touched=True)
    assert [c.decision for c in commands if isinstance(c, Decide)] == [Decision.ABORTED]
    assert step(state, Decided(Decision.ABORTED))[1] == asks(Verb.CANCEL)


def test_who_resumes_before_the_first_change_undoes_nothing() -> None:
    state, _ = resume(TWO, None, is_touched=False)
    assert step(state, Decided(Decision.ABORTED))[1] == (Settle("pe1"), Settle("pe2"))


def test_who_resumes_obeys_the_decision_that_the_store_has() -> None:
    assert resume(TWO, Decision.COMMITTED, is_touched=True)[1] == asks(Verb.CONFIRM)
    state, _ = resume(TWO, None, is_touched=True)
    assert step(state, Decided(Decision.COMMITTED))[1] == asks(Verb.CONFIRM)


def test_a_router_that_does_not_settle_is_left_for_later() -> None:
    state, _ = resume(TWO, Decision.COMMITTED, is_touched=True)
    state, commands = step(state, Answer("pe1", "unreachable"))
    assert commands == ()
    state, commands = step(state, Answer("pe2"))
    assert (state.phase, commands) == (Phase.DONE, (Settle("pe2"),))


def test_a_change_of_no_router_is_committed_at_once() -> None:
    state, commands = begin([])
    assert commands == (Decide(Decision.COMMITTED, ()),)
    done, left = step(state, Decided(Decision.COMMITTED))
    assert (done.phase, left) == (Phase.DONE, ())
