"""srv6net with many routers.

    make bench BENCH=network [PART="compile linear targets rehearse edges"]

Compiling is measured in seconds of CPU: it has one thread, and waits for nobody. The targets are
simulated (``bench.network_targets``): what is measured is the transaction, not a router.
"""

from __future__ import annotations

import json
import subprocess
import sys

from bench.network_boots import OUTPUT
from bench.report import Goal, Report

ROUNDS = 3
TARGETS = 1000


def run(*words: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.network_run", *words]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compiling() -> list[Goal]:
    runs = [run("compile", "1000", "100") for _ in range(ROUNDS)]
    return [
        Goal("compile 1,000 edges x 100 VPNs", [r["all"] for r in runs], [], 10),
        Goal("the same after a change of one VPN", [r["one"] for r in runs], [], 0.2),
        Goal("memory", [r["memory"] for r in runs], [], None, "MiB"),
    ]


def linear() -> list[Goal]:
    """Ten times as many edges take ten times as long, and no more."""
    few, many = run("compile", "1000", "100"), run("compile", "10000", "100")
    return [
        Goal("compile 10,000 edges, or ten times 1,000", [many["all"]], [10 * few["all"]], 1.5),
        Goal("memory of 10,000 edges x 100 VPNs", [many["memory"]], [], None, "MiB"),
    ]


def targets() -> list[Goal]:
    found = run("targets", str(TARGETS))
    name = f"one VPN on {TARGETS:,} targets, the slowest takes {found['slowest']:g} s"
    return [Goal(name, [found["seconds"]], [], 60)]


def rehearsed() -> list[Goal]:
    """From boot to verdict: boot, routers, transaction, pings."""
    few, many = booted("rehearse", "4-5"), booted("rehearse", "10-10")
    return [
        Goal("rehearse 4 routers and 5 sites: 10 nodes with the core", [few["all"]], [], 60),
        Goal("rehearse 10 routers and 10 sites", [many["all"]], [], 60),
    ]


def edges() -> list[Goal]:
    """Complete routers in one lab, which has one CPU."""
    found = booted("edges", "40-40")
    return [
        Goal("one VPN on 40 real edges, until it is verified", [found["services applied"]], [], 15),
        Goal("start 40 edges", [found["routers started"]], [], None),
    ]


def booted(part: str, size: str) -> dict[str, float]:
    """What ``bench.network_boots`` has left."""
    found: dict[str, float] = json.loads((OUTPUT / f"{part}-{size}.json").read_text())
    return found


PARTS = {
    "compile": compiling,
    "linear": linear,
    "targets": targets,
    "rehearse": rehearsed,
    "edges": edges,
}


def main() -> int:
    report = Report("network")
    for part in sys.argv[1:] or PARTS:
        report.goals += PARTS[part]()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
