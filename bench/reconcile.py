"""SIDs by the ten and hundred thousand: put into the kernel, dumped, and kept.

This part runs on the host's kernel, in a network namespace of its own: what netlink costs, where a
veth takes the place of the device of the SIDs should there be no dummy, and what a running srv6mgrd
takes there (``bench.reconcile_host``). That is measured in the lab, too (``bench.reconcile_lab``),
where VRFs and FRR are but every page fault and system call is dear; its runs are read from the file
that it left. ``make bench BENCH=reconcile`` does both, PART="rates vrf 10k 100k vrfs" the parts
that are named (vrfs: 1,000 VRFs with BGP, in the lab alone), and PART="host 100k" those on the
host's kernel alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.reconcile_daemon import goals_of, parts
from bench.reconcile_host import host, own_network
from bench.report import Goal, Report, describe_machine
from bench.sids import SIDS, address
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kinds.route import SID_METRIC
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.model.reserved import MAIN_TABLE, ROUTE_PROTOCOL, SID_DEVICE
from srv6mgrd.plan.actions import Action, Create, Delete

ROUNDS = 3
# pyroute2 takes its time; a sample gives the rate.
_SAMPLE = 1000
FROM_LAB = Path("build/lab/bench/reconcile.json")


def main() -> int:
    asked = sys.argv[1:] or ["rates", "vrf", "10k"]
    own_network()
    goals = _all_rates() if "rates" in asked else []
    for name in asked:
        if name in parts():
            with host() as place:
                goals += goals_of(place, parts()[name])
    report = Report("reconcile", goals)
    report.machine = f"host: {describe_machine()}"
    if not {"rates", "host"} & set(sys.argv[1:]) and FROM_LAB.exists():
        lab = json.loads(FROM_LAB.read_text())
        report.machine += f"\nlab: {lab['machine']}"
        report.goals += [Goal(**goal) for goal in lab["goals"]]
    return report.finish()


def _all_rates() -> list[Goal]:
    stand_in = f"ip link add {SID_DEVICE} type veth peer name far && ip link set far up"
    subprocess.run(
        f"ip link add {SID_DEVICE} type dummy 2>/dev/null || ({stand_in}); "
        f"ip link set {SID_DEVICE} up",
        shell=True,
        check=True,
    )
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        program = folder / "routes"
        subprocess.run(["gcc", "-O2", "-o", str(program), "bench/native/routes.c"], check=True)
        kernel = LinuxKernel()
        goals = [goal for count in SIDS for goal in _rates(kernel, program, folder, count)]
        kernel.close()
    subprocess.run(["ip", "link", "delete", SID_DEVICE], check=True)
    return goals


def _rates(kernel: LinuxKernel, program: Path, folder: Path, count: int) -> list[Goal]:
    """Rates of writing and reading, ours and the peers' in turn."""
    routes = [_route(n) for n in range(1, count + 1)]
    put: list[Action] = [Create(route) for route in routes]
    take: list[Action] = [Delete(route) for route in routes]
    batch = folder / f"{count}.batch"
    batch.write_text("".join(f"route add {_words(route)}\n" for route in routes))
    native = [str(program), str(count), str(SID_TABLE), SID_DEVICE]

    def c(what: str) -> float:
        command = [native[0], what, *native[1:]]
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    runs: dict[str, list[float]] = {}

    def note(name: str, seconds: float, size: int = count) -> None:
        runs.setdefault(name, []).append(size / seconds)

    show = ["ip", "-6", "-j", "-s", "route", "show", "table", str(SID_TABLE)]
    for _ in range(ROUNDS):
        note("C adds", c("add"))
        note("C dumps", c("dump"))
        note("C deletes", c("delete"))
        note("iproute2 adds", _timed(lambda: _run(["ip", "-6", "-batch", str(batch)])))
        note("iproute2 dumps", _timed(lambda: json.loads(_run(show))))
        _run(["ip", "-6", "route", "flush", "table", str(SID_TABLE)])
        note("we add", _timed(lambda: _done(kernel.apply(put))))
        # One that has seen nothing yet, and one that finds all as it was.
        fresh = LinuxKernel()
        note("we compare first", _timed(partial(fresh.observe, [])))
        note("we dump first", _timed(fresh.sid_counters))
        note("we compare", _timed(partial(fresh.observe, [])))
        note("we dump", _timed(fresh.sid_counters))
        fresh.close()
        note("we delete", _timed(lambda: _done(kernel.apply(take))))
        note("pyroute2 adds", _pyroute2(routes[:_SAMPLE]), _SAMPLE)
        kernel.apply(take[:_SAMPLE])
    size = f"{count // 1000}k SIDs"

    def rate(what: str, ours: str, peer: str, goal: float | None) -> Goal:
        return Goal(f"{what}, {size}", runs[ours], runs[peer], goal, "/s", more=True)

    return [
        rate("install or ip -6 -batch", "we add", "iproute2 adds", 1.0),
        rate("install or pyroute2", "we add", "pyroute2 adds", None),
        rate("install or C", "we add", "C adds", None),
        rate("remove or C", "we delete", "C deletes", None),
        rate("first dump of counters or ip -j -s", "we dump first", "iproute2 dumps", 1.0),
        rate("first dump to objects or ip -j -s", "we compare first", "iproute2 dumps", 1.0),
        rate("dump of counters that stand or C", "we dump", "C dumps", None),
        rate("compare of what stands or C dump", "we compare", "C dumps", None),
    ]


def _route(number: int) -> SidRoute:
    prefix = Prefix.parse(address(number))
    return SidRoute(prefix, Behavior.END_DT6, SID_TABLE, lookup_table=MAIN_TABLE)


def _words(route: SidRoute) -> str:
    """As ``ip route`` takes it."""
    return (
        f"{route.prefix} table {SID_TABLE} metric {SID_METRIC} proto {ROUTE_PROTOCOL}"
        f" encap seg6local action {route.action} table {MAIN_TABLE} count dev {SID_DEVICE}"
    )


def _pyroute2(routes: Sequence[SidRoute]) -> float:
    """Seconds. It knows no counters, and sends one route at a time."""
    from pyroute2 import IPRoute

    with IPRoute() as netlink:
        (device,) = netlink.link_lookup(ifname=SID_DEVICE)
        fixed: dict[str, Any] = {"family": 10, "oif": device, "table": SID_TABLE}
        fixed |= {"proto": ROUTE_PROTOCOL, "priority": SID_METRIC}
        encap = {"type": "seg6local", "action": "End.DT6", "table": MAIN_TABLE}

        def add() -> None:
            for route in routes:
                netlink.route("add", dst=str(route.prefix), encap=dict(encap), **fixed)

        return _timed(add)


def _run(command: Sequence[str]) -> bytes:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def _done(rejected: Sequence[object]) -> None:
    if rejected:
        raise RuntimeError(f"refused: {rejected[0]}")


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.exit(main())
