"""Only one srv6mgrd at a time."""

import fcntl
import os
import signal
import socket
import subprocess
import sys

import pytest

from srv6mgrd import single_instance as module
from srv6mgrd.single_instance import AlreadyRunningError, holder, is_managed, single_instance


@pytest.fixture(autouse=True)
def namespaces(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NAMESPACES", tmp_path / "namespaces")


def test_one_per_runtime_directory(tmp_path):
    name = "srv6-other"
    pid = os.getpid()
    with (
        single_instance(tmp_path, name),
        pytest.raises(AlreadyRunningError, match=f"as process {pid}"),
        single_instance(tmp_path, name),
    ):
        pass


def test_one_per_network_namespace(tmp_path):
    with (
        single_instance(tmp_path / "a"),
        pytest.raises(AlreadyRunningError, match=f"as process {os.getpid()}"),
        single_instance(tmp_path / "b"),
    ):
        pass


def test_the_next_one_may_start(tmp_path):
    for _ in range(2):
        with single_instance(tmp_path):
            pass


def test_whether_one_runs_is_known_without_disturbing_it(tmp_path):
    assert not is_managed()
    with single_instance(tmp_path):
        assert is_managed()
        found = holder()
        assert found.pid == os.getpid()
        assert not found.is_stopped
    assert not is_managed()


def test_nobody_else_may_open_the_locks(tmp_path):
    """Who may read a file may lock it."""
    with single_instance(tmp_path / "runtime"):
        locks = [*(tmp_path / "runtime").iterdir(), *module.NAMESPACES.iterdir()]
        assert len(locks) == 2
        assert all(lock.stat().st_mode & 0o077 == 0 for lock in locks)


def test_a_bound_name_keeps_nobody_from_starting(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as taken:
        taken.bind("\0srv6mgrd")
        with single_instance(tmp_path):
            assert is_managed()


def test_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "srv6mgrd.lock").symlink_to(tmp_path / "elsewhere")
    with single_instance(tmp_path):
        assert not (tmp_path / "elsewhere").exists()


def test_without_a_lock_it_runs_and_says_so(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    with single_instance(tmp_path / "file" / "runtime"):
        pass
    assert "see that only one srv6mgrd runs" in caplog.text


def test_a_process_that_is_stopped_is_known_as_such(tmp_path):
    path = module._of_namespace(module.NAMESPACES, "srv6mgrd")
    path.parent.mkdir()
    with (
        path.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
        ) as other,
    ):
        fcntl.flock(file, fcntl.LOCK_EX)
        other.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, other.pid, os.WSTOPPED)
        found = module._process(other.pid)
        assert found.is_stopped
        assert not found.is_manager
        other.send_signal(signal.SIGCONT)
        other.stdin.close()
