"""Echoes from an address that this router does not have."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

import pytest

from lab.waiting import wait_until
from srv6mgrd.kernel.echoes import Probe, Sockets
from tests.contract.kernel.conftest import Run

NEIGHBOR = IPv6Address("2001:db8:1::2")
USUAL = Probe(NEIGHBOR)
OF_LOCATOR = Probe(NEIGHBOR, "MAIN", IPv6Address("fcbb:0:1:ffff::1"))


@pytest.fixture
def neighbor(run: Run) -> Iterator[Run]:
    """Beside this router, in a namespace; it has no route to the locator yet."""
    run("ip netns add echoes")
    run("ip link add to-neighbor type veth peer name to-us netns echoes")
    run("ip link set to-neighbor up")
    run("ip netns exec echoes ip link set to-us up")
    run("ip -6 address add 2001:db8:1::1/64 dev to-neighbor nodad")
    run(f"ip netns exec echoes ip -6 address add {NEIGHBOR}/64 dev to-us nodad")
    # As the kernel has it for a locator.
    run("ip -6 route add unreachable fcbb:0:1::/48")
    yield run
    run("ip netns del echoes")


def test_the_answer_to_the_locator_shows_the_way_back(neighbor: Run) -> None:
    echoes = Sockets()
    wait_until(lambda: echoes.answered([USUAL]) == {USUAL})
    assert echoes.answered([USUAL, OF_LOCATOR]) == {USUAL}
    neighbor("ip netns exec echoes ip -6 route add fcbb:0:1::/48 via 2001:db8:1::1")
    assert echoes.answered([USUAL, OF_LOCATOR]) == {USUAL, OF_LOCATOR}


def test_without_a_route_nothing_is_answered(namespace: None) -> None:
    assert Sockets().answered([USUAL, OF_LOCATOR]) == set()
