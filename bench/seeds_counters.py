"""End.DX2 with counters and without, on the host's kernel: what its commit message measured, but
for the kernel without the change, which is in ``bench.seeds_behaviors``."""

from __future__ import annotations

from collections.abc import Iterator

from bench.report import Goal
from bench.seeds_behaviors import DX2, DX2_COUNTS, WITHOUT_VRF, measure, scenario

ROUNDS, PACKETS = 1500, 5_000
# At most half a percent, as printed there: 1501.32 of 1504.76 kpps.
GOAL = 0.995


def goals() -> Iterator[Goal]:
    runs = measure(WITHOUT_VRF, ROUNDS, PACKETS)
    for name, of_name in runs.items():
        yield scenario(f"counters: {name}, host", of_name)
    yield Goal(
        "counters: on beside off, host",
        runs[DX2_COUNTS], runs[DX2], GOAL, "pps", more=True, of="rounds",
    )  # fmt: skip
