"""Service function chains: what classification of a packet costs, by the number of rules and flows.

    make bench BENCH=chains

The peers encapsulate the same packets by seg6 routes, after nftables classified them. One
core, packets made in the kernel and counted where they leave, scenarios in turn.
"""

from __future__ import annotations

import contextlib
import sys

from bench.classification import (
    MANY,
    ONE,
    SCAN,
    Classified,
    FlowGenerator,
    Scenario,
    encapsulate_all,
    folder,
    frame_of,
    in_turn,
    marked_by_map,
    marked_by_rules,
    rules,
)
from bench.proxies_network import Node
from bench.report import Goal, Report

ROUNDS, PACKETS = 20, 50_000
COUNTS = (10, 1_000, 10_000)
# Packets that pass many rules one by one.
FEW = {10: 50_000, 1_000: 5_000, 10_000: 1_000}
FLAT = 1.05
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

    def classified(self, name: str, count: int, lengths: int = 8) -> Classified:
        made = Classified(self.node(name), rules(count, lengths))
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
        ours: dict[tuple[int, int], Scenario] = {}
        goals = []
        for count in COUNTS:
            classifier = bench.classified(f"ours{count}", count)
            for flows, name in ((ONE, "one flow"), (MANY, "4096 flows"), (SCAN, "new flows")):
                title = f"{count} rules, {name}"
                # The last one: all combinations are looked up.
                frame = frame_of(count - 1)
                made = Scenario(title, classifier.node, frame, flows, PACKETS)
                ours[count, flows] = bench.add(made)
        most = classifier
        combined = bench.classified("combined", COUNTS[-1], COMBINATIONS)
        title = f"{COUNTS[-1]} rules in {COMBINATIONS} combinations, new flows"
        frame = frame_of(COUNTS[-1] - 1, COMBINATIONS)
        scan = bench.add(Scenario(title, combined.node, frame, SCAN, PACKETS))
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

        for flows, name in ((ONE, "one flow"), (MANY, "4096 flows"), (SCAN, "new flows")):
            for count in COUNTS[1:]:
                goal(f"{name}: {count} rules beside 10", ours[count, flows], ours[10, flows], FLAT)
        goal("new flows: 64 combinations beside 8", scan, ours[COUNTS[-1], SCAN], None)
        goal("beside a seg6 route alone", ours[COUNTS[-1], MANY], unclassified, None)
        for (name, count), peer in peers.items():
            goal(f"{count} rules beside {name}", ours[count, MANY], peer, None)
        for name, seconds in (
            ("written", most.took),
            ("exchanged", most.exchange()),
            ("read back", most.observe()),
        ):
            goals.append(Goal(f"{COUNTS[-1]} rules {name}", [seconds], [], None))
        return Report("chains", goals).finish() or int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
