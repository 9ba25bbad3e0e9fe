"""The commit socket does not wait for a directory of users that does not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6mgrd.commits import answer
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.fields import Field, Fields
from srv6mgrd.commits.locks import Caller, Locks
from srv6mgrd.commits.server import CommitServer
from srv6mgrd.commits.watch import Watchers
from srv6mgrd.datastore.connection import UnavailableError
from srv6mgrd.datastore.user_groups import UserGroups
from srv6mgrd.name_service import system_groups


class Work:
    """Carries all out, and remembers for whom."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def carry_out(self, _request: Fields, caller: Caller, _owner: int) -> list[Field]:
        self.done.append(caller.user)
        return answer.ok()

    def upcoming(self, _request: Fields) -> str:
        return ""


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def client(tmp_path: Path, work: Work) -> Iterator[CommitClient]:
    """Of a server whose directory never answers for bob."""
    hang = threading.Event()

    def look_up(user: str) -> frozenset[str]:
        if user == "bob":
            hang.wait()
        return frozenset()

    groups = UserGroups(system_groups(look_up, timeout=0.2))
    server = CommitServer(tmp_path / "socket", work, Locks(), Watchers(), groups)
    server.start()
    yield CommitClient(tmp_path / "socket")
    hang.set()
    server.close()


def test_a_user_whose_groups_are_unknown_changes_nothing(client: CommitClient, work: Work) -> None:
    bob = Caller("srv6-gnmid", "bob", is_restricted=True)
    with pytest.raises(UnavailableError, match="user bob: groups: no answer within"):
        client.edit(bob, [], [])
    assert work.done == []


def test_others_are_not_held_up(client: CommitClient, work: Work) -> None:
    bob = Caller("srv6-gnmid", "bob", is_restricted=True)
    waits = threading.Thread(target=_rejected, args=(client, bob), name="bob")
    waits.start()
    for user in ("alice", "root"):
        client.edit(Caller("srv6-gnmid", user, is_restricted=True), [], [])
    # NACM is not applied to a northbound's own edits.
    client.edit(Caller("srv6-configdbd", "bob"), [], [])
    waits.join()
    assert work.done == ["alice", "root", "bob"]


def _rejected(client: CommitClient, caller: Caller) -> None:
    with pytest.raises(UnavailableError):
        client.edit(caller, [], [])
