"""srv6mgrd as a process, on a sysrepo of its own and on the kernel of its namespace."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.waiting import wait_until
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.locks import Caller
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.counters.node import STORAGE, NodeReader
from srv6mgrd.datastore.connection import DatastoreError
from srv6mgrd.datastore.running import MODULE, TREE
from srv6mgrd.datastore.transaction import Edit, Op

ROOT = Path(__file__).parents[3]
CALLER = Caller("test", "alice")
LOCATOR = {"name": "MAIN", "prefix": "fcbb:0:1::/48"}


def document(**more: Any) -> bytes:
    return json.dumps(
        {f"{MODULE}:srv6": {"locators": {"locator": [LOCATOR, *more.values()]}}}
    ).encode()


DECLARED = document()
MORE = document(other={"name": "OTHER", "prefix": "fcbb:0:2::/48"})


class Manager:
    """srv6mgrd in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.state, self.runtime = folder / "state", folder / "run"
        self._settings, self._log = folder / "srv6mgrd.toml", folder / "log"
        self._settings.write_text(
            f'runtime_directory = "{self.runtime}"\nstate_directory = "{self.state}"\n'
            f'frr_directory = "{folder}"\nredis_socket = ""\n'
        )
        self.client = CommitClient(commit_socket(self.runtime))

    @contextmanager
    def running(self) -> Iterator[int]:
        """Its process; until it was asked to stop, which it does."""
        argv = [sys.executable, "-m", "srv6mgrd.daemon", "--config", str(self._settings)]
        with self._log.open("w") as log:
            process = subprocess.Popen(argv, cwd=ROOT, stdout=log, stderr=log)
        try:
            wait_until(lambda: self._answers(process), timeout=30)
            yield process.pid
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0, self.log
            assert "Traceback" not in self.log
        finally:
            process.kill()
            process.wait()

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, self.log
        try:
            self.client.rpc(CALLER, "/srv6mgr-operations:reconcile", {})
        except DatastoreError:
            return False
        return True

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def node(self) -> dict[str, Any]:
        return dict(NodeReader(self.runtime / "node.json").read().members)

    @property
    def problems(self) -> dict[str, str]:
        return {p["file"]: p["text"] for p in self.node.get(STORAGE, {}).get("problem", [])}

    def declare(self, tree: bytes, **more: Any) -> None:
        self.client.edit(CALLER, (MODULE,), [Edit(Op.REPLACE, TREE, tree)], **more)
