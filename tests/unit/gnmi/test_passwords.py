"""Passwords: what is right, how often may be guessed, and whom guesses delay."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable

import grpc
import pytest

from srv6mgrd.clients import passwords as module
from srv6mgrd.clients.denied import NotAuthenticatedError, ThrottledError
from srv6mgrd.clients.passwords import Passwords, hash_password
from srv6mgrd.clients.peer import Peer
from srv6mgrd.clients.throttle import FailureDelay, Throttle
from srv6mgrd.gnmi.access import Access
from srv6mgrd.gnmi.failure import RpcError

HERE, THERE = Peer(1, "192.0.2.1", 1), Peer(2, "198.51.100.1", 2)
STORED = hash_password("secret")


@pytest.fixture(autouse=True)
def short_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PENALTY_S", 0.01)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def failing(call: Awaitable[object]) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await call
    return caught.value


async def denied(call: Awaitable[object]) -> NotAuthenticatedError | ThrottledError:
    with pytest.raises((NotAuthenticatedError, ThrottledError)) as caught:
        await call
    return caught.value


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 30)

    asyncio.run(bounded())


def test_credentials() -> None:
    assert "secret" not in STORED

    async def test() -> None:
        users = {"alice": STORED, "eve": "plain", "trent": "pam"}
        access = Access(Passwords(users))
        name, right, wrong = ("username", "alice"), ("password", "secret"), ("password", "secre")
        for _ in range(2):
            assert await access.check((name, right), peer=HERE) == "alice"
            error = await failing(access.check((name, wrong), peer=HERE))
            assert error.code is grpc.StatusCode.UNAUTHENTICATED
        for other in ("bob", "eve", "trent"):
            error = await failing(access.check((("username", other), right), peer=THERE))
            assert error.code is grpc.StatusCode.UNAUTHENTICATED
            assert error.text == f"user {other}: unknown, or the password is wrong"
        error = await failing(access.check((name,)))
        assert error.code is grpc.StatusCode.PERMISSION_DENIED
        error = await failing(access.check(()))
        assert error.code is grpc.StatusCode.UNAUTHENTICATED

    run(test)


def test_a_client_without_a_name_is_who_the_settings_say() -> None:
    async def test() -> None:
        access = Access(Passwords({}), anonymous="guest")
        assert await access.check(()) == "guest"
        assert await access.check((("username", ""), ("password", ""))) == "guest"
        error = await failing(access.check((("username", "alice"),)))
        assert error.code is grpc.StatusCode.PERMISSION_DENIED

    run(test)


def test_the_kernel_names_who_comes_over_a_socket() -> None:
    async def test() -> None:
        access = Access(Passwords({}))
        assert await access.check((), peer=Peer(1, uid=0)) == "root"
        assert await access.check((("username", "root"),), peer=Peer(1, uid=0)) == "root"
        error = await failing(access.check((("username", "alice"),), peer=Peer(1, uid=0)))
        assert error.code is grpc.StatusCode.PERMISSION_DENIED
        error = await failing(access.check((), peer=Peer(2, uid=4_000_000_000)))
        assert error.text == "uid 4000000000: this system has no such user; add it"

    run(test)


def test_wrong_passwords_of_a_client_are_throttled_and_of_no_other() -> None:
    clock = Clock()

    async def test() -> None:
        checked = Passwords({"alice": STORED, "bob": STORED}, clock=clock)
        for n in range(6):
            error = await denied(checked.check("alice", f"guess {n}", HERE))
            assert type(error) is NotAuthenticatedError
        error = await denied(checked.check("alice", "secret", HERE))
        assert type(error) is ThrottledError
        assert "too many wrong passwords from 192.0.2.1" in str(error)
        assert "try again in 1 s" in str(error)
        await checked.check("alice", "secret", THERE)
        clock.now += 1
        error = await denied(checked.check("alice", "guess", HERE))
        assert type(error) is NotAuthenticatedError
        error = await denied(checked.check("alice", "guess", HERE))
        assert "try again in 2 s" in str(error)
        # Another user behind the same address.
        await checked.check("bob", "secret", HERE)
        # What was right once is right, whatever others at this address do.
        await checked.check("alice", "secret", HERE)

    run(test)


def test_a_client_that_tries_many_names_is_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GRAIN_S", 0.001)

    def system(_user: str, _password: str, _host: str) -> bool:
        return False

    async def test() -> None:
        checked = Passwords({}, system, Clock())
        errors = [await denied(checked.check(f"user {n}", "spray", HERE)) for n in range(32)]
        assert [*map(type, errors)] == [NotAuthenticatedError] * 31 + [ThrottledError]

    run(test)


def test_guesses_delay_nobody_whose_password_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads for guesses are all stuck; known passwords need none, and old ones others."""
    monkeypatch.setattr(module, "_GUESSES", 1)
    stuck = threading.Event()
    clock = Clock()

    def system(user: str, password: str, _host: str) -> bool:
        if password.startswith("guess"):
            stuck.wait(20)
        return password == "secret"

    async def test() -> None:
        checked = Passwords({}, system, clock)
        await checked.check("alice", "secret", HERE)
        guesses = [
            asyncio.create_task(
                denied(checked.check("alice", f"guess {n}", Peer(n, f"192.0.2.{n}")))
            )
            for n in range(1, 61)
        ]
        try:
            await asyncio.sleep(0)
            await checked.check("alice", "secret", HERE)
            clock.now += 10_000
            # The system has to be asked again, which is not done behind the guesses.
            await asyncio.wait_for(checked.check("alice", "secret", HERE), 5)
        finally:
            stuck.set()
        await asyncio.gather(*guesses)

    run(test)


