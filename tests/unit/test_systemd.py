"""What the service manager hears."""

import asyncio
import socket

import pytest

from srv6mgrd.systemd import extend_start, extend_stop, notify, watchdog


def test_it_is_reported(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)

        notify("READY=1")

        assert manager.recv(100) == b"READY=1"


def test_one_that_no_longer_listens_is_let_be(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))

    notify("STOPPING=1")

    assert "STOPPING=1" in caplog.text


async def test_the_watchdog_is_fed_while_the_loop_turns(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.setblocking(False)
        feeding = asyncio.create_task(watchdog())
        loop = asyncio.get_running_loop()

        heard = [await asyncio.wait_for(loop.sock_recv(manager, 100), 5) for _ in range(3)]

        feeding.cancel()
    assert heard == [b"WATCHDOG=1"] * 3


async def test_a_long_stop_is_waited_for(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.setblocking(False)

        await asyncio.wait_for(extend_stop(limit=0.02, beat=0.01), 5)

        assert [manager.recv(100) for _ in range(2)] == [b"EXTEND_TIMEOUT_USEC=30000000"] * 2
        with pytest.raises(BlockingIOError):
            manager.recv(100)


async def test_a_start_is_waited_for_as_long_as_it_gets_on(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    gets_on, asked = [True, False, True, False, False], asyncio.Event()

    def is_alive():
        if len(gets_on) == 1:
            asked.set()
            return gets_on[0]
        return gets_on.pop(0)

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.setblocking(False)
        extending = asyncio.create_task(extend_start(is_alive, beat=0.001))
        await asyncio.wait_for(asked.wait(), 5)
        extending.cancel()

        assert [manager.recv(100) for _ in range(2)] == [b"EXTEND_TIMEOUT_USEC=120000000"] * 2
        with pytest.raises(BlockingIOError):
            manager.recv(100)


@pytest.mark.parametrize(("usec", "pid"), [("", ""), ("20000", "1")])
async def test_no_watchdog_or_that_of_another_process(monkeypatch, usec, pid):
    monkeypatch.setenv("WATCHDOG_USEC", usec)
    monkeypatch.setenv("WATCHDOG_PID", pid)

    await asyncio.wait_for(watchdog(), 5)
