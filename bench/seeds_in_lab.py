"""In a boot of the lab: the runs of one part, to a file that ``bench.seeds_runs`` reads."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import seeds_behaviors, seeds_vrf
from bench.seeds_runs import Runs, write

PARTS: dict[str, Callable[[str], Runs]] = {
    "behaviors": seeds_behaviors.in_lab,
    "vrf": seeds_vrf.in_lab,
}


def main() -> int:
    part, kernel = sys.argv[1:]
    write(PARTS[part](kernel))
    return 0


if __name__ == "__main__":
    sys.exit(main())
