"""SONiC's tables: what the producer, srv6-orchagent and the publication of counters cost.

The peer is redis-py itself: the same rows as plain HSETs, pipelined by the thousand. Each against a
Redis of its own, on the same CPUs. ``make bench BENCH=sonic``, PART="10k" for the quick part,
PART="rejected" for rows of CONFIG_DB that are rejected.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Network
from pathlib import Path

import redis

from bench import sonic_rejected
from bench.report import Goal, Report
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Desired, Locator, Sid, Vrf
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters
from srv6mgrd.redis.publisher import Publisher
from srv6mgrd.redis.schema import script
from srv6mgrd.redis.wire import Settings

SIZES = {"10k": 10_000, "100k": 100_000}
ROUNDS = 3
_BATCH = 500
_PIPELINE = 1000
_ENTRIES = "ASIC_STATE:SAI_OBJECT_TYPE_MY_SID_ENTRY:"


@dataclass(frozen=True, slots=True)
class Server:
    """A Redis of the bench's own."""

    socket: str
    process: subprocess.Popen[bytes]

    def client(self, db: int = 0) -> redis.Redis:
        return redis.Redis(unix_socket_path=self.socket, db=db, protocol=2)

    def used(self) -> tuple[float, int]:
        """CPU seconds and bytes received so far."""
        info = self.client().info()
        return info["used_cpu_user"] + info["used_cpu_sys"], info["total_net_input_bytes"]


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        socket = f"{folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        server = Server(socket, process)
        while True:
            try:
                server.client().ping()
                break
            except redis.ConnectionError:
                time.sleep(0.01)
        try:
            yield server
        finally:
            process.kill()
            process.wait()


def rows(count: int) -> list[tuple[str, dict[str, str]]]:
    fields = {"action": "end.dt46", "vrf": "Vrf1"}
    return [(f"SRV6_MY_SID_TABLE:32:16:32:0:{sid(n)}", fields) for n in range(1, count + 1)]


def sid(number: int) -> str:
    return f"fc00:0:1:{number >> 16:x}:{number & 0xFFFF:x}::"


def plain(server: Server, count: int) -> float:
    """Rows a second of redis-py alone."""
    client, todo = server.client(), rows(count)
    began = time.perf_counter()
    for first in range(0, count, _PIPELINE):
        pipe = client.pipeline(transaction=False)
        for key, fields in todo[first : first + _PIPELINE]:
            pipe.hset(key, mapping=fields)
        pipe.execute()
    return count / (time.perf_counter() - began)


def produce(server: Server, todo: Sequence[tuple[str, Mapping[str, str]]]) -> float:
    """Seconds until all rows wait for their consumer."""
    client, text = server.client(), script("produce")
    began = time.perf_counter()
    for first in range(0, len(todo), _BATCH):
        some = [["set", k, [w for p in f.items() for w in p]] for k, f in todo[first:][:_BATCH]]
        client.eval(text, 0, 0, json.dumps(some))
    return time.perf_counter() - began


def through(count: int) -> tuple[float, float]:
    """Rows a second of the producer alone, and until srv6-orchagent has all in its view."""
    with serving() as server:
        alone = count / produce(server, rows(count))
    with serving() as server, tempfile.TemporaryDirectory(prefix="bench-") as folder:
        settings = Path(folder) / "orchagent.toml"
        settings.write_text(
            f'redis_socket = "{server.socket}"\nruntime_directory = "{folder}"\n'
            'compare_interval = 3600\nlog_level = "warning"\n'
        )
        command = [sys.executable, "-m", "orchagent.daemon", "--config", str(settings)]
        agent = subprocess.Popen(command)
        try:
            client, asic = server.client(), server.client(1)
            while not dict(client.pubsub_numsub("SRV6_MY_SID_TABLE_CHANNEL@0"))[
                b"SRV6_MY_SID_TABLE_CHANNEL@0"
            ]:
                time.sleep(0.01)
            began = time.perf_counter()
            produce(server, [("VRF_TABLE:Vrf1", {"NULL": "NULL"}), *rows(count)])
            # The list of the view's rows: switch, two routers, and two objects for each SID.
            while asic.scard("SRV6MGR_OWNED") < 3 + 2 * count:
                if agent.poll() is not None:
                    raise RuntimeError("srv6-orchagent ended")
                time.sleep(0.02)
            return alone, count / (time.perf_counter() - began)
        finally:
            agent.terminate()
            agent.wait()


