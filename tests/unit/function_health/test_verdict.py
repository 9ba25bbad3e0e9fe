"""What results of health checks say of a function."""

from __future__ import annotations

from srv6mgrd.function_health.verdict import FunctionHistory, Verdict
from srv6mgrd.model.chains import FunctionState, HealthCheck

RULES = HealthCheck(failures=3, successes=2)
UP = Verdict()


def _after(*results: str | None, drain: bool = False) -> FunctionState:
    history = FunctionHistory()
    for result in results:
        history.add("ipv4 forward", result, RULES)
    return history.verdict(drain=drain).state


def test_it_is_down_after_so_many_failures_in_a_row() -> None:
    assert _after(None, "lost", "lost") is FunctionState.UP
    assert _after(None, "lost", "lost", "lost") is FunctionState.DOWN
    assert _after(None, "lost", "lost", None, "lost", "lost") is FunctionState.UP


def test_it_is_up_after_so_many_successes_in_a_row() -> None:
    down = (None, "lost", "lost", "lost")
    assert _after(*down, None) is FunctionState.DOWN
    assert _after(*down, None, "lost", None) is FunctionState.DOWN
    assert _after(*down, None, None) is FunctionState.UP


def test_the_first_success_is_enough() -> None:
    assert _after(None) is FunctionState.UP


def test_one_that_never_answered_is_down_as_any() -> None:
    assert _after("lost", "lost") is FunctionState.UP
    assert _after("lost", "lost", "lost") is FunctionState.DOWN


def test_a_link_that_is_down_is_certain() -> None:
    history = FunctionHistory()
    history.add("ipv4 forward", "interface fw is down", RULES, at_once=True)
    assert history.verdict(drain=False) == Verdict(
        FunctionState.DOWN, "ipv4 forward: interface fw is down"
    )


def test_one_check_is_enough_to_be_down() -> None:
    history = FunctionHistory()
    history.add("ipv4 forward", None, RULES)
    for _ in range(3):
        history.add("ipv6 forward", "lost", RULES)
    assert history.verdict(drain=False).reason == "ipv6 forward: lost"
    history.keep(["ipv4 forward"])
    assert history.verdict(drain=False) == UP


def test_draining_yields_to_being_down() -> None:
    assert _after(None, drain=True) is FunctionState.DRAINING
    assert _after("x", "x", "x", drain=True) is FunctionState.DOWN


def test_the_delay_is_that_of_all_checks() -> None:
    history = FunctionHistory()
    assert history.delay is None
    history.took("ipv4 forward", 100)
    history.took("ipv6 forward", 300)
    assert history.delay == 200
    history.took("ipv6 forward", 400)
    assert history.delay == 205
