"""Findings count when they have lasted."""

from __future__ import annotations

from srv6mgrd.model.condition import ConditionType
from srv6mgrd.model.service import ServiceState
from srv6mgrd.service_state.finding import FIRST_CONTACT, Finding
from srv6mgrd.service_state.hold import HoldTimes
from srv6mgrd.service_state.judge import judge
from srv6mgrd.service_state.scope import Scope
from tests.unit.service_state.samples import DESIRED, HEALTHY


def finding(hold: float, **vrfs: ServiceState) -> Finding:
    return Finding(ConditionType.PATH_DOWN, "/path", "cause", "remedy", vrfs, hold=hold)


def test_one_that_waits_counts_after_its_time() -> None:
    holds, one = HoldTimes(), finding(2)
    held = holds.sort([one], 10)
    assert (held.active, held.waiting, held.due) == ((), (one,), 2)
    held = holds.sort([one], 11.5)
    assert (held.active, held.due) == ((), 0.5)
    held = holds.sort([one], 12)
    assert (held.active, held.waiting, held.due) == ((one,), (), None)


def test_one_that_was_away_waits_again() -> None:
    holds, one = HoldTimes(), finding(2)
    holds.sort([one], 10)
    holds.sort([], 11)
    assert holds.sort([one], 12).active == ()
    assert holds.sort([one], 14).active == (one,)
    assert holds.sort([], 15).active == ()


def test_one_that_counts_goes_on_whatever_its_time_is() -> None:
    holds, slow = HoldTimes(), finding(30)
    holds.sort([finding(0)], 10)
    assert holds.sort([slow], 11).active == (slow,)


def test_two_of_one_key_are_the_worse_one() -> None:
    down = finding(0, red=ServiceState.DOWN)
    degraded = finding(0, red=ServiceState.DEGRADED, blue=ServiceState.DEGRADED)
    (one,) = HoldTimes().sort([degraded, down], 10).active
    assert one.vrfs == {"red": ServiceState.DOWN, "blue": ServiceState.DEGRADED}


def test_before_its_first_contact_a_service_is_not_known_to_be_up() -> None:
    scope = Scope.of(DESIRED)
    waits = finding(FIRST_CONTACT, red=ServiceState.DOWN)
    found = judge(scope, HEALTHY, [], [waits, finding(1, blue=ServiceState.DOWN)])
    assert {name: v.state for name, v in found.vrfs.items()} == {
        "red": ServiceState.UNKNOWN,
        "blue": ServiceState.UP,
    }
