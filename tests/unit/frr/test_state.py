"""A daemon that hangs is noticed while it is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import IPv6Address

import pytest

from srv6mgrd.frr.blocks import BGPD
from srv6mgrd.frr.session_states import FAILED, SUMMARY
from srv6mgrd.frr.state import FrrState
from srv6mgrd.frr.vty import VtyError
from srv6mgrd.service_state.evidence import SPEAKER
from tests.unit.service_state.samples import DESIRED

COUNT = "show ip route vrf all summary json"
OF_RED = "show ip route vrf red bgp json"


class Hanging:
    """FRR that answers nothing, and takes its time."""

    def __init__(self) -> None:
        self.time = 0.0
        self.seconds = 0.0
        self.state = FrrState(self, lambda: self.time)
        # What is known while it is asked.
        self.seen: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        self.time += self.seconds
        self.seen.append(self.problem)
        raise VtyError(110, f"{daemon} gave no answer")

    @property
    def problem(self) -> str:
        found = self.state.bgp_evidence
        return found.problem if found is not None else ""

    def ask(self, seconds: float) -> list[str]:
        self.seconds = seconds
        self.seen.clear()
        self.state.ask(DESIRED)
        return self.seen


class Answering:
    """FRR with one session; the summary counts packets."""

    def __init__(self) -> None:
        self.time, self.seconds = 0.0, 0.1
        self.state = FrrState(self, lambda: self.time)
        self.asked: list[str] = []
        self.packets = 0
        self.session = "Established"
        self.routes = 3
        self.away = ""
        self.broken = False
        self.daemons: set[str] = set()

    def show(self, daemon: str, command: str) -> str:
        self.time += self.seconds
        self.asked.append(command)
        self.daemons.add(daemon)
        if self.broken and command == SUMMARY:
            raise RuntimeError("no answer that is expected")
        if daemon == self.away:
            raise VtyError(111, f"{daemon} does not run")
        peers = {"2001:db8::2": {"state": self.session, "msgRcvd": self.packets}}
        if command == SUMMARY:
            self.packets += 1
            return json.dumps({"default": {"ipv4Vpn": {"peers": peers}}})
        if command == COUNT:
            of_red = {"type": "ibgp", "rib": self.routes, "fib": self.routes}
            return json.dumps({"red": {"routes": [of_red]}})
        if command == OF_RED:
            hop = {"ip": "2001:db8::2", "seg6": {"segs": "fcbb:0:2:64::"}}
            return json.dumps({"10.2.0.0/24": [{"nexthops": [hop]}]})
        if command == FAILED and self.session != "Established":
            return json.dumps({"default": {"ipv4Vpn": {"peers": {"2001:db8::2": {}}}}})
        return "{}"

    def ask(self) -> list[str]:
        self.asked.clear()
        self.state.ask(DESIRED)
        return self.asked

    @property
    def next_hops(self) -> Mapping[IPv6Address, frozenset[str]]:
        assert self.state.bgp_evidence is not None
        return self.state.bgp_evidence.next_hops

    @property
    def count(self) -> int:
        found = self.state.bgp_evidence
        assert found is not None
        return found.routes["red"].ipv4

    @property
    def is_established(self) -> bool:
        found = self.state.bgp_evidence
        assert found is not None
        return found.sessions[SPEAKER, "2001:db8::2"].is_established


def test_the_summary_of_sessions_is_not_asked_for_while_nothing_changes() -> None:
    frr = Answering()
    assert SUMMARY in frr.ask()
    assert SUMMARY not in frr.ask()
    frr.session = "Active"
    assert SUMMARY in frr.ask()
    assert not frr.is_established
    assert SUMMARY not in frr.ask()
    frr.time += 30
    assert SUMMARY in frr.ask()
    # What is asked for quickly is asked as a whole each time.
    frr.seconds = 0.0
    frr.time += 30
    assert SUMMARY in frr.ask()
    assert SUMMARY in frr.ask()


def test_routes_are_counted_again_when_they_are_in_doubt() -> None:
    frr = Answering()
    assert COUNT in frr.ask()
    frr.routes = 2
    assert COUNT not in frr.ask()
    assert frr.count == 3
    frr.state.doubt_routes()
    assert COUNT in frr.ask()
    assert frr.count == 2
    assert COUNT not in frr.ask()


def test_a_whole_round_leaves_no_doubt() -> None:
    frr = Answering()
    frr.ask()
    frr.state.doubt_routes()
    frr.time += 30
    assert COUNT in frr.ask()
    assert COUNT not in frr.ask()


def test_counting_takes_a_small_part_of_the_time() -> None:
    frr = Answering()
    frr.ask()
    counted = 0
    began = frr.time
    while frr.time < began + 15:
        frr.state.doubt_routes()
        counted += frr.ask().count(COUNT)
        frr.time += 1
    # Two commands of 0.1 s each are 4 s apart.
    assert counted in (3, 4)


def test_next_hops_are_read_when_they_are_wanted() -> None:
    frr = Answering()
    frr.routes = 0
    assert OF_RED not in frr.ask()
    # Routes that came after the last whole round count.
    frr.routes = 3
    frr.state.read_next_hops()
    assert OF_RED in frr.ask()
    found = {IPv6Address("fcbb:0:2:64::"): frozenset({"2001:db8::2"})}
    assert frr.next_hops == found
    assert OF_RED not in frr.ask()
    # A round knows nothing of them, and leaves them.
    frr.session = "Active"
    assert SUMMARY in frr.ask()
    assert frr.next_hops == found
    frr.state.read_next_hops()
    frr.time += 30
    asked = frr.ask()
    assert SUMMARY in asked
    assert OF_RED in asked


def test_a_daemon_that_comes_back_is_seen_at_once() -> None:
    frr = Answering()
    frr.ask()
    others = {daemon for daemon in frr.daemons if daemon != BGPD}
    assert others
    for frr.away in others:
        frr.time += 30
        assert SUMMARY in frr.ask()
        frr.away = ""
        assert SUMMARY in frr.ask()
        assert SUMMARY not in frr.ask()


def test_after_a_round_that_failed_all_is_asked_again() -> None:
    """Neither what was known before nor a part of the failed round is taken for the present."""
    frr = Answering()
    frr.ask()
    frr.session, frr.broken = "Active", True
    with pytest.raises(RuntimeError):
        frr.ask()
    frr.broken = False
    assert SUMMARY in frr.ask()
    assert SUMMARY not in frr.ask()


def test_a_daemon_that_hangs_is_named_before_it_is_given_up() -> None:
    frr = Hanging()
    assert not any(frr.ask(0.0))
    began = frr.problem
    assert "gave no answer" in began
    found = frr.ask(2.5)
    assert found[0].partition("; ")[0].endswith(" does not answer")
    assert frr.problem == began
    # It hung; a round does not take as long.
    assert any("does not answer" in problem for problem in frr.ask(2.5))


def test_a_round_that_takes_as_long_as_the_one_before_is_no_silence() -> None:
    frr = Hanging()
    frr.ask(1.0)
    frr.ask(1.0)
    assert not any("does not answer" in problem for problem in frr.ask(1.5))