def declared(count: int) -> tuple[Desired, dict[ObjectRef, ObjectStatus]]:
    locator = Locator("MAIN", IPv6Network("fc00:0:1::/48"), function_length=32)
    prefixes = [IPv6Network(f"{sid(n)}/80") for n in range(1, count + 1)]
    sids = {p: Sid(p, "MAIN", Behavior.END_DT46, "Vrf1") for p in prefixes}
    state = Desired(locators={"MAIN": locator}, vrfs={"Vrf1": Vrf("Vrf1", 1001)}, sids=sids)
    installed = ObjectStatus(InstallStatus.INSTALLED)
    refs = [ObjectRef(Kind.VRF, "Vrf1"), *(ObjectRef(Kind.SID, str(p)) for p in prefixes)]
    return state, dict.fromkeys(refs, installed)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one publication of all counters: CPU seconds of who writes and of Redis, bytes."""

    ours: float
    redis: float
    received: int


async def counted(count: int) -> list[Cost]:
    """What a sample of all counters costs srv6mgrd's publisher."""
    with serving() as server:
        publisher = Publisher(Settings(socket=server.socket, counter_interval=0.0, timeout=60))
        task = asyncio.create_task(publisher.run())
        state, statuses = declared(count)
        prefixes = [str(p) for p in state.sids]
        publisher.publish(state, statuses)
        await publisher.settled()
        costs = []
        for number in range(1, ROUNDS + 2):
            sample = {p: SidCounters(number, number * 100, 0) for p in prefixes}
            before, (cpu, received) = _cpu(), server.used()
            publisher.publish_counters(sample)
            await publisher.settled()
            after = server.used()
            costs.append(Cost(_cpu() - before, after[0] - cpu, after[1] - received))
        task.cancel()
        await asyncio.wait([task])
        # The first makes the rows.
        return costs[1:]


def counted_plainly(count: int) -> list[Cost]:
    """The same rows as HSETs of redis-py."""
    with serving() as server:
        client = server.client(2)
        costs = []
        for number in range(1, ROUNDS + 2):
            before, (cpu, received) = _cpu(), server.used()
            for first in range(0, count, _PIPELINE):
                pipe = client.pipeline(transaction=False)
                for n in range(first, min(first + _PIPELINE, count)):
                    fields = {
                        "SAI_COUNTER_STAT_PACKETS": str(number),
                        "SAI_COUNTER_STAT_BYTES": str(number * 100),
                        "SRV6MGR_STAT_ERRORS": "0",
                    }
                    pipe.hset(f"COUNTERS:oid:0x54{n:012x}", mapping=fields)
                pipe.execute()
            after = server.used()
            costs.append(Cost(_cpu() - before, after[0] - cpu, after[1] - received))
        return costs[1:]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> int:
    report = Report("sonic")
    parts = sys.argv[1:] or [*SIZES, "rejected"]
    if "rejected" in parts:
        report.goals += sonic_rejected.goals(serving, sonic_rejected.MANY)
    for name in [n for n in SIZES if n in parts]:
        count = SIZES[name]
        rounds = ROUNDS if count < 100_000 else 1
        peer = []
        for _ in range(rounds):
            with serving() as server:
                peer.append(plain(server, count))
        alone, whole = zip(*(through(count) for _ in range(rounds)), strict=True)
        ours, theirs = asyncio.run(counted(count)), counted_plainly(count)
        report.goals += [
            Goal(f"{name} SIDs produced, or plain HSET", [*alone], peer, None, "/s", more=True),
            Goal(f"{name} SIDs produced, taken and in the view, or plain HSET", [*whole], peer,
                 None, "/s", more=True),
            Goal(f"{name} counters: CPU of the publisher, or of redis-py", [c.ours for c in ours],
                 [c.ours for c in theirs], None),
            Goal(f"{name} counters: CPU of Redis, or with redis-py", [c.redis for c in ours],
                 [c.redis for c in theirs], None),
            Goal(f"{name} counters: MB received by Redis, or with redis-py",
                 [c.received / 1e6 for c in ours], [c.received / 1e6 for c in theirs], None, "MB"),
        ]  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
