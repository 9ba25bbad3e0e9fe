"""srv6mgrd hears who makes a change over gNMI, from where, and how long its client waits."""

from __future__ import annotations

import time
from typing import Any

import pytest

from srv6mgrd.commits import locks
from srv6mgrd.gnmi.workers import Caller
from srv6mgrd.gnmi.writer import Writer


class Commits:
    """The commit socket's client."""

    def edit(self, caller: locks.Caller, *_: object, deadline: float, **__: object) -> int:
        self.caller, self.deadline = caller, deadline
        return 1


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
    write(commits, Caller("alice", deadline=time.monotonic() + 20))
    # With time left for the answer.
    assert 15 < commits.deadline < 20
    write(commits, Caller("alice", deadline=time.monotonic() - 1))
    assert commits.deadline == 0
