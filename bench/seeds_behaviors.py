"""Packets per second of the kernel's behaviors, as the commit messages of End.DT46 and of counters
have them: on a kernel with both changes (LAB_KERNEL=upstream), and on one without (vanilla).

Each scenario has a SID of its own and all are installed at once. Slices of a few milliseconds run
in turn, to and fro, so load on the machine slows all alike; a round is one slice of each.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench import frames
from bench.generator import Generator
from bench.proxies_network import LAST, Node, prefix
from bench.report import Goal, percentile
from bench.seeds_boots import NEWEST
from bench.seeds_runs import Runs, read

PLAIN, DX2, DX2_COUNTS = "IPv6", "End.DX2", "End.DX2 count"
DT4, DT6, DT46_IPV4, DT46_IPV6 = "End.DT4", "End.DT6", "End.DT46 IPv4", "End.DT46 IPv6"
_PINS = Path("/sys/fs/bpf")
_DX2 = "End.DX2 oif eth1"
# What is behind the SID of a scenario, and what is in the packets to it.
WITHOUT_VRF = {DX2: (_DX2, "ethernet"), DX2_COUNTS: (f"{_DX2} count", "ethernet")}
WITH_VRF = {
    DT4: ("End.DT4 vrftable 10", "ipv4"),
    DT6: ("End.DT6 vrftable 10", "ipv6"),
    DT46_IPV4: ("End.DT46 vrftable 10", "ipv4"),
    DT46_IPV6: ("End.DT46 vrftable 10", "ipv6"),
}


# In the lab, whose kernel knows CPU time only in ticks: the time of day, of short slices.
ROUNDS, PACKETS = 2_000, 1_000
# Other load slows slices and speeds none up: the rate that one slice in ten exceeds.
_UNDISTURBED = 90
# As printed in the commit messages: 684.70 of 690.70, and 711.69 of 722.22 kpps; counters cost at
# most half a percent, and what is new costs the rest as little.
DT46_OF_DT6, DT46_OF_DT4, UNCHANGED = 0.991, 0.985, 0.995


def in_lab(kernel: str) -> Runs:
    """All scenarios that the kernel has."""
    scenarios = WITHOUT_VRF | WITH_VRF
    if kernel == "vanilla":
        scenarios = {name: scenarios[name] for name in (DX2, DT4, DT6)}
    return measure(scenarios, ROUNDS, PACKETS, time.monotonic_ns)


def goals() -> Iterator[Goal]:
    patched, vanilla = read("behaviors", "upstream"), read("behaviors", "vanilla")
    for kernel, boots in (("patched", patched), ("vanilla", vanilla)):
        for name in boots[0]:
            of_boots = [percentile(runs[name], _UNDISTURBED) for runs in boots]
            yield scenario(f"End.DT46 and counters: {name}, {kernel}", of_boots)
        for name in list(boots[0])[1:]:
            shares = _beside_plain(boots, name)
            title = (
                f"as parts of {PLAIN}: {name}, {kernel} (std. dev. {statistics.stdev(shares):.3f})"
            )
            yield Goal(title, shares, [], None, "", of="mean")
    # Where functions begin decides about as much as what is compared, so also with those aligned.
    for kernel, boots in (("lab's kernel", read("behaviors", NEWEST)), ("aligned", patched)):
        for name, ours, peer, goal in (
            ("End.DT46: IPv6 beside End.DT6", DT46_IPV6, DT6, DT46_OF_DT6),
            ("End.DT46: IPv4 beside End.DT4", DT46_IPV4, DT4, DT46_OF_DT4),
            ("counters: on beside off", DX2_COUNTS, DX2, UNCHANGED),
        ):
            runs = _put_together(boots, ours), _put_together(boots, peer)
            yield Goal(f"{name}, {kernel}", *runs, goal, "pps", more=True, of="rounds")
    for text, name in (("End.DT46", DT6), ("End.DT46", DT4), ("counters", DX2)):
        runs = _beside_plain(patched, name), _beside_plain(vanilla, name)
        title = f"{text}: {name}, patched beside vanilla, as parts of {PLAIN}"
        yield Goal(title, *runs, UNCHANGED, "", more=True, of="rounds")


def scenario(name: str, runs: list[float]) -> Goal:
    """A line for itself: mean of runs, and standard deviation in its name."""
    deviation = statistics.stdev(runs)
    return Goal(f"{name} (std. dev. {deviation:,.0f} pps)", runs, [], None, "pps", of="mean")


def _put_together(boots: list[Runs], name: str) -> list[float]:
    return [rate for runs in boots for rate in runs[name]]


def _beside_plain(boots: list[Runs], name: str) -> list[float]:
    """One of each boot: two kernels never run at the same time, but forwarding is the same in
    both."""
    return [
        statistics.median(rate / plain for rate, plain in zip(runs[name], runs[PLAIN], strict=True))
        for runs in boots
    ]


def measure(
    scenarios: Mapping[str, tuple[str, str]],
    rounds: int,
    packets: int,
    clock: Callable[[], int] = time.thread_time_ns,
) -> Runs:
    """Slices of so many packets. PLAIN comes first: packets in no tunnel, which are forwarded."""
    with contextlib.ExitStack() as stack:
        generator = Generator(_PINS / f"bench-{os.getpid()}", clock)
        stack.callback(generator.close)
        node = Node("behaviors", generator.counter)
        stack.callback(node.close)
        if scenarios.keys() & WITH_VRF.keys():
            _build_vrf(node)
        sent = {PLAIN: frames.plain(LAST)}
        for sid, (name, (behavior, inner)) in enumerate(scenarios.items(), 1):
            node.on(node.name, f"ip -6 route add {prefix(sid)} encap seg6local action {behavior}"
                               " dev eth0")  # fmt: skip
            sent[name] = frames.packet(inner, last=True, sid=sid)
        runs: Runs = {name: [] for name in sent}
        with node.entered():
            index = socket.if_nametoindex("eth0")
            for frame in sent.values():
                generator.run(index, frame, packets)
            for number in range(rounds):
                # What comes after which other one does not always do so.
                for name in list(sent)[:: 1 if number % 2 else -1]:
                    spent, arrived = generator.run(index, sent[name], packets)
                    # Neighbor discovery may add one.
                    if arrived < packets:
                        raise RuntimeError(f"{name}: {packets - arrived} of {packets} packets lost")
                    runs[name].append(1e9 / spent)
    return runs


def _build_vrf(node: Node) -> None:
    """A VRF whose routes lead to where packets end."""
    node.on(node.name, "sysctl -qw net.vrf.strict_mode=1")
    node.on(node.name, "ip link add red type vrf table 10")
    node.on(node.name, "ip link set red up")
    node.on(node.name, "ip addr add 10.0.11.1/24 dev eth1")
    neighbor = "$(cat /sys/class/net/eth1/address)"
    node.on(node.name, f"sh -c 'ip neigh add 10.0.11.2 lladdr {neighbor} dev eth1 nud permanent'")
    node.on(node.name, "ip route add 10.2.0.0/16 via 10.0.11.2 dev eth1 table 10")
    node.on(node.name, "ip -6 route add 2001:db8:200::/48 via 2001:db8:b::2 dev eth1 table 10")
