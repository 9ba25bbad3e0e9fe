"""From evidence to the state of a path."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.model.path_measurement import Session, Thresholds
from srv6mgrd.stamp.path_state import Evidence, Judgement, PathState, Problem, judge
from srv6mgrd.stamp.statistics import Delay, Jitter, Measurement
from srv6mgrd.stamp.tlvs import TlvType

S = 1_000_000_000
SESSION = Session("pe2", IPv6Address("2001:db8::2"))
MEASURED = Measurement(
    0, 1000, 980, Delay(1_000_000, 2_000_000, 5_000_000, 9_000_000), Jitter(10_000, 400_000)
)


HEARD = Evidence(was_heard=True)


def test_nothing_is_known_before_the_first_answer() -> None:
    assert judge(SESSION, Evidence(), S) == Judgement(PathState.UNKNOWN, "no answer yet")


def test_up() -> None:
    assert judge(SESSION, HEARD, 2 * S) == Judgement(PathState.UP)


@pytest.mark.parametrize("was_heard", [False, True])
def test_down_after_silence(was_heard: bool) -> None:
    silent = Evidence(was_heard, unanswered=S)
    assert judge(SESSION, silent, 3 * S - 1).state is not PathState.DOWN
    found = judge(SESSION, silent, 3 * S)
    assert found.state is PathState.DOWN
    assert found.reason == "no answer: the path, or the reflector at its end, does not work"


def test_it_is_no_silence_when_nothing_was_sent() -> None:
    """srv6-stampd did not get the CPU, or was stopped: the last packet was answered."""
    assert judge(SESSION, HEARD, 60 * S).state is PathState.UP


def test_down_says_what_the_system_said() -> None:
    problem = Problem("Network is unreachable", seen=S)
    found = judge(SESSION, Evidence(unanswered=0, problem=problem), 2 * S)
    assert found == Judgement(PathState.DOWN, "Network is unreachable")


@pytest.mark.parametrize(("interval", "lasts"), [(100, 5 * S), (2_000, 10 * S)])
def test_a_problem_that_is_not_seen_again_is_no_reason(interval: int, lasts: int) -> None:
    """The reflector was started, with another key: ICMP errors end and answers do not begin."""
    session = replace(SESSION, interval=interval)
    failing = Evidence(unanswered=0, problem=Problem("nothing listens", seen=20 * S))
    assert judge(session, failing, 20 * S + lasts - 1).reason == "nothing listens"
    assert judge(session, failing, 20 * S + lasts).reason.startswith("no answer:")


def test_rare_packets_take_longer_to_be_missed() -> None:
    rare, silent = replace(SESSION, interval=2_000), replace(HEARD, unanswered=0)
    assert judge(rare, silent, 10 * S - 1).state is PathState.UP
    assert judge(rare, silent, 10 * S).state is PathState.DOWN


def test_what_the_reflector_does_not_do_degrades() -> None:
    session = replace(SESSION, node_address=IPv6Address("2001:db8::9"))
    found = judge(session, replace(HEARD, unused=frozenset({TlvType.RETURN_PATH})), S)
    assert found.state is PathState.DEGRADED
    assert found.reason == "the reflector does not send its answers through the return path"
    other = frozenset({TlvType.DESTINATION_NODE_ADDRESS})
    found = judge(session, replace(HEARD, unused=other), S)
    assert found.reason == "the router that answers does not say that it has 2001:db8::9"


@pytest.mark.parametrize(
    ("thresholds", "reason"),
    [
        (Thresholds(delay=4_999), "99% of delay 5000 us exceeds 4999 us"),
        (Thresholds(jitter=300), "99% of jitter 400 us exceeds 300 us"),
        (Thresholds(loss=1.5), "loss 2.0% exceeds 1.5%"),
        (Thresholds(loss=0.0), "loss 2.0% exceeds 0%"),
        (Thresholds(delay=5_000, jitter=400, loss=2.1), ""),
        (Thresholds(), ""),
    ],
)
def test_thresholds(thresholds: Thresholds, reason: str) -> None:
    session = replace(SESSION, thresholds=thresholds)
    found = judge(session, replace(HEARD, measurement=MEASURED), 2 * S)
    assert found.state is (PathState.DEGRADED if reason else PathState.UP)
    assert found.reason == reason


def test_an_interval_without_answers_has_loss_alone() -> None:
    session = replace(SESSION, thresholds=Thresholds(1, 1, 50.0))
    lost = Measurement(0, 10, 0)
    found = judge(session, replace(HEARD, measurement=lost), 2 * S)
    assert found.reason == "loss 100.0% exceeds 50%"
