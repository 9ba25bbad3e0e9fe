"""srv6mgrd hears who makes a change over gNMI, from where, and how long its client waits."""

from __future__ import annotations

import time
from typing import Any

import pytest

from srv6mgrd.commits import locks
from srv6mgrd.datastore.connection import DatastoreError, TimedOutError
from srv6mgrd.gnmi.extensions import Confirmed, Step
from srv6mgrd.gnmi.workers import Caller
from srv6mgrd.gnmi.writer import Writer


class Commits:
    """The commit socket's client."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.called: list[str] = []

    def edit(
        self,
        caller: locks.Caller,
        *_: object,
        deadline: float,
        timeout: float | None,
        **__: object,
    ) -> int:
        self.caller, self.deadline, self.timeout = caller, deadline, timeout
        if self.failure is not None:
            raise self.failure
        return 1

    def rpc(self, _caller: object, path: str, *_: object, **__: object) -> dict[str, Any]:
        self.called.append(path)
        return {}


@pytest.fixture
def commits() -> Commits:
    return Commits()


def write(commits: Any, caller: Caller) -> None:
    Writer(commits, ("m",), lambda: False, lambda *_: None).commit([], caller, None)


def test_who_and_from_where(commits: Commits) -> None:
    write(commits, Caller("alice", address="192.0.2.1"))
    wanted = locks.Caller("srv6-gnmid", "alice", address="192.0.2.1", is_restricted=True)
    assert commits.caller == wanted


def test_the_deadline_of_the_client(commits: Commits) -> None:
    write(commits, Caller("alice"))
    assert commits.deadline > 100
    assert commits.timeout is None
    write(commits, Caller("alice", deadline=time.monotonic() + 20))
    # With time left for the answer.
    assert commits.timeout is not None
    assert 15 < commits.deadline < commits.timeout < 20
    write(commits, Caller("alice", deadline=time.monotonic() - 1))
    assert commits.deadline == 0


@pytest.mark.parametrize(
    ("failure", "called"),
    [
        # It goes on.
        (TimedOutError("late"), ["commit"]),
        (DatastoreError("no"), ["commit", "cancel"]),
    ],
)
def test_a_confirmed_commit_that_goes_on_is_not_cancelled(
    commits: Commits, failure: Exception, called: list[str]
) -> None:
    commits.failure = failure
    writer = Writer(commits, ("m",), lambda: False, lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(type(failure)):
        writer.commit([], Caller("alice"), Confirmed("one", Step.BEGIN, 60))
    assert commits.called == [f"/srv6mgr-operations:{name}" for name in called]
