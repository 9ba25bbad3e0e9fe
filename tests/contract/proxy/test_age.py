"""When a chain makes way for another one, and several CPUs that learn at once."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest
from scapy.layers.inet6 import IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import Ether

from tests.contract.proxy.conftest import Node, proxy
from tests.contract.proxy.packets import FRAME, LAST, NEXT, REDIRECT, SID, Runner, inner6, routed

# linux/time.h
_CLOCK_MONOTONIC_COARSE = 6
AGE = 1
OTHER = "fcbb:0:9::"
# The first and the second chain, as they are on a packet that returns.
FIRST, SECOND = [LAST, NEXT, SID], [OTHER, SID]


def now() -> float:
    """The clock of bpf_ktime_get_coarse_ns, which goes on with the kernel's ticks."""
    return time.clock_gettime(_CLOCK_MONOTONIC_COARSE)


def restored(node: Node) -> list[str]:
    _, frame = node.back(FRAME / inner6())
    segments: list[str] = Ether(frame)[IPv6ExtHdrSegmentRouting].addresses
    return segments


def takes_over_at(node: Node, earliest: float, latest: float) -> None:
    """Offer the second chain until it is the one; not before ``earliest``, nor when a packet of it
    came at ``latest`` or later."""
    new = bytes(routed(inner6(), (SID, OTHER)))
    while True:
        before = now()
        node.toward(new)
        after = now()
        if restored(node) == SECOND:
            break
        assert before < latest
    assert after >= earliest


def test_a_new_chain_takes_over_when_age_has_passed(node: Node) -> None:
    node.declare(proxy(age=AGE))
    before = now()
    node.toward(routed(inner6()))

    takes_over_at(node, before + AGE, now() + AGE)


def test_age_begins_again_with_a_packet_of_the_same_chain(node: Node) -> None:
    """The first one after it has passed; so a chain that is in use is looked at once in an age."""
    node.declare(proxy(age=AGE))
    same = bytes(routed(inner6()))
    node.toward(same)
    first = last = node.chain()[2]
    # The time that is reported is rounded.
    while last - first < AGE * 10**9 // 2:
        before = now()
        node.toward(same)
        after = now()
        last = node.chain()[2]

    takes_over_at(node, before + AGE, after + AGE)


def test_several_cpus_learn_at_once(node: Node) -> None:
    """With age 0 two chains replace each other all the time. Each packet that returns carries one
    of them, whole, and none is dropped."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    node.declare(proxy())
    node.toward(routed(inner6()))
    done = Event()

    def learn(cpu: int, packet: bytes) -> int:
        os.sched_setaffinity(0, {cpu})
        mine, sent = replace(node, runner=Runner()), 0
        while not done.is_set():
            assert mine.toward(packet)[0] == REDIRECT
            sent += 1
        return sent

    chains = (bytes(routed(inner6())), bytes(routed(inner6(), (SID, OTHER))))
    with ThreadPoolExecutor(len(chains)) as pool:
        learners = [pool.submit(learn, *pair) for pair in zip(cpus, chains, strict=False)]
        try:
            seen = [restored(node) for _ in range(2000)]
        finally:
            done.set()
    sent = sum(learner.result() for learner in learners)

    assert FIRST in seen
    assert SECOND in seen
    assert all(segments in (FIRST, SECOND) for segments in seen)
    counts = node.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (sent + 1, 2000, 0)
