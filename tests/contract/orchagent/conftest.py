"""A real srv6-orchagent on a Redis of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from lab.waiting import wait_until
from srv6mgrd.redis.schema import script
from tests.contract.redis.conftest import Server


class Agent:
    """srv6-orchagent as a process."""

    def __init__(self, server: Server, place: Path) -> None:
        self.server = server
        self.log = place / "orchagent.log"
        self._file = place / "orchagent.toml"
        self._file.write_text(
            f'redis_socket = "{server.socket}"\nruntime_directory = "{place}/orchagent"\n'
            # Each of them is a next hop of the view: those of the host are no part of the test.
            "compare_interval = 1.0\nkernel_neighbors = false\n"
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *before: str) -> None:
        """``before``: a command that begins the daemon."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*before, sys.executable, "-m", "orchagent.daemon", "--config", str(self._file)],
                stdout=log,
                stderr=log,
            )

    def start_alone(self) -> None:
        """Start it in a network namespace of its own, which has an interface v0."""
        self._file.write_text(
            self._file.read_text().replace("neighbors = false", "neighbors = true")
        )
        links = "ip link add v0 type veth peer v1 && ip link set v1 up && ip link set v0 up"
        self.start("unshare", "-n", "sh", "-c", f'{links} && exec "$@"', "sh")

    def inside(self, command: str) -> None:
        """Run a command in its network namespace."""
        assert self._process is not None
        enter = ["nsenter", "-t", str(self._process.pid), "-n", *command.split()]
        subprocess.run(enter, check=True)

    @property
    def status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def stop(self, *, kill: bool = False) -> int:
        assert self._process is not None
        (self._process.kill if kill else self._process.terminate)()
        return self._process.wait(timeout=20)

    def client(self, db: str) -> redis.Redis:
        return self.server.client(db)

    def produce(self, *operations: tuple[object, ...]) -> None:
        import json

        self.client("APPL_DB").eval(script("produce"), 0, 0, json.dumps(operations))

    def row(self, key: str, **fields: str) -> None:
        self.produce(("set", key, [w for pair in fields.items() for w in pair]))

    def drop(self, key: str) -> None:
        self.produce(("del", key))

    def reported(self, row: str) -> tuple[str, str]:
        fields = self.client("STATE_DB").hgetall(f"SRV6MGR_ASIC|{row}")
        return fields.get("status", ""), fields.get("reason", "")

    def objects(self, kind: str) -> dict[str, dict[str, str]]:
        client, prefix = self.client("ASIC_DB"), f"ASIC_STATE:SAI_OBJECT_TYPE_{kind}:"
        return {k.removeprefix(prefix): client.hgetall(k) for k in client.keys(f"{prefix}*")}

    def wait(self, row: str, status: str, words: str = "") -> None:
        self.wait_until(
            lambda: self.reported(row)[0] == status and words in self.reported(row)[1], row
        )

    def wait_until(self, condition: Callable[[], object], row: str = "") -> None:
        def seen() -> str:
            return f"{self.reported(row) if row else ''}\n{self.log.read_text()}"

        wait_until(condition, row or "condition", seen=seen)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with tempfile.TemporaryDirectory(prefix="srv6mgr-orch-") as directory:
        server = Server(Path(directory))
        server.start()
        a = Agent(server, tmp_path)
        a.start()
        consumed = server.client("APPL_DB").pubsub_numsub
        a.wait_until(lambda: consumed("SRV6_MY_SID_TABLE_CHANNEL@0")[0][1] == 1)
        yield a
        if a.status is None:
            assert a.stop() == 0, a.log.read_text()
        assert "Traceback" not in a.log.read_text()
        server.stop()
