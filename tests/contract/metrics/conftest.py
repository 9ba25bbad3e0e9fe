"""A real srv6-metricsd; the test takes the place of srv6mgrd."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from srv6mgrd.clients.passwords import hash_password
from srv6mgrd.counters.store_writer import StoreWriter
from tests.unit.metrics import router

USER, PASSWORD = "prometheus", "of a test"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Server:
    """srv6-metricsd as a process."""

    def __init__(self, place: Path, settings: str) -> None:
        self.port = free_port()
        self.socket = place / "metrics.sock"
        self.log = place / "metricsd.log"
        file = place / "metricsd.toml"
        file.write_text(
            f'listen = ["127.0.0.1:{self.port}"]\nplaintext = ["unix:{self.socket}"]\n'
            f'runtime_directory = "{place}"\nstate_directory = "{place}/metricsd"\n{settings}\n'
        )
        notify = place / "notify"
        notify.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            with self.log.open("wb") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "srv6mgrd.metrics.daemon", "--config", str(file)],
                    env={**os.environ, "NOTIFY_SOCKET": str(notify)},
                    stdout=log,
                    stderr=log,
                )
            pidfd = os.pidfd_open(self.process.pid)
            said, _, _ = select.select([ready, pidfd], [], [], 30)
            os.close(pidfd)
            if ready not in said:
                self.process.kill()
                self.process.wait()
                pytest.fail(f"srv6-metricsd did not start:\n{self.log.read_text()}")
        self.selfsigned = place / "metricsd/selfsigned.crt"

    def cpu(self) -> float:
        """Seconds of computing that it took (proc(5), stat)."""
        _, _, fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> int:
        """The most memory that it had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) >> 10

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=10)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The runtime directory, with what srv6mgrd publishes."""
    writer = StoreWriter(tmp_path / "store")
    router.fill(writer, 3600)
    writer.close()
    for name, content in (
        ("node", router.NODE),
        ("observed", router.OBSERVED),
        ("accounting", router.ACCOUNTING),
        ("drops", router.DROPS),
        ("proxies", router.PROXIES),
        ("alarms", router.ALARMS),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


Start = Callable[..., Server]


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    """Start a daemon with these settings, and those of a user."""
    servers: list[Server] = []

    def begin(settings: str = "", users: str = "") -> Server:
        users = users or f'{USER} = "{hash_password(PASSWORD)}"'
        servers.append(Server(place, f"{settings}\n[users]\n{users}"))
        return servers[-1]

    yield begin
    for server in servers:
        status = server.stop()
        log = server.log.read_text()
        assert status == 0, log
        assert "Traceback" not in log
        assert PASSWORD not in log
