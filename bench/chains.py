"""Service function chains: what classification of a packet costs, by the number of rules and flows.

    make bench BENCH=chains

The peers encapsulate the same packets by seg6 routes, after nftables classified them. One
core, packets made in the kernel and counted where they leave, scenarios in turn.
"""

from __future__ import annotations

import contextlib
import json
import sys
from functools import partial
from pathlib import Path

from bench.classification import (
    MANY,
    ONE,
    SCAN,
    Classified,
    FlowGenerator,
    Scenario,
    encapsulate_all,
    folder,
    forward,
    frame_of,
    in_turn,
    marked_by_map,
    marked_by_rules,
    nothing,
    rules,
)
from bench.proxies_network import Node
from bench.report import Goal, Report
from srv6mgrd.kinds.chain.object import ClassifierRules

ROUNDS, PACKETS = 40, 25_000
COUNTS = (10, 1_000, 10_000)
# Flows, and whether each is for another rule.
FLOWS = {
    "one flow": (ONE, False),
    "4096 flows of one rule": (MANY, False),
    "4096 flows of all rules": (MANY, True),
    "new flows of one rule": (SCAN, False),
    "new flows of all rules": (SCAN, True),
}
# Packets that pass many rules one by one.
FEW = {10: 25_000, 1_000: 5_000, 10_000: 1_000}
FLAT = 1.05
# Seconds: until packets go around a function, and for a thousand chains.
FAILURE, COMMIT = 1.0, 5.0
FROM_LAB = Path("build/lab/bench/chains.json")
# Combinations of criteria that a new flow is looked up by.
COMBINATIONS = 64


class Bench:
    def __init__(self, open_: contextlib.ExitStack) -> None:
        self._open = open_
        self.generator = FlowGenerator(folder())
        open_.callback(self.generator.close)
        self.scenarios: list[Scenario] = []

    def node(self, name: str) -> Node:
        made = Node(name, self.generator.counter)
        self._open.callback(made.close)
        return made

    def add(self, scenario: Scenario) -> Scenario:
        self.scenarios.append(scenario)
        return scenario

    def run(self) -> int:
        """Packets that were lost."""
        for number, scenario in enumerate(in_turn(self.scenarios, ROUNDS)):
            share = 100 * number // (ROUNDS * len(self.scenarios))
            print(f"\r{share} %", end="", file=sys.stderr, flush=True)
            scenario.measure(self.generator)
        print(file=sys.stderr)
        for scenario in self.scenarios:
            low, high = min(scenario.runs), max(scenario.runs)
            print(f"  {scenario.name:44} {low:8.0f} .. {high:8.0f} ns, {scenario.lost} lost")
        return sum(scenario.lost for scenario in self.scenarios)


def main() -> int:
    with contextlib.ExitStack() as open_:
        bench = Bench(open_)
        route = bench.node("route")
        encapsulate_all(route)
        unclassified = bench.add(
            Scenario("a seg6 route, unclassified", route, frame_of(0), MANY, PACKETS)
        )
        sets = [(str(count), count, 8) for count in COUNTS[::-1]]
        sets.insert(0, ("combined", COUNTS[-1], COMBINATIONS))
        classified = Classified(
            bench.node("ours"),
            [ClassifierRules(name, tuple(rules(count, n))) for name, count, n in sets[::-1]],
        )
        open_.callback(classified.close)
        ours: dict[tuple[str, str], Scenario] = {}
        goals = []
        for name, count, lengths in sets[::-1]:
            # The last rule: all combinations are looked up.
            frame = frame_of(count - 1, lengths)
            for which, (flows, scattered) in FLOWS.items():
                made = Scenario(
                    f"{name} rules, {which}", classified.node, frame, flows, PACKETS,
                    partial(classified.use, name), count if scattered else 0,
                )  # fmt: skip
                ours[name, which] = bench.add(made)
        forward(classified.node)
        forwarding = bench.node("forwarding")
        forward(forwarding)
        use = partial(classified.use, str(COUNTS[-1]))
        unmatched, plain = (
            bench.add(Scenario(name, node, frame_of(1 << 20), MANY, PACKETS, prepare))
            for name, node, prepare in (
                ("no rule matches, forwarded", classified.node, use),
                ("no classifier, forwarded", forwarding, nothing),
            )
        )
        peers = {}
        for name, mark in (
            ("nftables rules", marked_by_rules),
            ("nftables map", marked_by_map),
        ):
            for count in COUNTS:
                node = bench.node(f"{name.replace(' ', '-')}{count}")
                mark(node, count)
                packets = FEW[count] if mark is marked_by_rules else PACKETS
                made = Scenario(f"{name}, {count}", node, frame_of(count // 2), MANY, packets)
                peers[name, count] = bench.add(made)
        lost = bench.run()

        def goal(name: str, one: Scenario, other: Scenario, limit: float | None) -> None:
            goals.append(Goal(name, one.runs, other.runs, limit, "ns", of="rounds"))

        few, most = str(COUNTS[0]), str(COUNTS[-1])
        for which in FLOWS:
            for count in COUNTS[1:]:
                title = f"{which}: {count} rules beside {few}"
                goal(title, ours[str(count), which], ours[few, which], FLAT)
        which = "new flows of one rule"
        title = f"{which}: {COMBINATIONS} combinations beside 8"
        goal(title, ours["combined", which], ours[most, which], None)
        which = "4096 flows of one rule"
        goal("beside a seg6 route alone", ours[most, which], unclassified, None)
        goal("what no rule matches beside no classifier", unmatched, plain, None)
        for (name, count), peer in peers.items():
            goal(f"{count} rules beside {name}", ours[str(count), which], peer, None)
        for name, seconds in (
            ("written", classified.took),
            ("exchanged", classified.exchange()),
            ("read back", classified.observe()),
        ):
            goals.append(Goal(f"{COUNTS[-1]} rules {name}", [seconds], [], None))
        goals += in_the_lab()
        return Report("chains", goals).finish() or int(lost > 0)


def in_the_lab() -> list[Goal]:
    """What ``bench.chains_lab`` left."""
    if not FROM_LAB.exists():
        return []
    runs = json.loads(FROM_LAB.read_text())
    goals = []
    if "blocked" in runs:
        deaths = len(runs["blocked"])
        title = f"lab: nothing passes after a function died, {deaths} times"
        goals.append(Goal(title, runs["blocked"], [], FAILURE, of="p99"))
    if "committed" in runs:
        goals.append(Goal("lab: 1000 chains of 3 in one commit", runs["committed"], [], COMMIT))
    return goals


if __name__ == "__main__":
    sys.exit(main())
