"""Jobs that run and end together."""

import asyncio
import logging
import os
import signal
import socket
import threading

import pytest

from srv6mgrd.backoff import Backoff
from srv6mgrd.jobs import to_its_end, told_to_stop, until_one_ends, until_stopped


class Other:
    """A job that goes on until it is cancelled."""

    ended = False

    async def run(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def fail():
    # The other one has begun by then.
    await asyncio.sleep(0)
    raise ZeroDivisionError


def test_the_others_end_with_the_first():
    other = Other()
    asyncio.run(until_one_ends(other.run(), asyncio.sleep(0)))
    assert other.ended


def test_its_error_is_raised_once_the_others_have_ended():
    other = Other()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(until_one_ends(other.run(), fail()))
    assert other.ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_stop(number):
    async def stopped():
        stop = told_to_stop()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stop.wait(), 5)

    asyncio.run(stopped())


@pytest.fixture
def service_manager(tmp_path, monkeypatch):
    """What a service manager would hear; its watchdog is patient."""
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "60000000")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(5)
        yield manager


def test_a_daemon_runs_until_it_is_reported_to_stop(service_manager):
    other = Other()

    async def reported():
        for _ in range(2):
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)

    asyncio.run(until_stopped(other.run(), reported()))
    assert other.ended
    heard = [service_manager.recv(100) for _ in range(3)]
    assert heard == [b"READY=1", b"WATCHDOG=1", b"STOPPING=1"]


def test_a_job_of_a_daemon_may_end_but_not_fail(service_manager):
    other = Other()

    ended = asyncio.Event()

    async def end():
        ended.set()

    async def fail_later():
        await ended.wait()
        assert not other.ended
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(until_stopped(end(), other.run(), fail_later()))
    assert other.ended


async def test_tries_come_ever_later(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr("srv6mgrd.backoff.asyncio.sleep", sleep)
    backoff = Backoff(0.1, 0.3)
    for _ in range(3):
        await backoff.wait()
    backoff.reset()
    await backoff.wait()
    assert slept == [0.1, 0.2, 0.3, 0.1]


async def cancelled_in(call, begun, may_end):
    """Wait for a call in a thread, and give up in the middle of it."""
    waiting = asyncio.create_task(to_its_end(call))
    await asyncio.to_thread(begun.wait, 30)
    waiting.cancel()
    asyncio.get_running_loop().call_later(0.05, may_end.set)
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_a_call_in_a_thread_ends_before_who_waits_for_it():
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def call():
        begun.set()
        may_end.wait(30)
        ended.set()

    async def run():
        await cancelled_in(call, begun, may_end)
        # Before the loop ends, which waits for its threads.
        assert ended.is_set()

    asyncio.run(run())


def test_the_result_of_a_call_in_a_thread():
    assert asyncio.run(to_its_end(int, "7")) == 7
    with pytest.raises(ValueError, match="seven"):
        asyncio.run(to_its_end(int, "seven"))


def test_a_call_that_fails_when_nobody_waits_any_more_is_logged(caplog):
    begun, may_end = threading.Event(), threading.Event()

    def call():
        begun.set()
        may_end.wait(30)
        raise ValueError("it failed")

    asyncio.run(cancelled_in(call, begun, may_end))
    (record,) = [r for r in caplog.records if r.levelno >= logging.ERROR]
    assert record.getMessage() == "failed while it was stopped: it failed"
