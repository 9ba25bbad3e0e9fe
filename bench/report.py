"""One line per goal, and the raw runs as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.intervals import FEWEST, of_median

OUTPUT = Path("build/bench")


def percentile(runs: Sequence[float], percent: int) -> float:
    """The least that so many percent of the runs do not exceed."""
    return sorted(runs)[max(0, -(-len(runs) * percent // 100) - 1)]


# What of the runs counts.
_OF: dict[str, Callable[[Sequence[float]], float]] = {
    "least": min,
    "most": max,
    "mean": statistics.fmean,
    "median": statistics.median,
    "p50": lambda runs: percentile(runs, 50),
    "p99": lambda runs: percentile(runs, 99),
    "rounds": statistics.median,
}


@dataclass(frozen=True, slots=True)
class Goal:
    """``ours`` may be at most ``goal`` times ``peer``, or at least when ``more`` is better.
    Without a peer ``goal`` is a number of ``unit`` itself, and without a goal it is only reported.
    Of the runs the one counts that ``of`` names: all that disturbs adds, so the best by default.
    "rounds": both ran in turn, and of the ratios of the rounds the median counts. Its confidence
    interval is on one side of the goal, or the verdict is unclear. What disturbs for longer than a
    round disturbs both."""

    name: str
    ours: list[float]
    peer: list[float]
    goal: float | None
    unit: str = "s"
    more: bool = False
    of: str = ""

    def of_runs(self, runs: Sequence[float]) -> float:
        return _OF[self.of or ("most" if self.more else "least")](runs)

    @property
    def ratio(self) -> float | None:
        if not self.peer:
            return None
        if self.of == "rounds":
            return statistics.median(self.ratios())
        return self.of_runs(self.ours) / self.of_runs(self.peer)

    def ratios(self) -> list[float]:
        """Of each round."""
        return [ours / peer for ours, peer in zip(self.ours, self.peer, strict=True)]

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the ratio; the ratio twice, where too few rounds give none."""
        if self.peer and self.of == "rounds" and len(self.ours) >= FEWEST:
            return of_median(self.ratios())
        value = self.of_runs(self.ours) if self.ratio is None else self.ratio
        return value, value

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return "no goal"
        met = [end >= self.goal if self.more else end <= self.goal for end in self.interval]
        return "met" if all(met) else "unclear" if any(met) else "short"

    def line(self, width: int) -> str:
        """name, ours, peer, ratio, its confidence interval, goal, verdict."""
        ours = self._number(self.of_runs(self.ours))
        peer = self._number(self.of_runs(self.peer)) if self.peer else "-"
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        goal = "-"
        if self.goal is not None:
            goal = f"{self.goal:.3f}" if self.peer else self._number(self.goal)
        within = ""
        if self.peer and self.of == "rounds":
            within = "{:.3f} .. {:.3f}".format(*of_median(self.ratios()))
        return (
            f"{self.name:{width}}  {ours:>14}  {peer:>14}  {ratio:>7}  {within:>14}"
            f"  {goal:>12}  {self.verdict}"
        )

    def _number(self, value: float) -> str:
        return f"{value:.{0 if value >= 1000 else 1 if value >= 100 else 3}f} {self.unit}"


@dataclass(slots=True)
class Report:
    """The goals of one bench, as ``machine`` met them (this one by default)."""

    bench: str
    goals: list[Goal] = field(default_factory=list)
    machine: str = ""

    def finish(self) -> int:
        """Print and write; 1 when a goal is missed for sure."""
        machine = self.machine or describe_machine()
        width = max(len(goal.name) for goal in self.goals)
        print(machine)
        heads = f"{'ours':>14}  {'peer':>14}  {'ratio':>7}  {'95 %':>14}  {'goal':>12}"
        print(f"{'':{width}}  {heads}")
        for goal in self.goals:
            print(goal.line(width))
        OUTPUT.mkdir(parents=True, exist_ok=True)
        file = OUTPUT / f"{self.bench}.json"
        goals = [{**asdict(g), "ratio": g.ratio, "verdict": g.verdict} for g in self.goals]
        file.write_text(json.dumps({"machine": machine, "goals": goals}, indent=2) + "\n")
        print(f"runs: {file}")
        return int(any(goal.verdict == "short" for goal in self.goals))


def describe_machine() -> str:
    """CPU, cores, memory, kernel."""
    cpu = _field("/proc/cpuinfo", "model name") or platform.machine()
    memory = int((_field("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) >> 20
    load = os.getloadavg()[0]
    return (
        f"{cpu}, {os.cpu_count()} CPUs, {memory} GiB, Linux {platform.release()},"
        f" Python {platform.python_version()}, load {load:.1f}"
    )


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
