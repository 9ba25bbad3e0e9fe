"""Carry out a rehearsal of srv6net in the lab: ``python -m lab.guest.rehearsal PLAN``.

The routers start with their base configuration, srv6net's own transaction gives them the services,
and hosts ping each other. ``$LAB_OUT/rehearsal.json`` has what came of it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.guest.catalogue import service_named
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.problem import LabError
from lab.waiting import wait_until
from srv6net.compile.configuration import SRV6, Edit
from srv6net.device.gnmi import GnmiDevice
from srv6net.intent.inventory import Endpoint
from srv6net.store.sqlite import SqliteStore
from srv6net.transaction.executor import Executor, Outcome, Timing
from srv6net.transaction.record import Change, Decision, Revision

SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid")
SOCKET = "/run/srv6mgr/gnmi.sock"
# Routers that start at once: the lab has one CPU, on which those that run need their part, too, and
# each service of a router has to be ready in time. One at a time where they are many.
AT_ONCE, FEW = 4, 12
# Seconds until a service is ready beside many routers.
READY_S = 180.0
# Seconds until BGP has brought all routes, and a ping is answered.
REACHED_S = 40.0
# All targets at once; a target that answers is printed.
_PINGS = """for target in "$@"; do
    { ping -qc1 -W1 "$target" >/dev/null 2>&1 && echo "$target"; } &
done
wait"""


class Rehearsal:
    """A plan, and the times that its parts take."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._plan = plan
        self.seconds: dict[str, float] = {}
        self._devices: dict[str, GnmiDevice] = {}

    def start(self) -> None:
        """Every router runs, and has its base configuration."""
        nodes = self._plan["nodes"]
        with ThreadPoolExecutor(AT_ONCE if len(nodes) <= FEW else 1, "router") as threads:
            list(threads.map(self._start_router, nodes))

    def apply(self) -> Outcome:
        entries = self._plan["entries"]
        changes = {name: Change({}, value) for name, value in entries.items()}
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "store")
            executor = Executor(store, self._devices, timing=Timing(verify=REACHED_S))
            outcome = executor.apply(Revision(1, routers=entries), changes)
            store.close()
        return outcome

    def probe(self) -> list[str]:
        """The probes whose result is not the wanted one."""
        wanted = [one for one in self._plan["probes"] if one["is_wanted"]]
        others = [one for one in self._plan["probes"] if not one["is_wanted"]]
        missing = self._until_reached(wanted)
        there = _answered(others)
        return [
            *(f"{_pair(one)} do not reach each other" for one in missing),
            *(f"{_pair(one)} reach each other, and must not" for one in there),
        ]

    def timed(self, name: str, do: Callable[[], Any]) -> Any:
        started = time.monotonic()
        result = do()
        self.seconds[name] = round(time.monotonic() - started, 1)
        print(f"{self.seconds[name]:6.1f} s  {name}", file=sys.stderr, flush=True)
        return result

    def _start_router(self, name: str) -> None:
        node = Node(self._plan["nodes"][name])
        router = Router(node)
        for service in SERVICES:
            router.start_service(replace(service_named(service), timeout=READY_S))
        device = GnmiDevice(Endpoint(f"unix:{node.path(SOCKET)}"))
        (tree,) = self._plan["base"][name].values()
        device.set(Edit((), {SRV6: tree}))
        self._devices[name] = device

    def _until_reached(self, wanted: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        left = list(wanted)

        def all_answer() -> bool:
            reached = {(one["site"], one["address"]) for one in _answered(left)}
            left[:] = [one for one in left if (one["site"], one["address"]) not in reached]
            return not left

        try:
            wait_until(all_answer, "all sites reach each other", REACHED_S)
        except LabError:
            return left
        return []


def _answered(probes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    targets: dict[str, list[str]] = {}
    for one in probes:
        targets.setdefault(one["site"], []).append(one["address"])
    reached = set()
    children = {
        site: Node(site).popen(["sh", "-c", _PINGS, "sh", *addresses], stdout=-1, text=True)
        for site, addresses in targets.items()
    }
    for site, child in children.items():
        out, _ = child.communicate()
        reached |= {(site, address) for address in out.split()}
    return [one for one in probes if (one["site"], one["address"]) in reached]


def _pair(probe: Mapping[str, Any]) -> str:
    return f"{probe['origin']} and {probe['to']} ({probe['address']})"


def main(file: str) -> int:
    made = Rehearsal(json.loads(Path(file).read_text()))
    made.timed("routers started", made.start)
    outcome: Outcome = made.timed("services applied", made.apply)
    problems = [*outcome.reasons, *outcome.pending.values()]
    if outcome.decision is Decision.COMMITTED:
        problems += made.timed("sites pinged", made.probe)
    result = {"problems": problems, "seconds": made.seconds}
    (Path(os.environ["LAB_OUT"]) / "rehearsal.json").write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
