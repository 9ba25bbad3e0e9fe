"""A chaos campaign: seeds one after the other until the time is over or an invariant is violated.

    python -m tests.soak.chaos --seed 7 [--seconds 600] [--steps 40] [--only 3,7] [--fault NAME]

Each seed has so many steps. ``--only`` takes these steps of one seed alone, ``--fault`` strikes
with this fault in each step, or with one of those that a shell pattern matches. A violation is
printed with the command that takes the steps again.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import sys
import time
from collections.abc import Sequence

from tests.soak.chaos.campaign import Campaign, Violation, steps
from tests.soak.chaos.faults import FAULTS
from tests.soak.chaos.plan import Step

STEPS = 40
_AGAIN = (
    "lab/lab run --topology lab/topologies/two-pe.toml --"
    " /opt/srv6mgr/bin/python -m tests.soak.chaos"
)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.soak.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--only", type=lambda text: [int(n) for n in text.split(",")], default=[])
    parser.add_argument("--fault", action="extend", type=faults, default=[])
    parser.add_argument("--keep-going", action="store_true", help="report all, end at the last")
    given = parser.parse_args(arguments)
    end = time.monotonic() + given.seconds
    campaign = Campaign.begin()
    found: list[Violation] = []
    for seed in itertools.count(given.seed):
        print(f"== seed {seed}", flush=True)
        taken: list[Step] = []
        for one in itertools.islice(steps(seed, given.only, given.fault), given.steps):
            if time.monotonic() > end:
                break
            taken.append(one)
            if (violation := campaign.run(one)) is None:
                continue
            found.append(violation)
            print(report(seed, taken, violation, given.fault), flush=True)
            if not given.keep_going:
                return 1
        if given.only or time.monotonic() > end or given.seconds == float("inf"):
            break
    print(f"seeds {given.seed} to {seed}: {len(found)} violations")
    return bool(found)


def faults(pattern: str) -> list[str]:
    """Names that a shell pattern matches."""
    if found := fnmatch.filter(FAULTS, pattern):
        return found
    raise argparse.ArgumentTypeError(f"no such fault; there are {', '.join(FAULTS)}")


def report(seed: int, taken: Sequence[Step], violation: Violation, faults: Sequence[str]) -> str:
    """The violation, and the scripts that take its step again, alone and after all before it."""
    strikes = "".join(f" --fault '{fault}'" for fault in faults)
    numbers = ",".join(str(one.number) for one in taken)
    return "\n".join([
        f"VIOLATION at {violation.step}",
        *(f"  {line}" for line in violation.lines),
        "alone:",
        f"  {_AGAIN} --seed {seed}{strikes} --only {violation.step.number}",
        "after the steps before it:",
        f"  {_AGAIN} --seed {seed}{strikes} --only {numbers}",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
