"""Nodes that classify packets of many flows and encapsulate them: by a classifier of srv6mgr, and
by what Linux has otherwise."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from bench.frames import plain
from bench.generator import FIRST, Generator, pinned_map
from bench.proxies_network import LAST, Node
from srv6mgrd.chains.programs import ChainPrograms as Programs
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.chain.object import (
    ChainPrograms,
    ClassifierHook,
    ClassifierRules,
    ServicePath,
)
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.chains import ClassifierRule, Way
from srv6mgrd.plan.actions import Create, Replace

OWN = IPv6Address("2001:db8:b::1")
# Flows, as masks of what counts in the source address.
ONE, MANY, SCAN = 0, 0xFFF, 0xFFFFFFFF
# Of the datagrams of ``bench.frames``.
_PORT = 5001
_VARIED = struct.Struct("=III")
_BASE = int(IPv6Address("2001:db8::"))
_RULES = "rules"


class FlowGenerator(Generator):
    """``flows`` of ONE, MANY, SCAN: each packet of a scan is a new one."""

    _PROGRAM = "vary"
    _SOURCE = Path(__file__).with_name("flows.bpf.c")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._varieties = pinned_map(folder / "varieties", _VARIED.size)

    def of(self, flows: int, rules: int) -> None:
        """With ``rules`` the flows are for so many of them."""
        raw = self._varieties.get(FIRST) or bytes(_VARIED.size)
        _, number, _ = _VARIED.unpack(raw)
        self._varieties.put(FIRST, _VARIED.pack(flows, number, rules))


def destination(number: int, lengths: int) -> IPv6Network:
    """Of a rule; there are so many lengths of them. No two overlap."""
    return IPv6Network((_BASE | (number + 1) << 72, 56 + number % lengths))


def rules(count: int, lengths: int = 8) -> list[ClassifierRule]:
    return [
        ClassifierRule(
            number, "web", protocol=socket.IPPROTO_UDP, destination_ports=(_PORT, _PORT),
            destination=destination(number, lengths),
        )
        for number in range(count)
    ]  # fmt: skip


def frame_of(number: int, lengths: int = 8) -> bytes:
    """A packet that this rule matches."""
    return plain(str(destination(number, lengths)[1]))


def nothing() -> None:
    pass


@dataclass(slots=True)
class Scenario:
    """Packets of a node in each round; ``flows`` and ``rules`` as the generator has them.
    ``prepare`` is called before."""

    name: str
    node: Node
    frame: bytes
    flows: int
    packets: int
    prepare: Callable[[], object] = nothing
    rules: int = 0
    runs: list[float] = field(default_factory=list)
    lost: int = 0

    def measure(self, generator: FlowGenerator) -> None:
        self.prepare()
        generator.of(self.flows, self.rules)
        with self.node.entered():
            index = socket.if_nametoindex("eth0")
            # Each flow of many came by twice; one that scans before may have driven it out.
            warm = max(self.packets // 10, 2 * (self.flows + 1) if self.flows != SCAN else 0)
            generator.run(index, self.frame, warm)
            spent, arrived = generator.run(index, self.frame, self.packets)
        self.runs.append(spent)
        # Others' packets may be among them.
        self.lost += max(0, self.packets - arrived)


class Classified:
    """A node with classifiers, one of which is at its first interface: the same maps, and the same
    way of a packet but for the rules. ``took`` are the seconds to write the last one's."""

    def __init__(self, node: Node, classifiers: Sequence[ClassifierRules]) -> None:
        self.node = node
        self._classifiers = classifiers
        self._hook: ClassifierHook | None = None
        self.programs = Programs(folder=Path(f"/sys/fs/bpf/{node.name}"))
        path = ServicePath("web", Way.FORWARD, Family.IPV6, (), (IPv6Address(LAST),), OWN)
        with node.entered():
            self.kernel = LinuxKernel(chains=self.programs)
            self._apply(Create(ChainPrograms()), Create(path))
            for classifier in classifiers:
                started = time.perf_counter()
                self._apply(Create(classifier))
                self.took = time.perf_counter() - started
            self.use(classifiers[0].name)
        node.count_last()

    def _apply(self, *actions: Create | Replace) -> None:
        if rejected := self.kernel.apply(actions):
            raise RuntimeError(rejected[0].message)

    def use(self, classifier: str) -> None:
        wanted = ClassifierHook("eth0", classifier)
        with self.node.entered():
            before, self._hook = self._hook, wanted
            self._apply(Create(wanted) if before is None else Replace(before, wanted))

    def exchange(self) -> float:
        """Seconds for other rules in the place of the last classifier's."""
        last = self._classifiers[-1]
        with self.node.entered():
            changed = replace(last, rules=last.rules[1:])
            started = time.perf_counter()
            self._apply(Replace(last, changed))
            return time.perf_counter() - started

    def observe(self) -> float:
        """Seconds to read all back, another time."""
        with self.node.entered():
            self.kernel.observe([])
            started = time.perf_counter()
            self.kernel.observe([])
            return time.perf_counter() - started

    def close(self) -> None:
        self.kernel.close()
        self.programs.remove()


def encapsulate_marked(node: Node) -> None:
    """What has a mark is encapsulated, and is looked up by it again with its outer header."""
    for command in (
        "rule add fwmark 1 table 100",
        "route add fcbb:0:9::/48 via 2001:db8:b::2 dev eth1 table 100",
        f"route add default encap seg6 mode encap segs {LAST} dev eth1 table 100",
    ):
        node.on(node.name, f"ip -6 {command}")
    node.on(node.name, f"ip sr tunsrc set {OWN}")


def encapsulate_all(node: Node) -> None:
    """A route that encapsulates, and no classification."""
    node.on(node.name, f"ip -6 route add 2001:db8::/32 encap seg6 mode encap segs {LAST} dev eth1")
    node.on(node.name, f"ip sr tunsrc set {OWN}")


def forward(node: Node) -> None:
    """What no rule matches."""
    node.on(node.name, "ip -6 route add 2001:db8::/32 via 2001:db8:b::2")


def marked_by_rules(node: Node, count: int) -> None:
    """nftables, a rule for each: the first one that matches decides."""
    lines = [
        f"ip6 daddr {destination(n, 8)} udp dport {_PORT} meta mark set 1 accept"
        for n in range(count)
    ]
    _nft(node, lines)


def marked_by_map(node: Node, count: int) -> None:
    """nftables, all in one map of prefixes and ports, which may not overlap."""
    elements = ", ".join(f"{destination(n, 8)} . {_PORT} : 1" for n in range(count))
    made = "type ipv6_addr . inet_service : mark; flags interval;"
    text = f"map wanted {{ {made} elements = {{ {elements} }}; }}"
    _nft(node, ["meta mark set ip6 daddr . udp dport map @wanted"], text)


def _nft(node: Node, lines: Sequence[str], before: str = "") -> None:
    chain = "type filter hook prerouting priority mangle;"
    text = (
        f"table ip6 bench {{ {before}\nchain {_RULES} {{ {chain}\n" + "\n".join(lines) + "\n}\n}\n"
    )
    command = ["ip", "netns", "exec", node.name, "nft", "-f", "-"]
    subprocess.run(command, input=text, check=True, text=True)
    encapsulate_marked(node)


def in_turn(scenarios: Sequence[Scenario], rounds: int) -> Iterator[Scenario]:
    """To and fro: what comes after which one counts for both."""
    for number in range(rounds):
        yield from scenarios[:: 1 if number % 2 else -1]


def folder() -> Path:
    return Path(f"/sys/fs/bpf/bench-{os.getpid()}")