def test_a_client_queues_few_checks() -> None:
    stuck = threading.Event()

    def system(_user: str, _password: str, _host: str) -> bool:
        stuck.wait(20)
        return False

    async def test() -> None:
        checked = Passwords({}, system)
        guesses = [
            asyncio.create_task(denied(checked.check("alice", f"guess {n}", HERE)))
            for n in range(60)
        ]
        done, waiting = await asyncio.wait(guesses, timeout=0.5)
        assert (len(done), len(waiting)) == (52, 8)
        assert {type(task.result()) for task in done} == {ThrottledError}
        stuck.set()
        await asyncio.gather(*waiting)

    run(test)


def test_a_removed_account_is_noticed() -> None:
    right = True
    clock = Clock()

    def system(_user: str, _password: str, _host: str) -> bool:
        return right

    async def test() -> None:
        nonlocal right
        checked = Passwords({}, system, clock)
        await checked.check("alice", "secret", HERE)
        right = False
        await checked.check("alice", "secret", HERE)
        clock.now += 301
        error = await denied(checked.check("alice", "secret", HERE))
        assert type(error) is NotAuthenticatedError

    run(test)


def test_the_system_is_not_asked_about_root() -> None:
    """Unless the settings say so: root is under no rules."""

    def system(_user: str, _password: str, _host: str) -> bool:
        return True

    async def test() -> None:
        await denied(Passwords({}, system).check("root", "secret", HERE))
        await Passwords({"root": "pam"}, system).check("root", "secret", HERE)
        # A hash goes before the system.
        await denied(Passwords({"alice": STORED}, system).check("alice", "wrong", HERE))

    run(test)


def test_names_can_not_be_reported_apart_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is unknown costs the same work, and answers come at multiples of a grain."""
    derived: list[str] = []
    pauses: list[float] = []
    derive, sleep = module._derive, asyncio.sleep

    def counted(password: str, salt: bytes) -> str:
        derived.append(password)
        return derive(password, salt)

    async def paused(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(module, "_derive", counted)

    async def test() -> None:
        checked = Passwords({"alice": STORED}, clock=Clock())
        derived.clear()
        monkeypatch.setattr(asyncio, "sleep", paused)
        await denied(checked.check("alice", "wrong", HERE))
        await denied(checked.check("nobody", "wrong", THERE))
        assert derived == ["wrong", "wrong"]
        assert pauses == [0.25, 0.25]

    run(test)


def test_backoff_doubles_up_to_its_end_and_is_forgotten() -> None:
    throttle = Throttle(FailureDelay(free=2, first=1, longest=4))
    waits = []
    for _ in range(6):
        throttle.failed("a", 100)
        waits.append(throttle.wait("a", 100))
    assert waits == [0, 0, 1, 2, 4, 4]
    assert throttle.wait("b", 100) == 0
    assert throttle.wait("a", 103) == 1
    assert throttle.wait("a", 1000) == 0
    for n in range(20_000):
        throttle.failed(f"spoofed {n}", 1000)
    assert len(throttle) == 10_000


@pytest.mark.parametrize(
    ("typed", "is_hashed"), [("secret\n", True), ("secret", True), ("", False)]
)
def test_a_password_is_hashed_from_standard_input(typed: str, is_hashed: bool) -> None:
    command = [sys.executable, "-m", "srv6mgrd.gnmi.daemon", "--hash-password"]
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    if is_hashed:
        assert module._matches("secret", done.stdout.strip())
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert "the password is empty" in done.stderr
