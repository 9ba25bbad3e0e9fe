"""A real srv6-configdbd between a Redis and a sysrepo of its own; the test is in srv6mgrd's place.

Run with ``lab/lab chroot -- python -m pytest tests/contract/configdb -m contract``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from lab.waiting import wait_until
from tests.contract.gnmi.client import Core
from tests.contract.redis.conftest import Server

SRV6 = "srv6mgr-srv6:srv6"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.contract)


class Daemon:
    """srv6-configdbd as a process."""

    def __init__(self, place: Path, socket: str, commit_socket: Path) -> None:
        self._file = place / "configdbd.toml"
        self.log = place / "configdbd.log"
        self.state = place / "configdb-state"
        self._file.write_text(
            f'redis_socket = "{socket}"\nruntime_directory = "{place}/configdb"\n'
            f'state_directory = "{self.state}"\nremoval_grace = 1.0\ncompare_interval = 1.0\n'
            f'commit_socket = "{commit_socket}"\n'
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "srv6mgrd.configdb.daemon", "--config", str(self._file)],
                stdout=log,
                stderr=log,
            )

    def restrict_to(self, user: str) -> None:
        """From the next start on."""
        self._file.write_text(f'{self._file.read_text()}user = "{user}"\n')

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, *, kill: bool = False) -> int:
        assert self._process is not None
        (self._process.kill if kill else self._process.terminate)()
        return self._process.wait(timeout=20)


class Northbound:
    """Both sides of the northbound."""

    def __init__(self, server: Server, daemon: Daemon, core: Core) -> None:
        from srv6mgrd.datastore.connection import Connection

        self.server, self.daemon, self.core = server, daemon, core
        self._connection = Connection(originator="test")
        self._session = self._connection.session()

    @property
    def config(self) -> redis.Redis:
        return self.server.client("CONFIG_DB")

    @property
    def state(self) -> redis.Redis:
        return self.server.client("STATE_DB")

    def status(self, row: str) -> tuple[str, str]:
        fields = self.state.hgetall(f"SRV6MGR_CONFIG|{row}")
        return fields.get("status", ""), fields.get("reason", "")

    def running(self, container: str, name: str) -> dict[str, Any]:
        """Entries of a list by their key."""
        from srv6mgrd.datastore.running import read

        tree = json.loads(read(self._session)).get(SRV6, {})
        key = "prefix" if name == "sid" else "name"
        return {e[key]: e for e in tree.get(container, {}).get(name, ())}

    def container(self, name: str) -> dict[str, Any]:
        """What the running configuration has in a container of /srv6."""
        from srv6mgrd.datastore.running import read

        found: dict[str, Any] = json.loads(read(self._session)).get(SRV6, {}).get(name, {})
        return found

    def other_northbound(self, path: str, document: Any = None) -> None:
        """An edit through another northbound."""
        from srv6mgrd.datastore.transaction import Edit, Op, commit

        edit = (
            Edit(Op.DELETE, f"/{SRV6}{path}")
            if document is None
            else Edit(Op.UPDATE, f"/{SRV6}{path}", json.dumps({SRV6: document}).encode())
        )
        commit(self._session, ("srv6mgr-srv6",), [edit])

    @contextmanager
    def permitted(self, user: str, path: str) -> Iterator[None]:
        """A rule of NACM's by which ``user`` may write there."""
        rule = {"name": "r", "path": path, "access-operations": "*", "action": "permit"}
        self._set_rules(
            {
                "groups": {"group": [{"name": "g", "user-name": [user]}]},
                "rule-list": [{"name": "l", "group": ["g"], "rule": [rule]}],
            }
        )
        try:
            yield
        finally:
            self._set_rules({})

    def _set_rules(self, nacm: dict[str, Any]) -> None:
        text = json.dumps({"ietf-netconf-acm:nacm": nacm})
        with self._session.get_ly_ctx() as context:
            tree = context.parse_data_mem(text, "json", parse_only=True, strict=True)
        self._session.replace_config_ly(tree, "ietf-netconf-acm")

    def wait(self, row: str, status: str, words: str = "") -> None:
        self.wait_until(lambda: self.status(row)[0] == status and words in self.status(row)[1], row)

    def wait_until(self, condition: Callable[[], object], row: str = "") -> None:
        def holds() -> object:
            assert self.daemon.alive, self.daemon.log.read_text()
            return condition()

        def seen() -> str:
            return f"{self.status(row)}\n{self.daemon.log.read_text()}"

        wait_until(holds, row or "condition", seen=seen)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="srv6mgr-configdb-") as directory:
        s = Server(Path(directory))
        s.start("--notify-keyspace-events", "AKE")
        yield s
        s.stop()


@pytest.fixture(scope="session")
def whole_core(place: Path) -> Iterator[Core]:
    core = Core(place / "configdb-store")
    yield core
    core.close()


@pytest.fixture
def northbound(
    place: Path, server: Server, whole_core: Core, tmp_path: Path
) -> Iterator[Northbound]:
    assert os.environ["SYSREPO_REPOSITORY_PATH"].startswith(str(place))
    whole_core.reset()
    daemon = Daemon(tmp_path, server.socket, place / "commit.sock")
    d = Northbound(server, daemon, whole_core)
    if d.running("locators", "locator") or d.running("vrfs", "vrf"):
        d.other_northbound("")
    daemon.start()
    yield d
    whole_core.veto = ""
    status = daemon.stop()
    d.other_northbound("")
    d.close()
    assert status == 0, daemon.log.read_text()
    assert "Traceback" not in daemon.log.read_text()
