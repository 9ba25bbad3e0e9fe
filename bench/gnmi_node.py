"""On a node that runs srv6mgrd and srv6-gnmid: Sets of many SIDs over gNMI, as JSON.

``set COUNT TIMES``   seconds of a Set that brings so many SIDs to a router without any, with its
                      stages, and of one that takes them all away

Both daemons run under ``bench.daemon_stages``, and note into ``notes``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import grpc
from gnmi_pb import gnmi_pb2 as pb
from gnmi_pb import gnmi_pb2_grpc as stubs

from bench.daemon_stages import Span
from bench.sids import config
from srv6mgrd.kernel.adapter import LinuxKernel

# Names the folder where notes go.
NOTES = "BENCH_NOTES"
# The span at whose last end the kernel has acknowledged all, and that in which all is read back.
WRITING, COMMIT = "kernel: writing", "commit, its other parts"
MODULE = "srv6mgr-srv6"
TIMEOUT = 600
# After a commit the startup configuration is written, and a compare may follow.
QUIET_SECONDS = 3.0


def notes() -> dict[str, Path]:
    """The files of the daemons, in the order in which these are started."""
    folder = Path(os.environ.get(NOTES, "/tmp"))
    return {daemon: folder / f"stages-{daemon}" for daemon in ("srv6mgrd", "srv6-gnmid")}


def set_(count: int, times: int) -> list[dict[str, float]]:
    value = pb.TypedValue(json_ietf_val=json.dumps(config(count)).encode())
    put = pb.SetRequest(update=[pb.Update(path=pb.Path(), val=value)])
    take = pb.SetRequest(delete=[pb.Path(elem=[pb.PathElem(name="srv6")])])
    runs = []
    with grpc.insecure_channel("unix:/run/srv6mgr/gnmi.sock") as channel:
        stub = stubs.gNMIStub(channel)
        stub.Capabilities(pb.CapabilityRequest(), timeout=TIMEOUT)
        for _ in range(times):
            _wait()
            start, whole = _timed(stub, put)
            stages = _stages(start, start + whole)
            counted = _counted()
            if counted != count:
                raise RuntimeError(f"{counted} SIDs of {count} are installed and counted")
            _wait()
            _, gone = _timed(stub, take)
            if counted := _counted():
                raise RuntimeError(f"{counted} SIDs are left")
            runs.append({"all": whole, "none": gone, **stages})
    return runs


def _timed(stub: Any, request: Any) -> tuple[float, float]:
    """When it began, and how long it took."""
    start = time.monotonic()
    stub.Set(request, timeout=TIMEOUT)
    return start, time.monotonic() - start


def _stages(start: float, end: float) -> dict[str, float]:
    """What each stage took of this time, the stages in it left out; and how long it took until all
    was in the kernel (``installed``) and read back (``compared``)."""
    took: dict[str, float] = {}
    elsewhere = 0.0
    ends: dict[str, float] = {}
    for file in notes().values():
        for line in file.read_text().splitlines():
            span = Span(*json.loads(line))
            if not start <= span.start <= end:
                continue
            took[span.stage] = took.get(span.stage, 0.0) + span.own
            ends[span.stage] = span.start + span.took - start
            # sysrepo waits for what its subscribers do in threads of their own.
            if not span.depth and span.stage != "gRPC" and span.start + span.took <= end:
                elsewhere += span.took
    took["sysrepo"] = took.get("sysrepo", 0.0) - elsewhere
    took["gRPC"] = end - start - sum(seconds for stage, seconds in took.items() if stage != "gRPC")
    return {"installed": ends[WRITING], "compared": ends[COMMIT], **took}


def _counted() -> int:
    """SIDs in the kernel that count."""
    kernel = LinuxKernel()
    found = len(kernel.sid_counters())
    kernel.close()
    return found


def _wait() -> None:
    """Until nobody works any more on what came before."""
    quiet = time.monotonic()
    before = _used()
    while time.monotonic() - quiet < QUIET_SECONDS:
        time.sleep(0.5)
        if (now := _used()) - before > 0.1:
            quiet = time.monotonic()
        before = now


def _used() -> float:
    """Seconds of CPU that the daemons have used."""
    pids = subprocess.run(
        ["pgrep", "-f", "bench.daemon_stages"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


def main() -> None:
    name, *arguments = sys.argv[1:]
    print(json.dumps({"set": set_}[name](*map(int, arguments))))


if __name__ == "__main__":
    main()
