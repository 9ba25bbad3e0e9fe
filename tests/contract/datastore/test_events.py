"""Events of sysrepo that could not be processed at first."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import sysrepo

from lab.waiting import wait_until, wait_until_async
from srv6mgrd.datastore import events


class Subscription:
    """As the binding has it; its events fail at first, as without a file descriptor left."""

    def __init__(self, failures: int) -> None:
        self.fd, self._announce = os.pipe()
        self.cdata: object | None = object()
        self.calls = 0
        self._failures = failures
        self.done: Any = asyncio.Event()

    def announce(self) -> None:
        os.write(self._announce, b"x")

    def process_events(self) -> None:
        if not self.calls:
            os.read(self.fd, 1)  # so does sysrepo, before it fails
        self.calls += 1
        if self.calls <= self._failures:
            raise sysrepo.SysrepoSysError("Too many open files")
        self.done.set()


class Session:
    def __init__(self, *subscriptions: Subscription) -> None:
        self.subscriptions = subscriptions


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_RETRY", 0.01)


async def test_an_event_is_processed_later(caplog: pytest.LogCaptureFixture) -> None:
    subscription, other = Subscription(failures=3), Subscription(failures=0)
    with caplog.at_level(logging.ERROR):
        events.process_in_loop(Session(subscription, other))
        subscription.announce()
        other.announce()
        async with asyncio.timeout(5):
            await subscription.done.wait()
            await other.done.wait()
    assert subscription.calls == 4
    # Once, not with each try.
    assert len(caplog.records) == 1
    assert "cannot be processed" in caplog.text


async def test_a_subscription_that_has_ended_is_left_alone() -> None:
    subscription = Subscription(failures=1000)
    events.process_in_loop(Session(subscription))
    subscription.announce()
    await wait_until_async(lambda: subscription.calls >= 2)
    subscription.cdata = None
    calls = subscription.calls
    await asyncio.sleep(0.05)
    assert subscription.calls == calls


class Opening(Subscription):
    """Its events need a descriptor."""

    def process_events(self) -> None:
        try:
            os.close(os.dup(self.fd))
        except OSError as error:
            raise sysrepo.SysrepoSysError(error.strerror) from error
        super().process_events()


async def test_an_event_is_processed_without_a_descriptor_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A client would else wait for its answer until there is one."""
    subscription = Opening(failures=0)
    reserve = events.process_in_loop(Session(subscription))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = os.dup(subscription.fd)
    os.close(limit)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            os.dup(subscription.fd)
        subscription.announce()
        async with asyncio.timeout(5):
            await subscription.done.wait()
        with pytest.raises(OSError, match="Too many open files"):
            os.dup(subscription.fd)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        reserve.close()
    assert caplog.records == []


class InWriter(Subscription):
    """Notes the thread."""

    ends = 0

    def get_fd(self) -> int:
        return self.fd

    def process_events(self) -> None:
        self.thread = threading.current_thread().name
        super().process_events()

    def end(self) -> None:
        """As sysrepo: not before a writer has its answer, nor at the first try."""
        self.ends += 1
        if self.ends == 1:
            raise sysrepo.SysrepoTimeOutError("Locking a rwlock failed")
        calls = self.calls
        self.announce()
        wait_until(lambda: self.calls > calls)


@pytest.fixture
def writer() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "writer") as made:
        yield made


@pytest.mark.parametrize("failures", [0, 3])
async def test_events_are_processed_in_the_thread_one_after_the_other(
    writer: ThreadPoolExecutor, failures: int
) -> None:
    loop = asyncio.get_running_loop()
    subscription = InWriter(failures)
    done = subscription.done
    subscription.done = SimpleNamespace(set=lambda: loop.call_soon_threadsafe(done.set))
    processing = events.InThread(Session(subscription), writer)

    for _ in range(3):
        done.clear()
        subscription.calls, subscription._failures = 0, failures
        subscription.announce()
        async with asyncio.timeout(5):
            await done.wait()
        assert subscription.calls == failures + 1
        assert subscription.thread.startswith("writer")
    processing.close()


async def test_the_loop_turns_while_an_event_is_processed(writer: ThreadPoolExecutor) -> None:
    subscription, go_on = InWriter(0), threading.Event()
    subscription.done = SimpleNamespace(set=lambda: go_on.wait(30))
    processing = events.InThread(Session(subscription), writer)
    subscription.announce()
    async with asyncio.timeout(5):
        while not subscription.calls:
            await asyncio.sleep(0.001)

    # Another one waits for its turn.
    subscription.announce()
    for _ in range(100):
        await asyncio.sleep(0)
    assert subscription.calls == 1

    processing.close()
    go_on.set()


def test_a_thread_of_its_own_processes_an_event_later() -> None:
    subscription = InWriter(failures=3)
    subscription.done = threading.Event()
    following = events.InOwnThread("follower")
    following.follow(subscription)
    try:
        for _ in range(2):
            subscription.announce()
            assert subscription.done.wait(5)
            assert subscription.calls == 4
            subscription.calls = 0
            subscription.done.clear()
    finally:
        following.close()
    assert subscription.thread == "follower"
    assert subscription.ends == 2


def test_a_thread_of_its_own_takes_more_subscriptions_on() -> None:
    following = events.InOwnThread("follower")
    try:
        for _ in range(3):
            subscription = InWriter(failures=0)
            subscription.done = threading.Event()
            # An event that came before is processed, too.
            subscription.announce()
            following.follow(subscription)
            assert subscription.done.wait(5)
    finally:
        following.close()


def test_a_thread_of_its_own_ends_while_an_event_fails() -> None:
    subscription = InWriter(failures=10**9)
    following = events.InOwnThread("follower")
    following.follow(subscription)
    subscription.announce()
    wait_until(lambda: subscription.calls > 2)
    following.close()
    assert not any(thread.name == "follower" for thread in threading.enumerate())
