"""Advertising a SID for each of many VRFs: beside ``vtysh -f`` and frr-reload of the same text.

It runs in the lab (``bench.frr_lab``), where the kernel has VRFs; its runs are read from the file
that it left. ``make bench BENCH=frr`` does both, PART="1 100" the sizes that are named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.report import Goal, Report

FROM_LAB = Path("build/lab/bench/frr.json")


def main() -> int:
    lab = json.loads(FROM_LAB.read_text())
    report = Report("frr", [Goal(**goal) for goal in lab["goals"]])
    report.machine = f"lab: {lab['machine']}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
