"""On a node that runs srv6mgrd: one measurement, its numbers as JSON.

``configure COUNT``      seconds that the commit of the whole configuration takes
``change COUNT TIMES``   seconds of commits of one more SID each
``vrfs COUNT``           the same as ``configure``, of VRFs with BGP
``vrf COUNT TIMES``      the same as ``change``, of VRFs with BGP
``compare TIMES``        seconds of compares that find all as desired
``repair COUNT TIMES``   seconds from the deletion of a SID by hand to its return
``idle SECONDS``         percent of a CPU used, and MiB resident
``gap``                  milliseconds that srv6mgrd's event loop was blocked, at most
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from bench import sids, vrfs
from srv6mgrd.counters.node import DAEMONS, NodeReader
from srv6mgrd.kernel.adapter import LinuxKernel
from srv6mgrd.kernel.events import KernelEvents
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.checks import SID_TABLE
from srv6mgrd.model.prefix import Prefix
from srv6mgrd.plan.actions import Delete

TIMEOUT_MS = 600_000
MODULE = "srv6mgr-srv6"
TIMEOUT = 60.0
# Names the runtime directory of srv6mgrd where it is not the default one.
RUNTIME = "BENCH_RUNTIME"


def configure(config: dict[str, Any]) -> list[float]:
    import sysrepo

    with (
        sysrepo.SysrepoConnection() as connection,
        connection.start_session("running") as session,
        connection.get_ly_ctx() as context,
    ):
        tree = context.parse_data_mem(json.dumps(config), "json", parse_only=True, strict=True)
        return [_timed(lambda: session.replace_config_ly(tree, MODULE, TIMEOUT_MS))]


def change(extras: Iterable[dict[str, Any]]) -> list[float]:
    import sysrepo

    runs = []
    with sysrepo.SysrepoConnection() as connection, connection.start_session("running") as session:
        for extra in extras:
            with connection.get_ly_ctx() as context:
                one = context.parse_data_mem(
                    json.dumps(extra), "json", parse_only=True, strict=True
                )
                session.edit_batch_ly(one)
                one.free()
            runs.append(_timed(lambda: session.apply_changes(timeout_ms=TIMEOUT_MS)))
            # The startup configuration is written after each: not the next one's cost.
            time.sleep(5 * runs[-1])
    return runs


def _later(extra: Callable[[int], dict[str, Any]], count: int, times: int) -> list[float]:
    return change(extra(number) for number in range(count + 1, count + 1 + times))


def compare(times: int) -> list[float]:
    import sysrepo

    def ask() -> None:
        # The binding's error for an answer without content: nothing differed.
        with contextlib.suppress(sysrepo.SysrepoInternalError):
            session.rpc_send("/srv6mgr-operations:reconcile", {}, TIMEOUT_MS)
            raise RuntimeError("something was repaired")

    with sysrepo.SysrepoConnection() as connection, connection.start_session() as session:
        return [_timed(ask) for _ in range(times)]


def repair(count: int, times: int) -> list[float]:
    return asyncio.run(_repair(count, times))


async def _repair(count: int, times: int) -> list[float]:
    """One SID after the other, at random; seen by the kernel's own notifications."""
    kernel = LinuxKernel()
    events = KernelEvents(ignore_port=kernel.port)
    runs = []
    for number in random.Random(1).sample(range(1, count + 1), times):
        route = SidRoute(Prefix.parse(sids.address(number)), Behavior.END, SID_TABLE)
        start = time.perf_counter()
        if rejected := kernel.apply([Delete(route)]):
            raise RuntimeError(f"{route.prefix}: {rejected[0].message}")
        async with asyncio.timeout(TIMEOUT):
            async for batch in events:
                if any(e.key == route.key and not e.removed for e in batch):
                    break
        runs.append(time.perf_counter() - start)
    events.close()
    kernel.close()
    return runs


def idle(seconds: float) -> dict[str, float]:
    lock = Path(os.environ.get(RUNTIME, "/run/srv6mgr")) / "srv6mgrd.lock"
    process = Path("/proc") / lock.read_text().strip()
    before = _cpu(process)
    start = time.monotonic()
    time.sleep(seconds)
    used = (_cpu(process) - before) / (time.monotonic() - start)
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line
    )
    return {
        "cpu": 100 * used,
        "memory": int(status["VmRSS"].split()[0]) / 1024,
        "peak": int(status["VmHWM"].split()[0]) / 1024,
    }


def gap() -> int:
    """As srv6mgrd measures it, from its start to its last update, up to 30 s ago."""
    found = NodeReader(Path(os.environ.get(RUNTIME, "/run/srv6mgr")) / "node.json").read()
    (daemon,) = found.members[DAEMONS]["daemon"]
    return int(daemon["longest-gap"])


def _cpu(process: Path) -> float:
    """Seconds of CPU used so far, kernel's part included."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    name, *arguments = sys.argv[1:]
    measures: dict[str, Callable[..., Any]] = {
        # With none: nothing is declared at all.
        "configure": lambda count: configure(sids.config(count) if count else {}),
        "change": partial(_later, sids.extra),
        "vrfs": lambda count: configure(vrfs.config(count)),
        "vrf": partial(_later, vrfs.extra),
        "compare": compare,
        "repair": repair,
        "idle": idle,
        "gap": gap,
    }
    print(json.dumps(measures[name](*map(int, arguments))))


if __name__ == "__main__":
    main()
