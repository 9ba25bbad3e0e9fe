"""Hostile clients of all kinds at once, and how long well-behaved ones wait meanwhile.

    make bench BENCH=hostile [PART="all KIND..."]

On the host's kernel: srv6mgrd, srv6-gnmid and srv6-netconfd have one CPU,
all clients the other one.
Each kind of client comes from a network of its own. ``all`` is the goal: 50 clients of all kinds
beside a collector of gNMI and an orchestrator of NETCONF, in turn with the same without the 50. The
name of a kind attacks with its clients alone; ``kinds`` is each of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench.gnmi_servers import configure
from bench.hostile_kinds import KINDS
from bench.hostile_readers import DEADLINE, Waits
from bench.hostile_router import GUEST, READER, Fortress, ended, fortress
from bench.reconcile_host import own_network
from bench.report import Goal, Report, describe_machine

SIDS = 2000
# Clients of each kind: 50 of all.
CLIENTS = 5
ROUNDS = 4
SECONDS = 10
# p99 of what a well-behaved client waits, with hostile clients or without them.
GOAL = 3.0
READERS = {"gnmi": READER, "netconf": "root"}
# Seconds below which nobody notices a difference: a sample that is 5 % of its interval late.
LEAST = 0.05


@dataclass(slots=True)
class Found:
    """Of one phase of one kind, or of several rounds of it."""

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    dead: set[str] = field(default_factory=set)
    # Seconds of CPU in each second, and MiB more at the end, of each daemon.
    used: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, other: Found) -> None:
        for name, runs in other.waits.items():
            self.waits[name] += runs
        self.dead |= other.dead
        self.used = other.used


def phase(router: Fortress, kinds: Sequence[str]) -> Found:
    """Well-behaved clients for some seconds, beside hostile ones of these kinds."""
    before = router.used()
    with attacked(router, kinds):
        readers = {
            name: router.client("bench.hostile_readers", user, name, str(SECONDS))
            for name, user in READERS.items()
        }
        found = Found()
        for name, reader in readers.items():
            said, _ = reader.communicate(timeout=SECONDS * 10)
            waits: Waits = json.loads(said)
            for what, runs in waits.items():
                found.waits[f"{name} {what}"] += runs
        found.dead = set(router.dead())
        for name, (cpu, memory) in router.used().items() if not found.dead else ():
            found.used[name] = (cpu - before[name][0], memory - before[name][1])
    if kinds:
        # The next phase meets daemons that no attack has left its marks on.
        router.stop()
        router.start()
    return found


@contextmanager
def attacked(router: Fortress, kinds: Sequence[str]) -> Iterator[None]:
    hostile: dict[str, subprocess.Popen[str]] = {}
    try:
        for kind in kinds:
            hostile[kind] = router.client("bench.hostile_kinds", GUEST, kind, str(CLIENTS))
        yield
    finally:
        for kind, outcomes in zip(hostile, ended(list(hostile.values())), strict=True):
            print(f"-- {kind}: {outcomes}", file=sys.stderr, flush=True)


def goals_of(name: str, quiet: Found, hostile: Found, goal: float | None) -> list[Goal]:
    lost = [what for what, runs in quiet.waits.items() if not runs or max(runs) >= DEADLINE]
    if lost:
        raise RuntimeError(f"no answer to {', '.join(lost)} though nobody attacks")
    goals = [
        Goal(f"{name}: {what}, p99, or without", _above(hostile, what), _above(quiet, what), goal,
             of="p99")
        for what in sorted(quiet.waits)
    ]  # fmt: skip
    dead = Goal(f"{name}: daemons that died", [float(len(hostile.dead))], [], 0, "", of="most")
    return [*goals, dead]


def _above(found: Found, what: str) -> list[float]:
    return [max(LEAST, seconds) for seconds in found.waits[what]] or [float(SECONDS)]


def main() -> int:
    asked = sys.argv[1:] or ["all"]
    if "kinds" in asked:
        asked = [*KINDS, *(one for one in asked if one != "kinds")]
    report = Report("hostile", machine=f"host: {describe_machine()}")
    own_network()
    with fortress() as router:
        configure(SIDS)
        for one in asked:
            kinds = list(KINDS) if one == "all" else [one]
            quiet, hostile = Found(), Found()
            for _ in range(ROUNDS if one == "all" else 1):
                quiet.add(phase(router, ()))
                hostile.add(phase(router, kinds))
            _say(f"{one}: nobody attacks", quiet)
            _say(one, hostile)
            report.goals += goals_of(one, quiet, hostile, GOAL)
    return report.finish()


def _say(name: str, found: Found) -> None:
    used = ", ".join(
        f"{daemon} {cpu / SECONDS:.2f} CPU {memory:+.0f} MiB"
        for daemon, (cpu, memory) in found.used.items()
    )
    died = f"; died: {', '.join(sorted(found.dead))}" if found.dead else ""
    print(f"-- {name}: {used}{died}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
