"""In the lab: what a running srv6mgrd takes for its work, and what a VRF costs its users.

    python -m bench.reconcile_lab [vrf] [10k] [100k]

Leaves its goals as JSON for ``bench.reconcile``. What a commit takes stands beside what sysrepo
takes for the same commit without srv6mgrd: its own part of it, which nobody can take away.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from bench.report import Goal, describe_machine
from bench.sids import SIDS
from lab.guest.nodes import Node
from lab.guest.services import Router

OUTPUT = Path(os.environ.get("LAB_OUT", ".")) / "reconcile.json"
ROUTER = "pe1"
ROUNDS = 5
# How often what takes longer with many SIDs is done, and the memory (MiB) that it may take.
CHANGES = {10_000: 5, 100_000: 2}
REPAIRS = {10_000: 50, 100_000: 15}
RESTARTS = {10_000: 5, 100_000: 1}
MEMORY = {10_000: 150, 100_000: 400}
IDLE_SECONDS = 30
# Until a commit no longer shows in what is used: the startup configuration is written after it.
SETTLING_SECONDS = 10
# Ours beside sysrepo alone: less than twice of it is less than what sysrepo itself takes.
COMMIT_GOAL = 2.0
# What a VRF may take from the rate of its users.
VRF_GOAL = 0.9


def main() -> int:
    parts: dict[str, Callable[[], list[Goal]]] = {"vrf": _request_response}
    parts |= {f"{count // 1000}k": partial(_daemon, count) for count in SIDS}
    asked = [name for name in sys.argv[1:] or ("vrf", "10k") if name in parts]
    machine, goals = describe_machine(), list[Goal]()
    for name in asked:
        goals += parts[name]()
        # Each part for itself: a later one may take too long.
        runs = {"machine": machine, "goals": [asdict(goal) for goal in goals]}
        OUTPUT.write_text(json.dumps(runs))
    return 0


def _daemon(count: int) -> list[Goal]:
    size = f"{count // 1000}k SIDs"
    router = Router(ROUTER)
    router.start("redis", "frr", "sysrepo")
    bare = _measure("configure", count)
    bare_changes = _measure("change", count, CHANGES[count])
    _measure("configure", 0)
    router.start("srv6mgrd")
    whole = _measure("configure", count)
    goals = [Goal(f"commit of all, or sysrepo alone, {size}", whole, bare, None)]
    _measure("idle", SETTLING_SECONDS)
    changes = _measure("change", count, CHANGES[count])
    what = f"commit of one more, or sysrepo alone, {size}"
    goals.append(Goal(what, changes, bare_changes, COMMIT_GOAL, of="median"))
    _measure("idle", SETTLING_SECONDS)
    goals.append(Goal(f"full compare, {size}", _measure("compare", ROUNDS), [], None))
    repairs = _measure("repair", count, REPAIRS[count])
    goals.append(Goal(f"repair of a deleted SID, p50, {size}", repairs, [], None, of="p50"))
    goals.append(Goal(f"repair of a deleted SID, p99, {size}", repairs, [], 1.0, of="p99"))
    _measure("idle", SETTLING_SECONDS)
    idle = _measure("idle", IDLE_SECONDS)
    goals.append(Goal(f"memory, {size}", [idle["memory"]], [], MEMORY[count], "MiB"))
    goals.append(Goal(f"memory at its peak, {size}", [idle["peak"]], [], None, "MiB"))
    goals.append(Goal(f"CPU when idle, {size}", [idle["cpu"]], [], 1.0, "%"))
    seconds, writes = _restarts(router, RESTARTS[count])
    limit = 3.0 if count == SIDS[0] else None
    goals.append(Goal(f"restart until ready, {size}", seconds, [], limit, of="median"))
    goals.append(Goal(f"writes of a restart, {size}", writes, [], 0, "", of="most"))
    _measure("configure", 0)
    for service in ("srv6mgrd", "frr", "redis"):
        router.stop(service)
    return goals


def _measure(*arguments: object) -> Any:
    command = ["python", "-m", "bench.reconcile_node", *map(str, arguments)]
    found = Node(ROUTER).run(command, timeout=1200).stdout
    _say(f"{' '.join(map(str, arguments))}: {found.strip()[:100]}")
    return json.loads(found)


def _restarts(router: Router, times: int) -> tuple[list[float], list[float]]:
    """Seconds until it is ready, and route and link notifications of the kernel meanwhile."""
    seconds, writes = [], []
    for _ in range(times):
        router.stop("srv6mgrd")
        with _monitor(router.node) as lines:
            start = time.perf_counter()
            router.start("srv6mgrd")
            seconds.append(time.perf_counter() - start)
        writes.append(float(len(lines)))
    return seconds, writes


@contextmanager
def _monitor(node: Node) -> Iterator[list[str]]:
    """What ``ip monitor`` says of routes, rules and links; to be read after the block."""
    child = node.popen(
        ["ip", "monitor", "route", "rule", "link"], stdout=subprocess.PIPE, text=True
    )
    lines: list[str] = []
    try:
        yield lines
    finally:
        child.terminate()
        lines += child.communicate()[0].splitlines()


def _request_response() -> list[Goal]:
    """Server in a VRF on one pair of nodes, in none on another one like it, in turn."""
    program = OUTPUT.with_name("echo")
    subprocess.run(["gcc", "-O2", "-o", str(program), "bench/native/echo.c"], check=True)
    Node("pe1").run(
        ["sh", "-c", "sysctl -qw net.ipv6.conf.to-ce-red.keep_addr_on_down=1;"
         "ip link add red type vrf table 10 && ip link set red up &&"
         "ip link set to-ce-red master red"]
    )  # fmt: skip
    places = {
        "VRF": ("pe1", "ce-red1", {"IPv4": "10.1.0.1", "IPv6": "fd00:1::1"}, ["red"]),
        "none": ("pe2", "ce-red2", {"IPv4": "10.2.0.1", "IPv6": "fd00:2::1"}, []),
    }
    goals = []
    for protocol in ("tcp", "udp"):
        for family in ("IPv4", "IPv6"):
            _say(f"request and response, {protocol.upper()} over {family}")
            runs: dict[str, list[float]] = {"VRF": [], "none": []}
            for _ in range(ROUNDS):
                for place, (server, client, addresses, device) in places.items():
                    where = [protocol, addresses[family], "7777"]
                    runs[place].append(_rate(program, Node(server), Node(client), where, device))
            name = f"{protocol.upper()} request and response over {family}, VRF or none"
            goals.append(Goal(name, runs["VRF"], runs["none"], VRF_GOAL, "/s", True, "median"))
    Node("pe1").run(["ip", "link", "delete", "red"])
    return goals


def _rate(program: Path, server: Node, client: Node, where: list[str], device: list[str]) -> float:
    """Transactions per second."""
    child = server.popen(
        [str(program), "serve", *where, *device], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        asked = client.run([str(program), "ask", *where, "1"])
        return float(asked.stdout)
    finally:
        child.kill()
        child.wait()


def _say(text: str) -> None:
    print(f"-- {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
