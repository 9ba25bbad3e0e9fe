"""Reasons of drops beside the same traffic without them: CPU time of a packet to a SID that is
watched, and of one that is passed over.

    make bench BENCH=drops

Packets are decapsulated and forwarded, which is where the checks ask most of the kernel. One core,
packets made in the kernel and counted where they leave, scenarios in turn.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.accounting import Scenario, routed
from bench.frames import packet
from bench.generator import Generator
from bench.proxies_network import Node, prefix
from bench.report import Goal, Report
from srv6mgrd.drops.program import DropProgram
from srv6mgrd.drops.watch import LOOKED_AT, PASSED_OVER, SHARE, Limit, limit_at
from srv6mgrd.model.accounting import Family
from srv6mgrd.model.drops import How, WatchedSid

ROUNDS, PACKETS = 40, 50_000
PINS = "/sys/fs/bpf"
_NS = 1e9
# Of so many, next to no packet is looked at.
_NONE = 1 << 20
_ALL = Limit()


@dataclass(slots=True)
class Watched(Scenario):
    """The SID is watched, but for ``pauses`` of as many runs and one."""

    limit: Limit = _ALL
    program: DropProgram = field(default_factory=DropProgram)

    def measure(self, generator: Generator) -> None:
        runs: list[float] = []
        for number in range(self.limit.pauses + 1):
            self._watch(attached=not number)
            Scenario.measure(self, generator)
            runs.append(self.runs.pop())
        self.runs.append(statistics.fmean(runs))

    def _watch(self, *, attached: bool) -> None:
        sid = WatchedSid(prefix(1), How.IN_TABLE, (Family.IPV6,), table=254)
        with self.node.entered():
            failure = self.program.watch([socket.if_nametoindex("eth0")] if attached else ())
            failure = failure or self.program.write({0: sid}, {}, self.limit.one_of)
        if failure is not None:
            raise RuntimeError(failure.message)


def main() -> int:
    with contextlib.ExitStack() as open_:
        generator = Generator(Path(f"{PINS}/bench-{os.getpid()}"))
        open_.callback(generator.close)

        def node(name: str) -> Node:
            made = Node(name, generator.counter)
            open_.callback(made.close)
            routed(made)
            made.count_last()
            return made

        frame = packet("ipv6", last=True)
        alone = Scenario("not watched", node("alone"), frame)
        alone.measure(generator)
        # As srv6mgrd does at the rate that keeps one CPU busy.
        full = limit_at(_NS / alone.runs.pop())
        each = Watched("each looked at", node("each"), frame)
        passed = Watched("passed over", node("passed"), frame, limit=Limit(_NONE))
        limited = Watched("at full load", node("full"), frame, limit=full)
        scenarios = alone, each, passed, limited
        for one in (each, passed, limited):
            open_.callback(one.program.close)
        for number in range(ROUNDS):
            print(f"\rround {number + 1} of {ROUNDS}", end="", file=sys.stderr, flush=True)
            for scenario in scenarios[:: 1 if number % 2 else -1]:
                scenario.measure(generator)
        print(file=sys.stderr)
        for scenario in scenarios:
            middle = statistics.median(scenario.runs)
            print(f"  {scenario.name:16} {middle:6.0f} ns, {scenario.lost} lost")
        print(f"  at full load: one of {full.one_of}, {full.pauses} s of {full.pauses + 1} without")
        goals = [
            Goal(
                "packets at full load, watched", limited.runs, alone.runs, 1 + SHARE, "ns",
                of="rounds",
            ),
            *(
                Goal(f"added to a packet that is {name}", _added(scenario, alone), [],
                     assumed * _NS, "ns", of="median")
                for name, scenario, assumed in (
                    ("looked at", each, LOOKED_AT), ("passed over", passed, PASSED_OVER)
                )
            ),
        ]  # fmt: skip
        lost = sum(scenario.lost for scenario in scenarios)
        return Report("drops", goals).finish() or int(lost > 0)


def _added(scenario: Scenario, alone: Scenario) -> list[float]:
    """Nanoseconds more than without, by round."""
    return [with_it - without for with_it, without in zip(scenario.runs, alone.runs, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
