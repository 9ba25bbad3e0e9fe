"""On the host, before ``bench.seeds``: what needs kernels of the lab, boot after boot.

Kernels of a part are booted in turn, so the time of day and other load on the machine are the same
for each. A boot leaves one file, ``bench.seeds_runs`` reads them. Needs Python alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Below build/lab: PART/KERNEL-NUMBER.json. The kernel is a value of LAB_KERNEL.
OUTPUT = Path("build/lab/seeds")
NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Boots:
    """Each of ``kernels`` is booted ``rounds`` times, and runs ``bench.seeds_in_lab`` then."""

    part: str
    kernels: tuple[str, ...]
    rounds: int
    topology: str = ""


BOOTS = (
    Boots("behaviors", (NEWEST, "upstream", "vanilla"), 6),
    Boots("vrf", (NEWEST, "no-l3mdev"), 6, "lab/topologies/two-pe.toml"),
)


def main(parts: list[str]) -> int:
    for boots in BOOTS:
        if parts and boots.part not in parts:
            continue
        shutil.rmtree(OUTPUT / boots.part, ignore_errors=True)
        for number in range(1, boots.rounds + 1):
            for kernel in boots.kernels:
                print(f"seeds: {boots.part}, kernel {kernel}, boot {number}", flush=True)
                if status := _boot(boots, kernel, number):
                    return status
    return 0


def _boot(boots: Boots, kernel: str, number: int) -> int:
    out = OUTPUT / boots.part / f"{kernel}-{number}"
    environment = {**os.environ, "LAB_OUT": str(out.absolute())}
    environment.pop("LAB_KERNEL", None)
    if kernel != NEWEST:
        environment["LAB_KERNEL"] = kernel
    topology = ["--topology", boots.topology] if boots.topology else []
    command = ["lab/lab", "run", "--tries", "2", *topology, "--"]
    command += ["/opt/srv6mgr/bin/python", "-m", "bench.seeds_in_lab", boots.part, kernel]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
