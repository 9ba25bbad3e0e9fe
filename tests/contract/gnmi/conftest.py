"""A real srv6-gnmid on a sysrepo of its own; the test stands in for srv6mgrd.

Run with ``lab/lab chroot -- python -m pytest tests/contract/gnmi -m contract``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.gnmi.client import Client, Core


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
    """srv6-gnmid as a process."""

    def __init__(self, place: Path, name: str, settings: str) -> None:
        self.port = free_port()
        self.socket = place / f"{name}.sock"
        self.state = place / f"{name}-state"
        self.log = place / f"{name}.log"
        file = place / f"{name}.toml"
        file.write_text(
            f'state_directory = "{self.state}"\nstore = "{place}/store"\n{settings}\n'
            if "listen" in settings
            else f'listen = ["127.0.0.1:{self.port}"]\nplaintext = ["unix:{self.socket}"]\n'
            f'state_directory = "{self.state}"\nstore = "{place}/store"\n{settings}\n'
        )
        notify = place / f"{name}.notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            ready.settimeout(20)
            with self.log.open("wb") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "srv6mgrd.gnmi.daemon", "--config", str(file)],
                    env={**os.environ, "NOTIFY_SOCKET": str(notify)},
                    stdout=log,
                    stderr=log,
                )
            try:
                assert ready.recv(100) == b"READY=1"
            except TimeoutError:
                self.process.kill()
                pytest.fail(f"srv6-gnmid did not start:\n{self.log.read_text()}")

    def tracebacks(self) -> list[str]:
        """What the log has of them."""
        _, *found = self.log.read_text().split("Traceback")
        return found

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=10)


@pytest.fixture(scope="session")
def server(place: Path) -> Iterator[Server]:
    server = Server(place, "gnmid", "counter_interval = 0.3")
    yield server
    status = server.stop()
    assert status == 0, server.log.read_text()
    assert not server.tracebacks()


@pytest.fixture(scope="session")
def whole_core(place: Path) -> Iterator[Core]:
    core = Core(place / "store")
    yield core
    core.close()


@pytest.fixture
def core(whole_core: Core) -> Iterator[Core]:
    """What srv6mgrd would do: accept or refuse changes, tell status and counters."""
    whole_core.reset()
    yield whole_core
    whole_core.reset()


@pytest.fixture(scope="session")
def channel(server: Server) -> Iterator[Any]:
    client = Client(f"unix:{server.socket}")
    yield client
    client.close()


@pytest.fixture
def gnmi(channel: Client, core: Core) -> Iterator[Client]:
    """A client of a router without configuration."""
    core.veto = ""
    channel.set(delete=["/"])
    yield channel
    core.veto = ""


def eventually(check: Any, seconds: float = 5.0) -> Any:
    """The first true value of ``check()``."""
    end = time.monotonic() + seconds
    while not (value := check()):
        assert time.monotonic() < end, "it didn't happen"
        time.sleep(0.02)
    return value
