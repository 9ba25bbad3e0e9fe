"""Proxies under packets at a rate, as the paper on SRNK measured them: throughput and delivery by
offered rate (Figs. 7 and 8), the partial drop rate (Tables II and III), and policy rules from 1 to
160 (Fig. 9). The rules are the kernel's own, as in the first design of the paper, SRNKv1.

A round searches the rate of each scenario, one after the other; of the ratios of the rounds the
median counts. ``bench.offered_rate`` says what loses packets.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from bench import frames
from bench.offered_rate import PacedGenerator, highest_rate
from bench.proxies import PINS, Bench, install, passed_by
from bench.proxies_network import Node, declared
from bench.report import OUTPUT, Goal
from bench.seeds_behaviors import scenario
from srv6mgrd.model.behavior import Behavior

ROUNDS, SECONDS = 15, 0.02
RULES = (1, 20, 40, 80, 120, 160)
# As printed in Table II (444.2 and 461.1 kpps) and Table III (448.5).
PROXY_OF_END, UNMATCHED_OF_END = 0.963, 0.973
# With 160 functions as with one: "independent from the number of supported VNFs".
MANY_OF_ONE = 0.97
# Of the highest rate that a curve's best scenario takes.
CURVE = (0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.4)
CURVES = OUTPUT / "seeds-curves.json"

END, ANY, SPACED = "End in the function", "End.AD, any device", "End.AD, in a namespace"
SLOW, UNMATCHED = "End.AD, in a namespace, age 1 s", "End, hooks that match nothing"
PLAIN_RULES = "End, 80 rules that match nothing"


@dataclass(slots=True)
class Offered:
    """One way of packets. ``prepare`` is called in the node's namespace before each use."""

    name: str
    node: Node
    prepare: Callable[[], object]
    frame: bytes
    rates: list[float] = field(default_factory=list)

    def delivered(self, generator: PacedGenerator, rate: float) -> float:
        """The better of two tries: what disturbs takes packets away, and brings none."""
        first = self.offer(generator, rate)[1]
        return first if first >= _ENOUGH else max(first, self.offer(generator, rate)[1])

    def offer(self, generator: PacedGenerator, rate: float) -> tuple[float, float]:
        """Throughput and delivery ratio."""
        index = socket.if_nametoindex("eth0")
        trial = generator.offer(index, self.frame, rate, SECONDS)
        return trial.throughput, trial.delivered

    def search(self, generator: PacedGenerator) -> None:
        with self.node.entered():
            self.prepare()
            around = self.rates[-1] if self.rates else _GUESS
            found = highest_rate(lambda rate: self.delivered(generator, rate), around)
        self.rates.append(found)


_ENOUGH, _GUESS = 0.995, 200_000.0


def goals() -> Iterator[Goal]:
    with contextlib.ExitStack() as stack:
        generator = PacedGenerator(PINS / f"bench-{os.getpid()}-paced")
        stack.callback(generator.close)
        scenarios = _scenarios(Bench(stack, generator))
        for number in range(ROUNDS):
            print(f"\rround {number + 1} of {ROUNDS}", end="", file=sys.stderr, flush=True)
            for one in list(scenarios.values())[:: 1 if number % 2 else -1]:
                one.search(generator)
        print(file=sys.stderr)
        curves = _curves(generator, [scenarios[name] for name in (END, ANY, SPACED)])
    rates = {name: one.rates for name, one in scenarios.items()}
    OUTPUT.mkdir(parents=True, exist_ok=True)
    CURVES.write_text(json.dumps({"curves": curves, "rates": rates}) + "\n")
    yield from _table(rates)


def _scenarios(bench: Bench) -> Mapping[str, Offered]:
    found: dict[str, Offered] = {}

    def add(
        name: str,
        node: Node,
        prepare: Callable[[], object] = lambda: None,
        *,
        last: bool = False,
        sid: int = 1,
    ) -> None:
        found[name] = Offered(name, node, prepare, frames.packet("ipv6", last=last, sid=sid))

    end = bench.node("end")
    end.end_in_function()
    add(END, end)
    hooked = bench.node("hooked")
    hooked.end_in_function()
    passed_by(bench, hooked)
    add(UNMATCHED, hooked)
    ruled = bench.node("plain-rules")
    ruled.end_in_function()
    ruled.unmatched_rules(80)
    add(PLAIN_RULES, ruled)
    for name, peer in ((ANY, False), (SPACED, True)):
        node = bench.node(f"ad-{peer}")
        kernel = install(bench, node, peer=peer)
        add(name, node, lambda k=kernel: k.declare(declared(Behavior.END_AD)))
        if peer:
            add(SLOW, node, lambda k=kernel: k.declare(declared(Behavior.END_AD, age=1)))
    for count in RULES:
        rules = bench.node(f"rules-{count}")
        rules.end_by_rules(count)
        # The kernel's own behaviors decapsulate at the last segment alone.
        add(by_rules(count), rules, last=True)
    many = bench.node("many")
    many.links(range(2, RULES[-1] + 1))
    kernel = install(bench, many, peer=True)
    for count in RULES:
        numbers = range(1, count + 1)
        add(proxies(count), many,
            lambda n=numbers: kernel.declare(declared(Behavior.END_AD, numbers=n)))  # fmt: skip
    return found


def by_rules(count: int) -> str:
    return f"rules for {count} functions"


def proxies(count: int) -> str:
    return f"End.AD, one of {count}"


def _curves(
    generator: PacedGenerator, scenarios: list[Offered]
) -> dict[str, dict[str, list[list[float]]]]:
    """Of each scenario: offered rates, and at each all throughputs and delivery ratios."""
    highest = max(statistics.median(one.rates) for one in scenarios)
    found: dict[str, dict[str, list[list[float]]]] = {}
    for one in scenarios:
        points: dict[str, list[list[float]]] = {"rate": [], "throughput": [], "delivered": []}
        with one.node.entered():
            one.prepare()
            for part in CURVE:
                trials = [one.offer(generator, highest * part) for _ in range(ROUNDS)]
                points["rate"].append([highest * part])
                points["throughput"].append([throughput for throughput, _ in trials])
                points["delivered"].append([delivered for _, delivered in trials])
        found[one.name] = points
    return found


def _table(rates: Mapping[str, list[float]]) -> Iterator[Goal]:
    for name, runs in rates.items():
        yield scenario(f"SRNK: PDR@0.5%, {name}", runs)
    for title, ours, peer, goal in (
        ("SRNK: Table II, End.AD beside End, any device", ANY, END, PROXY_OF_END),
        ("SRNK: Table II, End.AD beside End, in a namespace", SPACED, END, PROXY_OF_END),
        ("SRNK: Table III, unmatched traffic, hooks beside none", UNMATCHED, END, UNMATCHED_OF_END),
        ("SRNK: Table III, unmatched traffic, 80 rules beside none", PLAIN_RULES, END, None),
        ("SRNK: age 0 beside age 1 s", SPACED, SLOW, 0.98),
        ("SRNK: Fig. 9, one of 160 proxies beside one", proxies(160), proxies(1), MANY_OF_ONE),
        ("SRNK: Fig. 9, 80 rules beside one", by_rules(80), by_rules(1), None),
        ("SRNK: Fig. 9, 160 rules beside one", by_rules(160), by_rules(1), None),
        ("SRNK: Fig. 9, one of 80 proxies beside 80 rules", proxies(80), by_rules(80), None),
        ("SRNK: Fig. 9, one of 160 proxies beside 160 rules", proxies(160), by_rules(160), None),
    ):
        yield Goal(title, rates[ours], rates[peer], goal, "pps", more=True, of="rounds")
