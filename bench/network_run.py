"""One run of ``bench.network``, in a fresh process: ``compile EDGES VPNS`` or ``targets COUNT``.

Prints what it took as JSON.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.network_intent import routers, services, without_a_site
from bench.network_targets import SLOWEST, served
from srv6net.device.gnmi import GnmiDevice
from srv6net.intent.inventory import inventory
from srv6net.proposal import propose
from srv6net.store.sqlite import SqliteStore
from srv6net.transaction.executor import Executor
from srv6net.transaction.record import Decision, Revision


def compiled(edges: int, vpns: int) -> dict[str, float]:
    """Seconds of CPU for all services, and after the change of one."""
    known, wanted = inventory(routers(edges)), services(edges, vpns)
    started = time.process_time()
    first = propose(wanted, known, Revision(), 1.0)
    took = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    wanted = without_a_site(services(edges, vpns))
    started = time.process_time()
    second = propose(wanted, known, first.revision, 2.0)
    assert len(second.changes) == 1
    return {"all": took, "one": time.process_time() - started, "memory": memory}


def committed(count: int) -> dict[str, float]:
    """Seconds for one service on so many targets, which answer over gNMI with delays."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address:
        known = inventory(routers(count, address=address))
        wanted = services(count, 1, sites=count)
        found = propose(wanted, known, Revision(), 1.0)
        devices = {
            name: GnmiDevice(replace(router.endpoint, username=name))
            for name, router in known.routers.items()
        }
        executor = Executor(SqliteStore(Path(folder) / "store"), devices)
        started = time.monotonic()
        outcome = executor.apply(found.revision, found.changes)
        took = time.monotonic() - started
        assert (outcome.decision, outcome.pending) == (Decision.COMMITTED, {}), outcome
        return {"seconds": took, "slowest": SLOWEST}


RUNS = {"compile": compiled, "targets": committed}


def main() -> None:
    gc.disable()
    what, *numbers = sys.argv[1:]
    print(json.dumps(RUNS[what](*map(int, numbers))))


if __name__ == "__main__":
    main()
