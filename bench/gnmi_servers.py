"""The servers that ``bench.gnmi`` measures, who feeds them, and who reads from them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.sids import address
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus, SidCounters

# make build/bin/gnmi_peer
PEER = Path("build/bin/gnmi_peer")
COUNTERS = ",".join(
    f"/srv6/local-sids/sid[prefix=*]/state/counters/{name}"
    for name in ("in-pkts", "in-octets", "in-errors")
)
# The server has the first CPU for itself, as far as it is ours to give.
SERVER_CPU, CLIENT_CPU = 0, 1 if (os.cpu_count() or 1) > 1 else 0
_STARTING = 600


class Server:
    """A running gNMI server."""

    def __init__(self, process: subprocess.Popen[str], plain: str, secure: str, ca: Path) -> None:
        """``plain`` and ``secure`` are its addresses, without and with TLS."""
        self._process = process
        self.plain, self.secure, self.ca = plain, secure, ca

    def cpu(self) -> float:
        """Seconds used so far, the kernel's part and the listener's process included."""
        return sum(map(_cpu, self._processes()))

    def memory(self) -> float:
        """MiB resident, the listener's process included."""
        return sum(map(_resident, self._processes()))

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self._process.pid}/task").iterdir()))

    def _processes(self) -> list[int]:
        tasks = Path(f"/proc/{self._process.pid}/task")
        children = [task.joinpath("children").read_text().split() for task in tasks.iterdir()]
        return [self._process.pid, *(int(pid) for group in children for pid in group)]

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def configure(count: int) -> None:
    """Make SIDs 1 to ``count`` the running configuration."""
    command = [sys.executable, "-m", "bench.reconcile_node", "configure", str(count)]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)


@contextmanager
def ours(folder: Path) -> Iterator[Server]:
    """srv6-gnmid on one CPU."""
    port, plain, state = _free_port(), folder / "ours.sock", folder / "state"
    settings = folder / "gnmid.toml"
    settings.write_text(
        f'listen = ["127.0.0.1:{port}"]\nplaintext = ["unix:{plain}"]\n'
        f'state_directory = "{state}"\nstore = "{folder}/store"\nmax_connections = 1000\n'
        'max_connections_per_peer = 1000\nanonymous_user = "collector"\n'
        'log_level = "warning"\n'
    )
    notify = folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(str(notify))
        ready.settimeout(_STARTING)
        process = _pinned(
            [sys.executable, "-m", "srv6mgrd.gnmi.daemon", "--config", str(settings)],
            {"NOTIFY_SOCKET": str(notify)},
        )
        server = Server(process, f"unix:{plain}", f"127.0.0.1:{port}", state / "selfsigned.crt")
        try:
            ready.recv(100)
            yield server
        finally:
            server.stop()
            notify.unlink()


@contextmanager
def peer(folder: Path, sids: int, *, tls: Path | None) -> Iterator[Server]:
    """openconfig's cache and Subscribe server on one CPU, with the certificate in ``tls`` or
    in plaintext."""
    port, plain = _free_port(), folder / "peer.sock"
    where = f"127.0.0.1:{port}" if tls else f"unix:{plain}"
    command = [str(PEER), "serve", "-listen", where, "-sids", str(sids)]
    ca = folder / "unused"
    if tls is not None:
        ca = tls / "selfsigned.crt"
        command += ["-cert", str(ca), "-key", str(tls / "selfsigned.key")]
    process = _pinned(command, {"GOMAXPROCS": "1"})
    server = Server(process, where, where, ca)
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "READY":
            raise RuntimeError("gnmi_peer serve: did not start")
        yield server
    finally:
        server.stop()
        with suppress(FileNotFoundError):
            plain.unlink()


def _pinned(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["taskset", "-c", str(SERVER_CPU), *command],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Feeder:
    """In the place of srv6mgrd: counts every SID of the store once in an interval.

    A sample is there shortly before it is due for the subscriber that ``keep_step`` names, so
    that what a reader sees as delay is not how the two happen to be offset.
    """

    _MARGIN = 0.05

    def __init__(self, path: Path, count: int, interval: float = 1.0) -> None:
        self._store = StoreWriter(path)
        self._prefixes = [address(number) for number in range(1, count + 1)]
        status = ObjectStatus(InstallStatus.INSTALLED, "", 1, 0, 0, "")
        self._store.set_statuses({ObjectRef(Kind.SID, p): status for p in self._prefixes})
        self._interval, self._round, self._writing = interval, 0, 0.0
        self._due = time.time()
        self._stopping = threading.Event()
        self._write(self._next())
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def keep_step(self, sync: float) -> None:
        """``sync``: when (s since 1970) a subscriber got its sync_response."""
        self._due = sync

    def _run(self) -> None:
        while True:
            counted = self._next()
            lead = self._writing + self._MARGIN
            late = (time.time() - self._due + lead) % self._interval
            if self._stopping.wait(self._interval - late):
                return
            self._write(counted)

    def _next(self) -> dict[str, SidCounters]:
        self._round += 1
        base = self._round
        return {
            prefix: SidCounters(base + n, (base + n) << 8, (base + n) << 16, 1)
            for n, prefix in enumerate(self._prefixes)
        }

    def _write(self, counted: dict[str, SidCounters]) -> None:
        start = time.time()
        self._store.set_counters(counted, {}, int(start * 1e9))
        self._writing = time.time() - start

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._store.close()


def read(
    server: Server, feeder: Feeder | None, *, tls: bool, seconds: float, **options: object
) -> dict[str, float]:
    """What a reader of ``server`` counts in so many seconds, and what the server took for it:
    ``cpu`` in seconds, ``memory`` at the end and ``grown`` meanwhile in MiB."""
    command = ["taskset", "-c", str(CLIENT_CPU), str(PEER), "read", "-for", f"{seconds}s"]
    if tls:
        command += ["-address", server.secure, "-ca", str(server.ca)]
    else:
        command += ["-address", server.plain]
    for name, value in options.items():
        command += [f"-{name}", str(value)]
    reader = subprocess.Popen(
        command, env={**os.environ, "GOMAXPROCS": "1"}, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    cpu = memory = 0.0
    found: dict[str, float] = {}
    for line in reader.stdout:
        word, _, rest = line.strip().partition(" ")
        if word == "SYNC" and feeder is not None:
            feeder.keep_step(int(rest) / 1e9)
        elif word == "BEGIN":
            cpu, memory = server.cpu(), server.memory()
        elif word == "END":
            cpu, grown = server.cpu() - cpu, server.memory() - memory
            found |= {"cpu": cpu, "memory": server.memory(), "grown": grown}
        elif word.startswith("{"):
            found |= json.loads(line)
    if reader.wait():
        raise RuntimeError("gnmi_peer read: failed")
    return found
