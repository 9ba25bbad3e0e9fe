"""The commit socket between clients and a process in the place of srv6mgrd, on a real sysrepo.

Run with ``lab/lab chroot --isolated -- python -m pytest tests/contract/commits``.
"""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.datastore.transaction import Edit, Op

ROOT = Path(__file__).parents[3]
MODULE = "srv6mgr-srv6"
ALICE = Caller("srv6-gnmid", "alice")
BOB = Caller("srv6-netconfd", "bob", "4")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


class Manager:
    """A process in srv6mgrd's place."""

    def __init__(self, place: Path, hold: float) -> None:
        argv = [sys.executable, "-m", "tests.contract.commits.stand_in", str(place), str(hold)]
        self.process = subprocess.Popen(
            argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.says("serving")

    def says(self, line: str) -> None:
        """Wait until it says that."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == line

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        self.send(signal.SIGCONT)
        if self.process.poll() is None:
            self.process.communicate("", timeout=20)


Started = Callable[..., Manager]


@pytest.fixture
def started(place: Path) -> Iterator[Started]:
    """Starts one."""
    made: list[Manager] = []

    def start(hold: float = 0.0) -> Manager:
        made.append(Manager(place, hold))
        return made[-1]

    yield start
    for manager in made:
        manager.stop()


@pytest.fixture
def client(place: Path) -> CommitClient:
    return CommitClient(commit_socket(place))


_TABLES = itertools.count(1000)


def vrf(name: str, table: int | None = None) -> list[Edit]:
    """Declare a VRF; its table is nobody else's unless it is given."""
    table = next(_TABLES) if table is None else table
    document = {f"{MODULE}:srv6": {"vrfs": {"vrf": [{"name": name, "table-id": table}]}}}
    path = f"/{MODULE}:srv6/vrfs/vrf[name='{name}']"
    return [Edit(Op.UPDATE, path, json.dumps(document).encode())]
