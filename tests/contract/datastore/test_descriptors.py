"""srv6mgrd without a file descriptor left: it neither spins nor ends, and goes on afterwards."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.datastore.connection import Connection
from srv6mgrd.datastore.running import TREE
from tests.contract.datastore.daemon import DECLARED, MORE, Manager
from tests.contract.descriptors import check_calm, exhausted


@pytest.mark.usefixtures("place")
def test_without_descriptors_it_waits_and_goes_on(tmp_path: Path) -> None:
    manager = Manager(tmp_path)
    with manager.running() as pid, contextlib.ExitStack() as open_:
        manager.declare(DECLARED)

        def knock() -> None:
            client = open_.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(0.01)
            client.connect(str(commit_socket(manager.runtime)))

        check_calm(pid, knock)
        open_.close()
        assert "Traceback" not in manager.log, manager.log
        assert "Too many open files" in manager.log
        manager.declare(MORE)
        manager.declare(DECLARED)


@pytest.mark.usefixtures("place")
def test_readers_have_state_without_a_descriptor_left(tmp_path: Path) -> None:
    """sysrepo's own thread forgets a question that it cannot open; its reader waits in vain."""
    manager = Manager(tmp_path)
    connection = Connection(originator="test")
    session = connection.session("operational")
    with manager.running() as pid, exhausted(pid):
        for _ in range(3):
            found = session.get_data(f"{TREE}/capabilities", timeout_ms=5000)
            assert found["srv6"]["capabilities"]
    connection.close()
