"""One session with mgmtd for all that is asked and written, until mgmtd ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.frr.adapter import FrrSockets
from srv6mgrd.frr.blocks import MGMTD
from srv6mgrd.frr.kept import KeptSession
from srv6mgrd.frr.vty import VtyError
from tests.unit.frr.server import VtyServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VtyServer]:
    served = VtyServer(tmp_path / "mgmtd.vty")
    yield served
    served.close()


@pytest.fixture
def frr(tmp_path: Path) -> Iterator[FrrSockets]:
    found = FrrSockets(tmp_path, daemons=(), optional=(MGMTD,), helpers=(), timeout=5)
    yield found
    found.close()


def test_all_that_is_asked_takes_one_session(frr: FrrSockets, server: VtyServer) -> None:
    for _ in range(2):
        frr.instances()
        frr.observe()
    frr.configure(MGMTD, ["no ip route 10.9.0.0/24 blackhole vrf red"])
    frr.show(MGMTD, "show version")

    assert server.sessions == 1
    assert server.seen.count("enable") == 1


def test_the_next_mgmtd_gets_a_session_of_its_own(frr: FrrSockets, tmp_path: Path) -> None:
    path = tmp_path / "mgmtd.vty"
    first = VtyServer(path)
    assert None not in frr.instances()
    frr.observe()
    first.close()
    path.unlink()
    assert frr.instances() == (None,)
    with pytest.raises(VtyError, match="mgmtd can't be reached"):
        frr.show(MGMTD, "show version")

    other = VtyServer(path)
    try:
        assert None not in frr.instances()
        assert frr.show(MGMTD, "show version") == ""
        assert other.sessions == 1
    finally:
        other.close()


def test_who_serves_is_known_while_another_thread_asks(server: VtyServer, tmp_path: Path) -> None:
    kept = KeptSession(tmp_path / "mgmtd.vty", 5)
    known = kept.instance()
    asked = threading.Event()

    def ask() -> None:
        with kept.taken():
            asked.set()
            ended.wait(10)

    ended = threading.Event()
    thread = threading.Thread(target=ask)
    thread.start()
    asked.wait(10)
    try:
        assert known is not None
        assert kept.instance() == known
    finally:
        ended.set()
        thread.join()
        kept.drop()
