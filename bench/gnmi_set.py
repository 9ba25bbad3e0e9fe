"""What a Set of ten thousand SIDs takes, from the request to the kernel, wherever the daemons run.

Beside it is what sysrepo takes for the same commit without anybody of ours: the part of it that
nobody can take away.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

from bench.report import Goal

SIDS = 10_000
ROUNDS = 9
# Seconds until all are installed, with their counters, on two CPUs.
SET_GOAL = 1.0


class Place(Protocol):
    """Where sysrepo and Redis run. Its ``name`` is in front of what is reported."""

    name: str

    def start(self) -> None:
        """srv6mgrd and srv6-gnmid under ``bench.daemon_stages``; they are ready on return."""

    def stop(self) -> None: ...

    def run(self, *command: str) -> str:
        """What a command says."""


def goals_of(place: Place) -> list[Goal]:
    bare = []
    for _ in range(ROUNDS):
        bare += _measure(place, "bench.reconcile_node", "configure", SIDS)
        _measure(place, "bench.reconcile_node", "configure", 0)
    place.start()
    found = _measure(place, "bench.gnmi_node", "set", SIDS, ROUNDS)
    place.stop()

    def goal(what: str, runs: list[float], peer: list[float], limit: float | None = None) -> Goal:
        return Goal(f"{place.name}: {what}", runs, peer, limit, of="median")

    size = f"{SIDS // 1000}k SIDs"
    names = ("installed", "compared", "all", "none")
    installed, compared, whole, gone = ([run.pop(name) for run in found] for name in names)
    goals = [
        goal(f"Set of {size} until installed with counters", installed, [], SET_GOAL),
        goal("the same until read back and compared", compared, []),
        goal("the same until answered", whole, []),
        goal("the same until answered, or sysrepo alone", whole, bare),
        goal(f"Set that deletes {size}", gone, []),
    ]
    stages = sorted({name for run in found for name in run})
    return goals + [
        goal(f"of the Set: {name}", [run.get(name, 0.0) for run in found], []) for name in stages
    ]


def _measure(place: Place, module: str, *arguments: object) -> Any:
    found = place.run("python", "-m", module, *map(str, arguments))
    reported = f"{place.name}: {' '.join(map(str, arguments))}: {found.strip()[:1500]}"
    print(f"-- {reported}", file=sys.stderr, flush=True)
    return json.loads(found)
