"""Traffic through a function in a namespace, on a node that is planned and written as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired
from srv6mgrd.proxy.programs import Programs
from tests.contract.proxy.network import FIRST, LAST, Network, declared

pytestmark = pytest.mark.contract

CASES = [
    (Behavior.END_AD, "ipv6"),
    (Behavior.END_AD, "ipv4"),
    (Behavior.END_AS, "ipv6"),
    (Behavior.END_AS, "ipv4"),
    (Behavior.END_AM, "ipv6"),
]


@pytest.fixture
def network(programs: Programs) -> Iterator[Network]:
    kernel = LinuxKernel(programs=programs)
    made = Network(kernel)
    try:
        made.build()
        yield made
    finally:
        made.take_down()
        kernel.close()


@pytest.mark.parametrize(("behavior", "inner"), CASES)
def test_there_and_on(network: Network, behavior: Behavior, inner: str) -> None:
    network.steer(inner, (FIRST, LAST[inner]))
    # The function's host stack reports its multicast groups now and then.
    network.declare(declared(behavior, inner, passes=("multicast",)))

    assert network.ping(inner) == 3

    counts = network.counts()
    assert (counts.to_packets, counts.from_packets, counts.errors) == (3, 3, 0)


@pytest.mark.parametrize("behavior", [Behavior.END_AD, Behavior.END_AS])
def test_frames_there_and_on(network: Network, behavior: Behavior) -> None:
    network.build_wire()
    network.steer_wire((FIRST, LAST["ethernet"]))
    network.declare(declared(behavior, "ethernet"))

    assert network.arrive_by_wire(3) == 3

    # Bridges have things of their own to say.
    assert network.counts().to_packets == 3
    assert network.counts().from_packets >= 3


def test_written_once(network: Network) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("2001:db8:9::/64", "multicast")))

    assert network.differing() == []


def test_nothing_stays(network: Network) -> None:
    network.declare(declared(Behavior.END_AD, "ipv6"))
    network.declare(Desired())

    assert network.differing() == []
    assert "bpf" not in network.run("tc filter show dev to-source ingress")
    assert "clsact" not in network.run("tc qdisc show")


def test_a_restart_goes_on_with_what_was_learned(network: Network, programs: Programs) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6"))
    assert network.ping("ipv6") == 3
    programs.close()

    assert network.differing() == []
    assert network.counts().to_packets == 3


@pytest.mark.parametrize(
    "harm",
    [
        "tc filter del dev to-source ingress prio 86",
        "tc qdisc del dev to-function clsact",
    ],
)
def test_repairs_what_was_detached(network: Network, harm: str) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6", passes=("multicast",)))
    network.run(harm)
    network.ping("ipv6", 1)
    assert network.counts().from_packets == 0

    assert network.repair() != []

    assert network.differing() == []
    assert network.ping("ipv6") == 3
    assert network.counts().from_packets == 3


def test_repairs_pins_without_forgetting(network: Network, programs: Programs) -> None:
    network.steer("ipv6", (FIRST, LAST["ipv6"]))
    network.declare(declared(Behavior.END_AD, "ipv6"))
    assert network.ping("ipv6") == 3
    network.run(f"rm -r {programs.folder}")

    network.repair()

    assert network.differing() == []
    assert network.counts().to_packets == 3
    assert network.ping("ipv6") == 3


def test_others_filters_stay(network: Network) -> None:
    network.run("tc qdisc add dev to-source clsact")
    network.run("tc filter add dev to-source ingress prio 9 bpf bytecode '1,6 0 0 0,' classid 1:1")
    before = network.run("tc filter show dev to-source ingress")
    found = declared(Behavior.END_AD, "ipv6")
    network.declare(found)
    network.declare(replace(found, sids={}))

    assert network.run("tc filter show dev to-source ingress") == before
