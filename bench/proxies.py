"""Service proxies beside plain ``End``: CPU time of a packet through a function and on.

The peer is what the proxies would replace: a function that knows SRv6 itself (End in its network
namespace), with this node forwarding to it and back, in a namespace that never had an IPv6 rule.
One core, packets of 154 bytes made in the kernel and counted where they end, scenarios in turn.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from bench.frames import packet
from bench.generator import Generator
from bench.proxies_network import NEXT_HOPS, Installed, Node, declared, link, prefix
from bench.report import Goal, Report
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.proxy.object import (
    BACK_FUNCTION,
    TOWARD_FUNCTION,
    ProxyEntry,
    ProxyHook,
    ProxyPrograms,
)
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.plan.actions import Create
from srv6mgrd.proxy.programs import Programs

ROUNDS, PACKETS, WARM = 30, 50_000, 5_000
MANY = 1000
# The paper's numbers of functions, and ours.
RULES = (80, 160, MANY)
PINS = Path("/sys/fs/bpf")


@dataclass(slots=True)
class Scenario:
    """One way of a packet. ``prepare`` is called in the node's namespace before each round."""

    name: str
    node: Node
    prepare: Callable[[], object]
    inner: str = "ipv6"
    last: bool = False
    runs: list[float] = field(default_factory=list)
    lost: int = 0

    def measure(self, generator: Generator, packets: int) -> None:
        frame = packet(self.inner, last=self.last)
        with self.node.entered():
            self.prepare()
            index = socket.if_nametoindex("eth0")
            generator.run(index, frame, WARM)
            spent, arrived = generator.run(index, frame, packets)
        self.runs.append(spent)
        self.lost += packets - arrived


class Bench:
    """Nodes, and scenarios on them."""

    def __init__(self, open_: contextlib.ExitStack, generator: Generator) -> None:
        self._open = open_
        self._number = 0
        self.generator = generator
        self.scenarios: list[Scenario] = []

    def node(self, name: str) -> Node:
        made = Node(name, self.generator.counter)
        self._open.callback(made.close)
        return made

    def kernel(self, node: Node) -> LinuxKernel:
        self._number += 1
        programs = Programs(folder=PINS / f"bench-{os.getpid()}-{self._number}")
        with node.entered():
            kernel = LinuxKernel(programs=programs)
        self._open.callback(programs.remove)
        self._open.callback(kernel.close)
        return kernel

    def add(
        self,
        name: str,
        node: Node,
        prepare: Callable[[], object],
        inner: str = "ipv6",
        *,
        last: bool = False,
    ) -> Scenario:
        self.scenarios.append(Scenario(name, node, prepare, inner, last))
        return self.scenarios[-1]

    def run(self, packets: int = PACKETS, rounds: int = ROUNDS) -> None:
        """``packets`` of each scenario in each round."""
        for number in range(rounds):
            print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
            # To and fro, so that no server always runs after the same other one.
            for scenario in self.scenarios[:: 1 if number % 2 else -1]:
                scenario.measure(self.generator, packets)
        print(file=sys.stderr)
        for scenario in self.scenarios:
            low, high = min(scenario.runs), max(scenario.runs)
            print(f"  {scenario.name:44} {low:6.0f} .. {high:6.0f} ns, {scenario.lost} lost")


def nothing() -> None:
    pass


