"""Packets of other implementations, recorded: stamp-suite 0.8.0 and twampy 1.3.2.

``recorded.json`` has what their reflectors answered to requests of ours, and what their senders
sent to our reflector, which both took the answers of (docs/path-measurement.md).
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from srv6mgrd.stamp import packet
from srv6mgrd.stamp.tlvs import Policy

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
REFLECTORS, SENDERS = RECORDED["reflectors"], RECORDED["senders"]
DAY_NS = 86_400_000_000_000


@pytest.mark.parametrize("name", REFLECTORS)
def test_their_answers_are_read(name: str) -> None:
    for exchange in REFLECTORS[name]:
        request = bytes.fromhex(exchange["request"])
        found = packet.decode_reflected(bytes.fromhex(exchange["answer"]))
        assert found.sender_sequence == int.from_bytes(request[:4])
        assert packet.to_ntp(found.sender_timestamp) == int.from_bytes(request[4:12])
        assert found.session_id in (0, packet.accept(request))
        assert 0 <= found.timestamp - found.received < DAY_NS


def test_a_reflector_that_counts() -> None:
    """stamp-suite counts answers without the one at hand; differences are the same."""
    counters = [
        packet.decode_reflected(bytes.fromhex(exchange["answer"])).answered.counters
        for exchange in REFLECTORS["stamp-suite, stateless"]
    ]
    for before, after in pairwise(counters):
        assert before is not None
        assert after is not None
        assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 1]


@pytest.mark.parametrize("name", sorted(REFLECTORS.keys() - {"stamp-suite, stateless"}))
def test_reflectors_that_do_not_count(name: str) -> None:
    for exchange in REFLECTORS[name]:
        found = packet.decode_reflected(bytes.fromhex(exchange["answer"]))
        assert found.answered.counters is None


@pytest.mark.parametrize("name", SENDERS)
def test_their_requests_are_answered(name: str) -> None:
    for recorded in SENDERS[name]:
        request = bytes.fromhex(recorded)
        packet.accept(request)
        answer = packet.reflect(request, 1, 64, Policy((5, 5))).pack(2)
        assert len(answer) == len(request)
        assert packet.decode_reflected(answer).sender_sequence == int.from_bytes(request[:4])


def test_a_sender_that_counts() -> None:
    for recorded in SENDERS["stamp-suite"]:
        answer = packet.reflect(bytes.fromhex(recorded), 1, 64, Policy((5, 4))).pack(2)
        counters = packet.decode_reflected(answer).answered.counters
        assert counters is not None
        assert (counters.received, counters.answered) == (5, 4)
