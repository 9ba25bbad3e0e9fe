"""gNMI: counters streamed, many subscribers with one that never reads, and what leaks.

    make bench BENCH=gnmi [PART="stream get crowd leak host set"]

The server has one CPU, who reads and who counts another one. The peer is openconfig's cache with
its Subscribe server (``bench/peer``), fed in its own process; the reader is the same for both.
How fast a Set is, down to the kernel, is measured there too (``host``), and in the lab
(``bench.gnmi_lab``, ``set``), where FRR and VRFs are. PART="host ..." is what takes no lab.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import grpc
from gnmi_pb import gnmi_pb2 as pb

from bench.gnmi_leak import leaks
from bench.gnmi_servers import (
    CLIENT_CPU,
    COUNTERS,
    Feeder,
    Server,
    configure,
    ours,
    peer,
    read,
)
from bench.gnmi_set import goals_of
from bench.reconcile_host import host, own_network
from bench.report import Goal, Report, describe_machine
from bench.repository import place

SIDS = 100_000
ROUNDS = 3
SECONDS = 8
STREAM_GOAL = 300_000
# What srv6-gnmid admits of so many (docs/gnmi.md).
FASTEST = "800ms"
SUBSCRIBERS = 200
# SIDs whose updates each of many subscribers gets.
CROWD = {"SAMPLE": 1000, "ON_CHANGE": 1000}
CROWD_SECONDS = 15
# What one that never reads may take from the rate of the others, and in memory (MiB).
CROWD_GOAL, CROWD_MEMORY = 0.95, 16.0
FROM_LAB = Path("build/lab/bench/gnmi.json")
PARTS = ("stream", "get", "crowd", "leak", "host", "set")


def main() -> int:
    asked = sys.argv[1:] or PARTS
    report = Report("gnmi", machine=f"host: {describe_machine()}")
    with place() as folder:
        if "stream" in asked:
            report.goals += _stream(folder)
        if "get" in asked:
            report.goals += _get(folder)
        if "crowd" in asked:
            report.goals += _crowd(folder)
        if "leak" in asked:
            report.goals += leaks(folder)
    if "host" in asked:
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        own_network()
        with host(gnmi=True) as daemons:
            report.goals += goals_of(daemons)
    if "set" in asked and "host" not in sys.argv[1:] and FROM_LAB.exists():
        lab = json.loads(FROM_LAB.read_text())
        report.machine += f"\nlab: {lab['machine']}"
        report.goals += [Goal(**goal) for goal in lab["goals"]]
    return report.finish()


Runs = dict[str, list[float]]


def _stream(folder: Path) -> list[Goal]:
    """The counters of all SIDs, each second and as often as it goes."""
    _say(f"{SIDS} SIDs are configured")
    configure(SIDS)
    feeder = Feeder(folder / "store", SIDS)
    ways: dict[tuple[str, bool], Runs] = {}
    most: dict[bool, list[float]] = {False: [], True: []}

    def note(kind: str, tls: bool, found: dict[str, float]) -> None:
        _say(f"{kind}{' with TLS' if tls else ''}: {json.dumps(found)}")
        runs = ways.setdefault((kind, tls), {})
        for name, value in found.items():
            runs.setdefault(name, []).append(value)
        runs.setdefault("each second", []).append(found["leaves"] / SECONDS)
        runs.setdefault("cpu each", []).append(found["cpu"] / max(1, found["leaves"]) * 1e6)

    try:
        with ours(folder) as server:
            for _ in range(ROUNDS):
                for tls in (False, True):
                    found = read(server, feeder, tls=tls, seconds=SECONDS, paths=COUNTERS)
                    note("ours", tls, found)
                    fast = read(
                        server, None, tls=tls, seconds=SECONDS, paths=COUNTERS, interval=FASTEST
                    )
                    most[tls].append(fast["leaves"] / fast["seconds"])
    finally:
        feeder.close()
    for tls in (False, True):
        with peer(folder, SIDS, tls=folder / "state" if tls else None) as server:
            for _ in range(ROUNDS):
                found = read(server, None, tls=tls, seconds=SECONDS, paths=COUNTERS)
                note("peer", tls, found)
    goals = []
    for tls, how in ((False, "UNIX socket"), (True, "TLS")):
        ours_, peers = ways["ours", tls], ways["peer", tls]

        def beside(
            name: str,
            what: str,
            unit: str,
            goal: float | None = None,
            *,
            more: bool = False,
            here: Runs = ours_,
            there: Runs = peers,
        ) -> Goal:
            return Goal(name, here[what], there[what], goal, unit, more, "median")

        # What is sent each second is what was asked for: a rate above it is not to be had.
        rate = ours_["each second"]
        goals += [
            Goal(f"leaves each second, {how}", rate, [], STREAM_GOAL, "/s", True, "median"),
            beside(f"the same or openconfig's server, {how}", "each second", "/s", 1, more=True),
            Goal(
                f"leaves when sampled each 0.8 s, {how}", most[tls], [], None, "/s", True, "median"
            ),
            beside(f"CPU for a million leaves, {how}", "cpu each", "s", 1),
            beside(f"memory, {how}", "memory", "MiB", 1),
            beside(f"from sample to reader, p50, {how}", "p50", "s"),
            beside(f"from sample to reader, p99, {how}", "p99", "s"),
        ]
    return goals


def _get(folder: Path) -> list[Goal]:
    """The counters of all SIDs in one answer."""
    _say(f"{SIDS} SIDs are configured")
    configure(SIDS)
    feeder = Feeder(folder / "store", SIDS)
    names = ("srv6", "local-sids", "sid", "state", "counters")
    path = pb.Path(elem=[pb.PathElem(name=name) for name in names])
    goals = []
    try:
        with ours(folder) as server:
            options = [("grpc.max_receive_message_length", -1)]
            with grpc.insecure_channel(server.plain, options=options) as channel:
                # Decoding it takes longer than the server does.
                get = channel.unary_unary("/gnmi.gNMI/Get")
                for encoding in (pb.PROTO, pb.JSON_IETF):
                    request = pb.GetRequest(path=[path], encoding=encoding).SerializeToString()
                    runs = []
                    for _ in range(ROUNDS + 1):
                        start = time.perf_counter()
                        get(request, timeout=600)
                        runs.append(time.perf_counter() - start)
                    name = f"Get of the counters of {SIDS} SIDs, {pb.Encoding.Name(encoding)}"
                    goals.append(Goal(f"{name}, the first", runs[:1], [], None))
                    goals.append(Goal(name, runs[1:], [], None, of="median"))
    finally:
        feeder.close()
    return goals


def _crowd(folder: Path) -> list[Goal]:
    """Subscribers who all read, then one among them who never does."""
    goals = []
    for mode, sids in CROWD.items():
        configure(sids)
        feeder = Feeder(folder / f"store-{mode}", sids)
        (folder / "store").unlink(missing_ok=True)
        (folder / "store").symlink_to(folder / f"store-{mode}")
        runs: dict[int, Runs] = {0: {}, 1: {}}
        try:
            with ours(folder) as server:
                for stuck in (0, 1, 0, 1):
                    found = _crowded(server, feeder, mode, stuck)
                    _say(f"{mode}, {stuck} of {SUBSCRIBERS} never reads: {json.dumps(found)}")
                    for name, value in found.items():
                        runs[stuck].setdefault(name, []).append(value)
        finally:
            feeder.close()
        all_read, one_not = runs[0], runs[1]
        name = f"{SUBSCRIBERS} subscribers, {mode}, one never reads or all do"
        goals += [
            Goal(f"{name}: leaves of who got least", one_not["least"], all_read["least"],
                 CROWD_GOAL, "", more=True),
            Goal(f"{name}: delay p99", one_not["p99"], all_read["p99"], None),
            Goal(f"{name}: memory grown in {CROWD_SECONDS} s", one_not["grown"], [],
                 CROWD_MEMORY, "MiB", of="most"),
        ]  # fmt: skip
    return goals


def _crowded(server: Server, feeder: Feeder, mode: str, stuck: int) -> dict[str, float]:
    return read(
        server, feeder, tls=False, seconds=CROWD_SECONDS, paths=COUNTERS, mode=mode,
        subscribers=SUBSCRIBERS - stuck, stuck=stuck,
    )  # fmt: skip


def _say(text: str) -> None:
    print(f"-- {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.sched_setaffinity(0, {CLIENT_CPU})
    sys.exit(main())
