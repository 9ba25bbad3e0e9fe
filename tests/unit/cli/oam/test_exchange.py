"""Probes and their answers: matched, timed, and given up in time."""

import errno
import os
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from srv6mgrd.cli.oam.exchange import Exchange, Shot
from srv6mgrd.cli.oam.probe import Echo, Loop
from srv6mgrd.cli.oam.reply import Kind, Reply
from srv6mgrd.cli.oam.rounds import Leg, Timing, rounds, times
from tests.fakes.oam_network import FakeNetwork

HERE, SID = IPv6Address("2001:db8::1"), IPv6Address("fcbb:0:3::")
ECHO, LOOP = Echo(HERE, (SID,)), Loop(HERE, (SID,))
IDENT = 77


def answer(data, kind=Kind.ECHO_REPLY):
    """To a probe without data: the echo is at its end."""
    return Reply(kind, SID, int.from_bytes(data[-4:-2]), int.from_bytes(data[-2:]))


def has_srh(data):
    return data[6] == 43


def run(network, *shots, interval=0.0, timeout=1.0):
    return list(Exchange(network, IDENT, network.clock).run(shots, interval, timeout))


def test_each_probe_has_its_answer():
    network = FakeNetwork(lambda data: [answer(data)])
    outcomes = run(network, Shot(ECHO), Shot(ECHO), interval=0.5)
    assert [one.arrived for one in outcomes] == [True, True]
    assert [one.seconds for one in outcomes] == pytest.approx([0.001, 0.001])
    assert network.now >= 0.5


def test_what_is_not_answered_is_given_up_in_time():
    network = FakeNetwork(lambda data: [])
    (outcome,) = run(network, Shot(ECHO), timeout=0.3)
    assert (outcome.reply, outcome.problem) == (None, "")
    assert network.now == pytest.approx(0.3)


def test_answers_to_others_and_duplicates_are_ignored():
    def answering(data):
        ours = answer(data)
        return [replace(ours, ident=1), replace(ours, sequence=999), ours, ours]

    outcomes = run(FakeNetwork(answering), Shot(ECHO), Shot(ECHO))
    assert [one.arrived for one in outcomes] == [True, True]


def test_a_request_to_ourselves_is_no_answer():
    network = FakeNetwork(lambda data: [answer(data, Kind.RETURNED), answer(data)])
    (outcome,) = run(network, Shot(ECHO))
    assert outcome.reply.kind is Kind.ECHO_REPLY


def test_what_cannot_be_sent_says_why():
    problem = OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
    (outcome,) = run(FakeNetwork(lambda data: [], problem=problem), Shot(ECHO))
    assert outcome.problem == "Network is unreachable"


def test_the_form_that_arrives_first_stays():
    def answering(data):
        return [answer(data, Kind.RETURNED)] if has_srh(data) else []

    network = FakeNetwork(answering)
    leg = Leg((ECHO, LOOP))
    exchange = Exchange(network, IDENT, network.clock)
    timing = Timing(3, 1.0, 1.0)
    found = list(rounds(exchange, [leg], timing, network.clock, network.sleep))
    assert [number for number, _ in found] == [1, 2, 3]
    assert leg.form is LOOP
    assert [has_srh(data) for data in network.sent] == [False, True, True, True]
    assert times(leg.outcomes).middle == pytest.approx(0.001)


def test_what_a_router_says_counts_more_than_silence():
    def answering(data):
        return [] if has_srh(data) else [answer(data, Kind.UNREACHABLE)]

    network = FakeNetwork(answering)
    outcome = Leg((ECHO, LOOP)).probe(Exchange(network, IDENT, network.clock), 1.0)
    assert outcome.reply.kind is Kind.UNREACHABLE
    assert not outcome.arrived
