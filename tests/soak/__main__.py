"""Rounds of what needs long, each with a seed of its own, until the time is over or one fails.

    python -m tests.soak --seconds 1800 --seed 7

Round N has seed SEED + N: the seed that a failed round prints runs it again as the first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence

# Seconds: a round that takes longer hangs.
LONGEST_ROUND = 1200
# On the lab's own kernel. Tests of other stages see SOAK_SEED and take more examples, by the seed.
ROUNDS = (
    ("tests/soak",),
    ("tests/contract/reconcile/test_machine.py", "tests/property/test_convergence.py"),
    ("tests/contract/yang/test_fuzz.py",),
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args(arguments)
    end = time.monotonic() + given.seconds
    seed = given.seed
    while True:
        for paths in ROUNDS:
            if status := _round(paths, seed):
                print(f"seed {seed} failed: make soak MINUTES=1 SEED={seed}", flush=True)
                return status
        seed += 1
        if time.monotonic() > end:
            print(f"seeds {given.seed} to {seed - 1} passed", flush=True)
            return 0


def _round(paths: Sequence[str], seed: int) -> int:
    print(f"== seed {seed}: {' '.join(paths)}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", str(LONGEST_ROUND)]
    environment = {**os.environ, "SOAK_SEED": str(seed), "HYPOTHESIS_PROFILE": "soak"}
    return subprocess.run(
        [*command, f"--hypothesis-seed={seed}", *paths], env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
