"""The measurements of the four texts that started the project, again (docs/seeds.md).

    make bench BENCH=seeds [PART="counters behaviors vrf proxies footprint goodput"]

This runs in the lab's root on the host's kernel. What needs kernels of the lab ran
before (``bench.seeds_boots``), and left its runs to be read here (``bench.seeds_runs``).

A part is a module ``bench.seeds_NAME`` that fulfils ``Part``, and is in PARTS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Protocol

from bench import (
    seeds_behaviors,
    seeds_counters,
    seeds_footprint,
    seeds_goodput,
    seeds_proxies,
    seeds_vrf,
)
from bench.report import Goal, Report


class Part(Protocol):
    """One table or figure of a text."""

    def goals(self) -> Iterable[Goal]:
        """Measure, or read what was measured in the lab. Scenarios have lines of their own: a Goal
        without a goal. Names begin with the text: "End.DT46: ...", "SRNK: ..."."""


PARTS: dict[str, Part] = {
    "counters": seeds_counters,
    "behaviors": seeds_behaviors,
    "vrf": seeds_vrf,
    "proxies": seeds_proxies,
    "footprint": seeds_footprint,
    "goodput": seeds_goodput,
}


def main() -> int:
    report = Report("seeds")
    for name in sys.argv[1:] or PARTS:
        print(f"seeds: {name}", file=sys.stderr, flush=True)
        report.goals += PARTS[name].goals()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
