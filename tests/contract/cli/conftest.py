"""srv6ctl as a process, against sysrepo and srv6mgrd's own commit clock.

Run with ``lab/lab chroot -- python -m pytest tests/contract/cli -m contract``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from srv6mgrd.counters.node import NodeWriter, beside
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.datastore.history import Origin
from srv6mgrd.model.status import InstallStatus, Kind, ObjectRef, ObjectStatus
from srv6mgrd.single_instance import single_instance
from tests.contract.datastore.coordinator_world import Loop

SID = "fcbb:0:1:64::/64"
ROOT = Path(__file__).parents[3]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


@dataclass(frozen=True, slots=True)
class Ran:
    """How srv6ctl ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, self.err
        return json.loads(self.out)


class Ctl:
    """srv6ctl, with a runtime directory of its own."""

    def __init__(self, place: Path, loop: Loop) -> None:
        self.loop = loop
        self.store = StoreWriter(place / "store")
        self._settings = place / "srv6mgrd.toml"
        self._settings.write_text(
            f'runtime_directory = "{place}"\nfrr_directory = "{place}"\n'
            f'redis_socket = "{place}/redis.sock"\n'
        )

    def run(self, *arguments: str, given: str = "") -> Ran:
        argv = [sys.executable, "-m", "srv6mgrd.cli.main", "--config", str(self._settings)]
        done = subprocess.run(
            [*argv, *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=ROOT,
            env={**os.environ, "SUDO_USER": "alice"},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def running(self) -> Any:
        return self.loop.run(self.loop.world.read()).get("srv6mgr-srv6:srv6", {})


@pytest.fixture
def ctl(place: Path) -> Iterator[Ctl]:
    node = NodeWriter(beside(place / "store"), time.time_ns())
    with single_instance(place):
        loop = Loop(node, runtime=place)
        # Whatever others left there.
        loop.world.running.replace("{}", Origin("test"))
        made = Ctl(place, loop)
        installed = ObjectStatus(InstallStatus.INSTALLED, since=time.time_ns())
        made.store.set_statuses({ObjectRef(Kind.SID, SID): installed})
        yield made
        made.store.close()
        loop.world.running.replace("{}", Origin("test"))
        loop.close()
        beside(place / "store").unlink()