def main() -> int:
    with contextlib.ExitStack() as open_:
        generator = Generator(PINS / f"bench-{os.getpid()}")
        open_.callback(generator.close)
        bench = Bench(open_, generator)
        end_node = bench.node("end")
        end_node.end_in_function()
        end = bench.add("End in the function", end_node, nothing)

        hooked_node = bench.node("hooked")
        hooked_node.end_in_function()
        passed_by(bench, hooked_node)
        hooked = bench.add("End, filters of proxies on its way", hooked_node, nothing)

        generic_node, spaced_node, many_node = map(bench.node, ("generic", "spaced", "many"))
        generic = install(bench, generic_node, peer=False)
        spaced = install(bench, spaced_node, peer=True)
        goals = []
        for behavior, inner in (
            (Behavior.END_AD, "ipv6"),
            (Behavior.END_AD, "ipv4"),
            (Behavior.END_AS, "ipv6"),
            (Behavior.END_AM, "ipv6"),
        ):
            for kind, node, installed, goal in (
                ("any device", generic_node, generic, 1.10),
                ("in a namespace", spaced_node, spaced, 1.45),
            ):
                name = f"{behavior} {inner}, {kind}"
                wanted = declared(behavior, inner)
                ours = bench.add(name, node, lambda i=installed, w=wanted: i.declare(w), inner)
                goals.append((name, ours, end, 1 / goal))
        aged = bench.add(
            "End.AD ipv6, in a namespace, age 1 s",
            spaced_node,
            lambda: spaced.declare(declared(Behavior.END_AD, age=1)),
        )
        by_flow = bench.add(
            "End.AD ipv6, in a namespace, per-flow",
            spaced_node,
            lambda: spaced.declare(declared(Behavior.END_AD, per_flow=True)),
        )
        ageless = next(s for s in bench.scenarios if s.name == "End.AD ipv6, in a namespace")
        many_node.links(range(2, MANY + 1))
        many = install(bench, many_node, peer=True)
        numbers = range(1, MANY + 1)
        with many_node.entered():
            started = time.perf_counter()
            many.declare(declared(Behavior.END_AD, numbers=numbers))
            took = time.perf_counter() - started
        crowd = bench.add(f"End.AD ipv6, one of {MANY}", many_node, nothing)
        goals.append((f"one of {MANY} beside one alone", crowd, ageless, 1.06))
        goals.append(("what matches no proxy beside End", hooked, end, 1.05))
        goals.append(("age 0 beside age 1 s", ageless, aged, 1.02))
        ruled = {}
        for count in RULES:
            ruled_node = bench.node(f"rules{count}")
            ruled_node.end_by_rules(count)
            # The kernel's own behaviors decapsulate at the last segment alone.
            ruled[count] = bench.add(f"a rule for each of {count}", ruled_node, nothing, last=True)
        bench.run()
        report = Report(
            "proxies",
            [Goal(n, o.runs, p.runs, limit, "ns", of="rounds") for n, o, p, limit in goals],
        )
        # What several chains through one function cost; off by default.
        report.goals.append(
            Goal("per-flow beside one chain", by_flow.runs, ageless.runs, None, "ns", of="rounds")
        )
        report.goals.append(Goal(f"{MANY} proxies declared at once", [took], [2.0], 1.0))
        for count, scenario in ruled.items():
            name = f"one of {MANY} proxies beside rules for {count}"
            report.goals.append(Goal(name, crowd.runs, scenario.runs, None, "ns", of="rounds"))
        lost = sum(scenario.lost for scenario in bench.scenarios)
        return report.finish() or int(lost > 0)


def passed_by(bench: Bench, node: Node) -> None:
    """Hooks on the way of packets that are for no proxy."""
    kernel = bench.kernel(node)
    with node.entered():
        kernel.apply([Create(ProxyPrograms())])
        for hook in (ProxyHook("eth0", TOWARD_FUNCTION), ProxyHook("fn1", BACK_FUNCTION)):
            kernel.apply([Create(hook)])
        # There is one, of others' packets; without the rule that its locator would bring.
        if kernel.apply([Create(_other())]):
            raise RuntimeError("a proxy was rejected")


def _other() -> ProxyEntry:
    """A proxy that no packet is for."""
    return ProxyEntry(
        prefix=prefix(2),
        behavior=Behavior.END_AD,
        inner_type="ipv4",
        interface=link(1),
        return_interface=link(1),
        next_hop=ip_address(NEXT_HOPS["ipv4"]),
    )


def install(bench: Bench, node: Node, *, peer: bool) -> Installed:
    kernel = bench.kernel(node)
    if not peer:
        # As with a function behind a tap, a VLAN or a network card.
        kernel._proxies._peer = lambda link, value: None  # type: ignore[method-assign]
    with node.entered():
        return Installed(kernel, node)


if __name__ == "__main__":
    sys.exit(main())
