"""Hostile clients of all kinds at once, and how long well-behaved ones wait meanwhile.

    make bench BENCH=hostile [PART="all KIND..."]

On the host's kernel: srv6mgrd, srv6-gnmid and srv6-netconfd have one CPU,
all clients the other one.
Each kind of client comes from a network of its own. ``all`` is the goal: 50 clients of all kinds
beside a collector of gNMI and an orchestrator of NETCONF, in turn with the same without the 50. The
name of a kind attacks with its clients alone; ``kinds`` is each of them. Each phase begins with
daemons that were just started.
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
from bench.report import Goal, Report, describe_machine, percentile

SIDS = 2000
# Clients of each kind: 50 of all.
CLIENTS = 5
ROUNDS, ROUNDS_ALONE = 8, 1
SECONDS = 30
# p99 of what a well-behaved client waits, with hostile clients or without them.
GOAL = 3.0
# Waits of which a p99 says more than the longest of them does.
SAMPLES = 100
READERS = {"gnmi": READER, "netconf": "root"}
# Seconds below which nobody notices a difference: a sample that is 5 % of its interval late.
LEAST = 0.05


@dataclass(slots=True)
class Found:
    """Of one phase of one kind, or of several rounds of it."""

    # By what is waited for, those of each round.
    waits: dict[str, list[list[float]]] = field(default_factory=lambda: defaultdict(list))
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
    # Daemons that no attack has left its marks on, and that are as young as in other phases.
    router.stop()
    router.start()
    before = router.used()
    with attacked(router, kinds):
        readers = {
            name: router.client("bench.hostile_readers", user, name, str(SECONDS), first=True)
            for name, user in READERS.items()
        }
        found = Found()
        for name, reader in readers.items():
            said, _ = reader.communicate(timeout=SECONDS * 10)
            waits: Waits = json.loads(said)
            for what, runs in waits.items():
                found.waits[f"{name} {what}"].append(runs)
        found.dead = set(router.dead())
        for name, (cpu, memory) in router.used().items() if not found.dead else ():
            found.used[name] = (cpu - before[name][0], memory - before[name][1])
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
    lost = [
        what
        for what, rounds in quiet.waits.items()
        if not all(rounds) or max(map(max, rounds)) >= DEADLINE
    ]
    if lost:
        raise RuntimeError(f"no answer to {', '.join(lost)} though nobody attacks")
    goals = []
    for what in sorted(quiet.waits):
        ours, peer = hostile.waits[what], quiet.waits[what]
        line = f"{name}: {what}, p99 of {_number(ours)}, or of {_number(peer)} without"
        goals.append(Goal(line, p99s(ours), p99s(peer), goal, of="median"))
    dead = Goal(f"{name}: daemons that died", [float(len(hostile.dead))], [], 0, "", of="most")
    return [*goals, dead]


def p99s(rounds: Sequence[Sequence[float]]) -> list[float]:
    """The p99 of each part of the rounds. A part is as many of them, one behind the other, as have
    enough waits: what else the machine does meanwhile shows in few parts, and so not in their
    median; and of fewer waits the p99 would be the longest."""
    parts: list[list[float]] = []
    part: list[float] = []
    for waits in rounds:
        # A round without an answer waited for all of it.
        part += waits or [float(SECONDS)]
        if len(part) >= SAMPLES:
            parts.append(part)
            part = []
    if part:
        # Too few for a part of their own.
        last = parts.pop() if parts else []
        parts.append(last + part)
    return [max(LEAST, percentile(each, 99)) for each in parts]


def _number(rounds: Sequence[Sequence[float]]) -> int:
    return sum(map(len, rounds))


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
            for _ in range(ROUNDS if one == "all" else ROUNDS_ALONE):
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
