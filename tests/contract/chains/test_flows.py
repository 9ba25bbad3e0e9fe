"""Which path a flow takes, and that it stays there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_network

import pytest

from srv6mgrd.chains.adapter import ServiceChains
from srv6mgrd.chains.programs import ChainPrograms as Programs
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.chain.object import ServicePath
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chain_state import ChainDrops
from srv6mgrd.model.chains import ClassifierRule, FunctionState, Way
from tests.contract.chains.network import CHAIN, SITE, Network, everything, path, rules

pytestmark = pytest.mark.contract

UP, DRAINING, DOWN = FunctionState.UP, FunctionState.DRAINING, FunctionState.DOWN
FIREWALL, CACHE = path("firewall"), path("cache")
PORTS = range(20000, 20064)


def used(network: Network, paths: Iterable[ServicePath], ports: Iterable[int] = PORTS) -> list[int]:
    """Which of the paths each flow took, by its source port; a flow is a datagram."""
    found = []
    for port in ports:
        before = [network.on_path(one) for one in paths]
        network.send(Family.IPV6, port)
        after = [network.on_path(one) for one in paths]
        (taken,) = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if b > a] or [-1]
        found.append(taken)
    return found


def dropped(network: Network) -> ChainDrops:
    return network.kernel.chain_counts().drops[CHAIN, Way.FORWARD]


def test_flows_are_spread_and_stay(network: Network) -> None:
    paths = (FIREWALL, CACHE)
    network.declare(*paths, rules(everything()))

    before = used(network, paths)
    assert 16 < sum(before) < 48
    assert used(network, paths) == before

    # Draining moves no flow that is there, and new ones elsewhere.
    network.set_states({"cache": DRAINING})
    assert used(network, paths) == before
    assert set(used(network, paths, range(21000, 21016))) == {0}

    # Only flows of what is down move; those that moved stay.
    network.set_states({"cache": DOWN})
    assert set(used(network, paths)) == {0}
    network.set_states({"cache": UP})
    assert set(used(network, paths)) == {0}
    assert set(used(network, paths, range(22000, 22032))) == {0, 1}


def test_bypass_and_back(network: Network) -> None:
    bypass = path(preference=10)
    network.declare(FIREWALL, bypass, rules(everything()))

    assert used(network, (FIREWALL, bypass), PORTS[:2]) == [0, 0]
    network.set_states({"firewall": DOWN})
    assert used(network, (FIREWALL, bypass), PORTS[:2]) == [1, 1]
    network.set_states({"firewall": UP})
    assert used(network, (FIREWALL, bypass), PORTS[:2]) == [0, 0]


def test_nothing_works(network: Network) -> None:
    network.declare(FIREWALL, rules(everything()))
    network.set_states({"firewall": DOWN})

    assert used(network, [FIREWALL], PORTS[:3]) == [-1, -1, -1]

    assert dropped(network) == ChainDrops(unavailable=3)


def test_states_outlive_the_process(network: Network, programs: Programs) -> None:
    network.declare(FIREWALL, path(preference=10), rules(everything()))
    network.set_states({"firewall": DOWN, "other": DRAINING})

    kernel = LinuxKernel(chains=Programs(folder=programs.folder))
    try:
        assert kernel.function_states() == {"firewall": DOWN, "other": DRAINING}
        network.set_states({"other": UP}, kernel)
    finally:
        kernel.close()

    assert used(network, [FIREWALL], PORTS[:1]) == [-1]


def test_states_of_before_the_first_chain(network: Network) -> None:
    network.set_states({"firewall": DOWN})
    network.declare(FIREWALL, path(preference=10), rules(everything()))

    assert used(network, [FIREWALL], PORTS[:1]) == [-1]


def test_a_path_comes_and_goes(network: Network) -> None:
    network.declare(FIREWALL, rules(everything()))
    before = used(network, [FIREWALL], PORTS[:16])

    network.create(CACHE)
    assert used(network, [FIREWALL, CACHE], PORTS[:16]) == before
    assert 1 in used(network, [FIREWALL, CACHE], PORTS[16:48])

    network.delete(FIREWALL)
    assert set(used(network, [CACHE], PORTS[:16])) == {0}


def test_a_path_changes_in_place(network: Network) -> None:
    """With its flows and its counters."""
    network.declare(FIREWALL, rules(everything()))
    network.send(Family.IPV6, 20000)
    site = FIREWALL.segments[-1]

    network.replace(FIREWALL, changed := replace(FIREWALL, segments=(site,)))
    network.send(Family.IPV6, 20000)

    assert network.on_path(changed) == 2
    assert network.through(FIREWALL.segments[0]) == 1


def test_rules_are_exchanged(network: Network) -> None:
    """A flow is classified again; a rule that keeps its priority goes on counting."""
    first = rules(everything())
    network.declare(FIREWALL, first)
    network.send(Family.IPV6, 20000)

    second = rules(
        ClassifierRule(5, None, destination=ip_network("2001:db8:2::/64"), protocol=17),
        everything(),
    )
    network.replace(first, second)
    network.send(Family.IPV6, 20000)

    assert (network.by_rule(10), network.by_rule(5)) == (1, 1)
    assert network.on_path(FIREWALL) == 1
    network.replace(second, first)
    network.send(Family.IPV6, 20000)
    assert network.by_rule(10) == 2
    assert network.observed() >= {first, FIREWALL}


def test_a_process_that_died_before_its_paths_took_effect(
    network: Network, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    network.declare(FIREWALL, rules(everything()))
    with monkeypatch.context() as patched:
        patched.setattr(ServiceChains, "settle", lambda self: None)
        network.create(CACHE)

    kernel = LinuxKernel(chains=Programs(folder=programs.folder))
    try:
        network.set_states({}, kernel)
    finally:
        kernel.close()

    assert 1 in used(network, (FIREWALL, CACHE), PORTS[:16])


def test_no_packet_gets_past_rules_that_are_exchanged(network: Network) -> None:
    """New flows all the time, among rules that are many, so that entries of before are taken away
    while they are looked up."""
    others = [
        ClassifierRule(
            100 + n, None, source=ip_network((0x20010DB9 << 96 | (n + 1) << 64, 64 + n % 32))
        )
        for n in range(200)
    ]
    first, second = (rules(everything(), *others[n:]) for n in range(2))
    network.declare(FIREWALL, first)
    number = 0

    def send() -> None:
        nonlocal number
        with network.within("host"), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
            while not done.is_set():
                number += 1
                sender.sendto(b"", (SITE[Family.IPV6], 1 + number % 65535))

    done = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send)
        try:
            for _ in range(20):
                network.replace(first, second)
                network.replace(second, first)
        finally:
            done.set()
        sending.result()

    assert network.by_rule() == number
    assert network.on_path(FIREWALL) == number


REVERSE = [path(name, way=Way.REVERSE) for name in ("firewall", "cache")]
# By direction: what a connection of the host is, and what comes back of it.
BOTH = (
    ClassifierRule(1, CHAIN, source_ports=(9, 9), way=Way.REVERSE),
    everything(destination_ports=(9, 9)),
)


def both_ways(network: Network, port: int) -> tuple[int, int]:
    """Places of the paths of a connection; the host sends both its directions."""
    ahead = used(network, (FIREWALL, CACHE), [port])
    before = [network.on_path(one) for one in REVERSE]
    network.send_back(port)
    after = [network.on_path(one) for one in REVERSE]
    (back,) = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if b > a]
    return ahead[0], back


def test_both_directions_have_the_same_functions(network: Network) -> None:
    network.declare(FIREWALL, CACHE, *REVERSE, rules(*BOTH))
    found = [both_ways(network, port) for port in PORTS[:32]]
    assert set(found) == {(0, 0), (1, 1)}


def test_what_comes_back_late_follows(network: Network) -> None:
    """Where the first direction went before functions changed, or moved to meanwhile."""
    network.declare(FIREWALL, CACHE, *REVERSE, rules(*BOTH))
    before = used(network, (FIREWALL, CACHE), PORTS[:16])
    network.set_states({"cache": DRAINING})
    assert [both_ways(network, port) for port in PORTS[:16]] == [(n, n) for n in before]

    # Only the first direction has packets while it is down.
    network.set_states({"cache": DOWN})
    assert set(used(network, (FIREWALL, CACHE), PORTS[:16])) == {0}
    network.set_states({"cache": UP})
    assert {both_ways(network, port) for port in PORTS[:16]} == {(0, 0)}
