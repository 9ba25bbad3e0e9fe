"""One line per goal, and the raw runs as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path

OUTPUT = Path("build/bench")


@dataclass(frozen=True, slots=True)
class Goal:
    """``ours`` may be at most ``goal`` times ``peer``; the runs are seconds or another ``unit``."""

    name: str
    ours: list[float]
    peer: list[float]
    goal: float
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return min(self.ours) / min(self.peer)

    @property
    def met(self) -> bool:
        return self.ratio <= self.goal

    def line(self, width: int) -> str:
        ours, peer = (f"{min(runs):.3f} {self.unit}" for runs in (self.ours, self.peer))
        verdict = "met" if self.met else "short"
        return (
            f"{self.name:{width}}  {ours:>11}  {peer:>11}  {self.ratio:5.2f}"
            f"  {self.goal:5.2f}  {verdict}"
        )


@dataclass(slots=True)
class Report:
    """The goals of one bench; the least of the runs counts, since all that disturbs adds."""

    bench: str
    goals: list[Goal] = field(default_factory=list)

    def finish(self) -> int:
        """Print and write; 1 when a goal is missed."""
        machine = describe_machine()
        width = max(len(goal.name) for goal in self.goals)
        print(machine)
        print(f"{'':{width}}  {'ours':>11}  {'peer':>11}  ratio   goal")
        for goal in self.goals:
            print(goal.line(width))
        OUTPUT.mkdir(parents=True, exist_ok=True)
        file = OUTPUT / f"{self.bench}.json"
        goals = [{**asdict(g), "ratio": g.ratio, "met": g.met} for g in self.goals]
        file.write_text(json.dumps({"machine": machine, "goals": goals}, indent=2) + "\n")
        print(f"runs: {file}")
        return 0 if all(goal.met for goal in self.goals) else 1


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
