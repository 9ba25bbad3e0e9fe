"""Scrapes of 100,000 SIDs, and of 100,000 rows of accounting, from srv6-metricsd, as Prometheus
makes them: over TLS, with gzip, on a connection that stays. The peer is the library alone, which
makes the same text of the same counters in one process, without HTTP and TLS.
``make bench BENCH=metrics``.
"""

from __future__ import annotations

import base64
import gzip
import http.client
import os
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path

from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.openmetrics.exposition import generate_latest

from bench.report import Goal, Report
from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.counters import accounting
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.metrics.sids import COUNTERS_OF_SIDS
from srv6mgrd.model.accounting import Accounted, Count, Direction, Family, Row
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

SIDS, ROWS, VRFS = 100_000, 100_000, 1000
ROUNDS = 9
INTERVAL = 15.0
_USER, _PASSWORD = "prometheus", "of the bench"
_BEHAVIOR = "End.DT46"


@dataclass(frozen=True, slots=True)
class Scrape:
    """Seconds from the request to the last byte, and of a CPU in the daemon; MB on the wire."""

    seconds: float
    cpu: float
    size: float


def names() -> Iterator[tuple[str, str]]:
    """Prefix and VRF of each SID."""
    for n in range(SIDS):
        yield f"fcbb:0:{1 + n // 60_000:x}:{n % 60_000:x}::/64", f"vrf{n % VRFS}"


def fill(store: Path) -> None:
    writer = StoreWriter(store)
    writer.set_statuses(
        {
            ObjectRef(Kind.SID, sid): ObjectStatus(
                InstallStatus.INSTALLED, detail=f"{_BEHAVIOR} {vrf}"
            )
            for sid, vrf in names()
        }
    )
    counted = {sid: SidCounters(n, n * 840, n % 7) for n, (sid, _) in enumerate(names())}
    writer.set_counters(counted, {}, time.time_ns())
    writer.renew_lease(3600)
    writer.close()


def account(store: Path, more: int) -> None:
    """As many rows of accounting; ``more`` is what each counted since the last time."""
    rows = {
        Row(f"vrf{n % VRFS}", Family.IPV4, IPv6Address((0xFCBB << 112) + (n << 64))): Count(
            n + more, n * 840, n * 1480
        )
        for n in range(ROWS)
    }
    found = accounting.statistics(Accounted(1, {Direction.SENT: rows}, {}), (), (), ())
    accounting.AccountingWriter(accounting.beside(store)).write(found)


class Daemon:
    """srv6-metricsd as a process."""

    def __init__(self, place: Path) -> None:
        self.store = place / "store"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        settings = place / "metricsd.toml"
        settings.write_text(
            f'listen = ["127.0.0.1:{self.port}"]\nruntime_directory = "{place}"\n'
            f'state_directory = "{place}"\n'
            f'[users]\n{_USER} = "{hash_password(_PASSWORD)}"\n'
        )
        notify = place / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            self.process = subprocess.Popen(
                [sys.executable, "-m", "srv6mgrd.metrics.daemon", "--config", str(settings)],
                env={**os.environ, "NOTIFY_SOCKET": str(notify)},
            )
            select.select([ready], [], [], 60)
        context = ssl.create_default_context(cafile=place / "selfsigned.crt")
        self._client = http.client.HTTPSConnection("127.0.0.1", self.port, context=context)
        token = base64.b64encode(f"{_USER}:{_PASSWORD}".encode()).decode()
        self._headers = {
            "Authorization": f"Basic {token}",
            "Accept": "application/openmetrics-text;version=1.0.0",
            "Accept-Encoding": "gzip",
        }

    def scrape(self, target: str) -> tuple[Scrape, bytes]:
        before, began = self.cpu(), time.perf_counter()
        self._client.request("GET", target, headers=self._headers)
        answer = self._client.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - began
        assert answer.status == 200, body
        return Scrape(seconds, self.cpu() - before, len(body) / 1e6), gzip.decompress(body)

    def cpu(self) -> float:
        """Nanoseconds of each thread, summed (proc(5), schedstat), in seconds."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> float:
        """The most that it had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024


@contextmanager
def serving() -> Iterator[Daemon]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        fill(Path(folder) / "store")
        daemon = Daemon(Path(folder))
        try:
            yield daemon
        finally:
            daemon.process.terminate()
            daemon.process.wait()


class _Registry:
    """What the library takes for one."""

    def collect(self) -> Iterator[Metric]:
        for counter in COUNTERS_OF_SIDS:
            family = CounterMetricFamily(counter.name, counter.help, labels=("sid", "vrf"))
            for n, (sid, vrf) in enumerate(names()):
                family.add_metric((sid, vrf), n)
            yield family


def by_the_library() -> float:
    """Seconds of a CPU."""
    began = time.process_time()
    generate_latest(_Registry())  # type: ignore[arg-type]
    return time.process_time() - began


def main() -> int:
    report = Report("metrics")
    with serving() as daemon:
        daemon.scrape("/metrics")
        whole = [daemon.scrape("/metrics") for _ in range(ROUNDS)]
        assert whole[-1][1].count(b"\nsrv6_sid_") == 3 * SIDS
        one = [daemon.scrape("/metrics?kind=sid&vrf=vrf7")[0] for _ in range(ROUNDS)]
        rows, again = [], []
        for number in range(ROUNDS):
            account(daemon.store, number)
            scrape, body = daemon.scrape("/metrics?kind=accounting")
            rows.append(scrape)
            again.append(daemon.scrape("/metrics?kind=accounting")[0])
        assert body.count(b"\nsrv6_accounting_sent_") == 3 * ROWS
        peak = daemon.memory()
    scrapes = [scrape for scrape, _ in whole]
    cpu = [scrape.cpu for scrape in scrapes]
    report.goals += [
        Goal("scrape of 100,000 SIDs", [s.seconds for s in scrapes], [], 1.0, of="median"),
        Goal(f"CPU of it, every {INTERVAL:.0f} s", [100 * c / INTERVAL for c in cpu], [], 5.0,
             "%", of="median"),
        Goal("CPU of it, or of the library alone", cpu, [by_the_library() for _ in range(3)],
             None, of="median"),
        Goal("size of it with gzip", [s.size for s in scrapes], [], None, "MB", of="median"),
        Goal("scrape of one VRF of 1,000", [s.seconds for s in one], [], None, of="median"),
        Goal("scrape of 100,000 rows of accounting, read again", [s.seconds for s in rows], [],
             1.0, of="median"),
        Goal(f"CPU of it, every {INTERVAL:.0f} s", [100 * s.cpu / INTERVAL for s in rows], [], 5.0,
             "%", of="median"),
        Goal("... of the same rows again", [s.seconds for s in again], [], 1.0, of="median"),
        Goal("size of it with gzip", [s.size for s in rows], [], None, "MB", of="median"),
        Goal("memory at its peak", [peak], [], None, "MiB"),
    ]  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
