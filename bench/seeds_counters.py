"""End.DX2 with counters and without, on the host's kernel: what its commit message measured, but
for the kernel without the change, which is in ``bench.seeds_behaviors``."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.report import Goal
from bench.seeds_behaviors import DX2, DX2_COUNTS, WITHOUT_VRF, measure, scenario

# So many slices are one run, of which there is a mean and a deviation.
ROUNDS, PACKETS, RUN = 3000, 5_000, 150
# At most half a percent, as printed there: 1501.32 of 1504.76 kpps.
GOAL = 0.995


def goals() -> Iterator[Goal]:
    runs = measure(WITHOUT_VRF, ROUNDS, PACKETS)
    for name, slices in runs.items():
        parts = [slices[at : at + RUN] for at in range(0, ROUNDS, RUN)]
        yield scenario(f"counters: {name}, host", [statistics.median(part) for part in parts])
    yield Goal(
        "counters: on beside off, host",
        runs[DX2_COUNTS], runs[DX2], GOAL, "pps", more=True, of="rounds",
    )  # fmt: skip
