"""What a running srv6mgrd takes for its work, wherever it runs.

Beside what a commit takes is what sysrepo takes for the same commit without srv6mgrd: that part
nobody can take away.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from bench.report import Goal
from bench.sids import SIDS
from srv6mgrd.vitals import INTERVAL

ROUNDS = 5
# How often what takes longer with many SIDs is done, and the memory (MiB) that it may take.
CHANGES = {10_000: 5, 100_000: 2}
REPAIRS = {10_000: 50, 100_000: 15}
RESTARTS = {10_000: 5, 100_000: 1}
# Milliseconds, whatever is committed.
GAP = 50
MEMORY = {10_000: 150, 100_000: 400}
IDLE_SECONDS = 30
# Until a commit no longer shows in what is used: the startup configuration is written after it.
SETTLING_SECONDS = 10
# Ours beside sysrepo alone: less than twice of it is less than what sysrepo itself takes.
COMMIT_GOAL = 2.0


class Place(Protocol):
    """Where srv6mgrd runs, with sysrepo and Redis. Its ``name`` is in front of what is reported."""

    name: str

    def start(self) -> None:
        """srv6mgrd; it is ready on return."""

    def stop(self) -> None: ...

    def run(self, *command: str) -> str:
        """What a command says."""

    def popen(self, *command: str) -> subprocess.Popen[str]:
        """A command that goes on, its output to be read."""


def parts() -> dict[str, int]:
    """The number of SIDs of each part that can be asked for."""
    return {f"{count // 1000}k": count for count in SIDS}


def goals_of(place: Place, count: int) -> list[Goal]:
    goals: list[Goal] = []

    def goal(what: str, *runs: Any, **named: Any) -> None:
        goals.append(Goal(f"{place.name}: {what}, {count // 1000}k SIDs", *runs, **named))

    bare = _measure(place, "configure", count)
    bare_changes = _measure(place, "change", count, CHANGES[count])
    _measure(place, "configure", 0)
    place.start()
    whole = _measure(place, "configure", count)
    goal("commit of all, or sysrepo alone", whole, bare, None)
    _measure(place, "idle", SETTLING_SECONDS)
    changes = _measure(place, "change", count, CHANGES[count])
    goal("commit of one more, or sysrepo alone", changes, bare_changes, COMMIT_GOAL, of="median")
    _measure(place, "idle", SETTLING_SECONDS)
    goal("full compare", _measure(place, "compare", ROUNDS), [], None)
    repairs = _measure(place, "repair", count, REPAIRS[count])
    goal("repair of a deleted SID, p50", repairs, [], None, of="p50")
    goal("repair of a deleted SID, p99", repairs, [], 1.0, of="p99")
    _measure(place, "idle", SETTLING_SECONDS)
    idle = _measure(place, "idle", IDLE_SECONDS)
    goal("memory", [idle["memory"]], [], MEMORY[count], "MiB")
    goal("memory at its peak", [idle["peak"]], [], None, "MiB")
    goal("CPU when idle", [idle["cpu"]], [], 1.0, "%")
    # With all of the above in it: the last update is younger.
    goal("event loop stood still, at most", [_measure(place, "gap")], [], GAP, "ms")
    seconds, writes = _restarts(place, RESTARTS[count])
    limit = 3.0 if count == SIDS[0] else None
    goal("restart until ready", seconds, [], limit, of="median")
    goal("writes of a restart", writes, [], 0, "", of="most")
    _measure(place, "configure", 0)
    place.stop()
    return goals


def vrf_goals_of(place: Place, count: int) -> list[Goal]:
    """What many VRFs with BGP take, and how long the event loop was blocked meanwhile."""
    goals: list[Goal] = []

    def goal(what: str, *runs: Any, **named: Any) -> None:
        goals.append(Goal(f"{place.name}: {what}, {count:,} VRFs", *runs, **named))

    place.start()
    goal("commit of all", _measure(place, "vrfs", count), [], None)
    _measure(place, "idle", SETTLING_SECONDS)
    goal("commit of one more", _measure(place, "vrf", count, ROUNDS), [], None, of="median")
    goal("full compare", _measure(place, "compare", ROUNDS), [], None)
    _measure(place, "idle", SETTLING_SECONDS)
    idle = _measure(place, "idle", IDLE_SECONDS)
    goal("memory", [idle["memory"]], [], None, "MiB")
    goal("CPU when idle", [idle["cpu"]], [], None, "%")
    goal("commit of none", _measure(place, "vrfs", 0), [], None)
    _measure(place, "idle", round(INTERVAL) + 1)
    goal("event loop stood still, at most", [_measure(place, "gap")], [], GAP, "ms")
    place.stop()
    return goals


def _measure(place: Place, *arguments: object) -> Any:
    found = place.run("python", "-m", "bench.reconcile_node", *map(str, arguments))
    say(f"{place.name}: {' '.join(map(str, arguments))}: {found.strip()[:100]}")
    return json.loads(found)


def _restarts(place: Place, times: int) -> tuple[list[float], list[float]]:
    """Seconds until it is ready, and route and link notifications of the kernel meanwhile."""
    seconds, writes = [], []
    for _ in range(times):
        place.stop()
        with _monitor(place) as lines:
            start = time.perf_counter()
            place.start()
            seconds.append(time.perf_counter() - start)
        writes.append(float(len(lines)))
    say(f"{place.name}: restarts: {seconds}")
    return seconds, writes


@contextmanager
def _monitor(place: Place) -> Iterator[list[str]]:
    """What ``ip monitor`` says of routes, rules and links; to be read after the block."""
    child = place.popen("ip", "monitor", "route", "rule", "link")
    lines: list[str] = []
    try:
        yield lines
    finally:
        child.terminate()
        lines += child.communicate()[0].splitlines()


def say(text: str) -> None:
    print(f"-- {text}", file=sys.stderr, flush=True)
