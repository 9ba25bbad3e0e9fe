"""In the lab: what a Set of ten thousand SIDs takes, from the request to the kernel.

    python -m bench.gnmi_lab [set]

Leaves its goals as JSON for ``bench.gnmi``. Beside it stands what sysrepo takes for the same commit
without anybody of ours: the part of it that nobody can take away.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.gnmi_node import FILES
from bench.report import Goal, describe_machine
from lab.guest.catalogue import Service
from lab.guest.nodes import Node
from lab.guest.services import Router

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "gnmi.json"
ROUTER = "pe1"
SIDS = 10_000
ROUNDS = 5
# Seconds for all of it, on two CPUs.
SET_GOAL = 1.0


def main() -> int:
    if sys.argv[1:] and "set" not in sys.argv[1:]:
        return 0
    runs = {"machine": describe_machine(), "goals": [asdict(goal) for goal in _set()]}
    OUTPUT.write_text(json.dumps(runs))
    return 0


def _set() -> list[Goal]:
    router = Router(ROUTER)
    router.start("redis", "frr", "sysrepo")
    bare = []
    for _ in range(ROUNDS):
        bare += _measure("bench.reconcile_node", "configure", SIDS)
        _measure("bench.reconcile_node", "configure", 0)
    for daemon, file in FILES.items():
        command = ("python", "-m", "bench.daemon_stages", daemon, str(file))
        router.start_service(Service(daemon, command))
    found = _measure("bench.gnmi_node", "set", SIDS, ROUNDS)
    for daemon in reversed(FILES):
        router.stop(daemon)
    whole = [run.pop("all") for run in found]
    gone = [run.pop("none") for run in found]
    size = f"{SIDS // 1000}k SIDs"
    goals = [
        Goal(f"Set of {size} until installed and counted", whole, [], SET_GOAL, of="median"),
        Goal(f"the same or sysrepo alone, {size}", whole, bare, None, of="median"),
        Goal(f"Set that deletes {size}", gone, [], None, of="median"),
    ]
    stages = sorted({name for run in found for name in run})
    goals += [
        Goal(f"of the Set: {name}", [run.get(name, 0.0) for run in found], [], None, of="median")
        for name in stages
    ]
    return goals


def _measure(module: str, *arguments: object) -> Any:
    command = ["python", "-m", module, *map(str, arguments)]
    found = Node(ROUTER).run(command, timeout=1200).stdout
    print(
        f"-- {' '.join(map(str, arguments))}: {found.strip()[:1500]}", file=sys.stderr, flush=True
    )
    return json.loads(found)


if __name__ == "__main__":
    sys.exit(main())
