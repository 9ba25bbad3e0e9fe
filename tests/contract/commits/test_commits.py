"""Clients of the commit socket notice what happens to srv6mgrd, and get their turn."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.waiting import wait_until
from srv6mgrd.commits import client as client_module
from srv6mgrd.commits.client import CommitClient
from srv6mgrd.commits.fields import encode, receive
from srv6mgrd.commits.locks import Caller
from srv6mgrd.commits.paths import commit_socket
from srv6mgrd.commits.watch import Watch
from srv6mgrd.datastore.connection import (
    Connection,
    DeniedError,
    ExpiredError,
    LockedError,
    TimedOutError,
    UnavailableError,
)
from srv6mgrd.datastore.running import content
from srv6mgrd.datastore.transaction import Edit, Op
from srv6mgrd.model.rejection import RejectedError
from tests.contract.commits.conftest import ALICE, BOB, MODULE, Started, vrf
from tests.contract.descriptors import exhausted

NACM = "ietf-netconf-acm"
# A recovery session (RFC 8341 section 2.4): no rule denies it anything.
ROOT = Caller("test", "root")


def running() -> dict[str, int]:
    """Tables of the VRFs that are configured."""
    connection = Connection(originator="test")
    tree = json.loads(content(connection.session(), (MODULE,)))
    connection.close()
    listed = tree.get(f"{MODULE}:srv6", {}).get("vrfs", {}).get("vrf", [])
    return {each["name"]: each["table-id"] for each in listed}


def later(call: object, *arguments: object, **named: object) -> Future[object]:
    return ThreadPoolExecutor(1).submit(call, *arguments, **named)  # type: ignore[arg-type]


def test_without_srv6mgrd_nothing_is_accepted(client: CommitClient) -> None:
    with pytest.raises(UnavailableError, match="srv6mgrd: it is not running"):
        client.edit(ALICE, (MODULE,), vrf("red"))


def test_a_death_in_a_commit_is_noticed_and_leaves_nothing(
    started: Started, client: CommitClient
) -> None:
    manager = started(hold=60)
    before = running()
    edit = later(client.edit, ALICE, (MODULE,), vrf("dead"))
    manager.says("commit")
    manager.kill()
    died = time.monotonic()
    with pytest.raises(UnavailableError, match="ended while the request was carried out"):
        edit.result(10)
    assert time.monotonic() - died < 2
    assert running() == before
    started()
    client.edit(ALICE, (MODULE,), vrf("after"))
    assert time.monotonic() - died < 5
    assert set(running()) == {*before, "after"}


def test_a_silent_srv6mgrd_is_reported(
    started: Started, client: CommitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SILENCE", 2.5)
    manager = started(hold=0.2)
    edit = later(client.edit, ALICE, (MODULE,), vrf("slow"))
    manager.says("commit")
    manager.send(signal.SIGSTOP)
    with pytest.raises(TimedOutError, match=r"no sign of life.*may still be carried out"):
        edit.result(10)
    manager.send(signal.SIGCONT)
    # What the error said comes true, and the next one has its turn.
    client.edit(ALICE, (MODULE,), vrf("next"))
    assert {"slow", "next"} <= set(running())


def test_a_long_commit_is_alive(
    started: Started, client: CommitClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SILENCE", 2.5)
    started(hold=4)
    client.edit(ALICE, (MODULE,), vrf("long"))


def test_what_waits_too_long_is_rejected(started: Started, client: CommitClient) -> None:
    manager = started(hold=4)
    first = later(client.edit, ALICE, (MODULE,), vrf("first"))
    manager.says("commit")
    busy = (
        "busy, the change waited behind that of srv6-gnmid of alice until its deadline and nothing"
        " was changed"
    )
    begun = time.monotonic()
    with pytest.raises(ExpiredError, match=busy):
        client.edit(BOB, (MODULE,), vrf("late"), deadline=0.3)
    assert time.monotonic() - begun < 1.3
    first.result(10)
    assert "late" not in running()


def test_what_comes_after_its_deadline_is_not_begun(started: Started, client: CommitClient) -> None:
    started()
    with pytest.raises(ExpiredError, match="nothing was changed"):
        client.edit(ALICE, (MODULE,), vrf("late"), deadline=0)
    assert "late" not in running()


def test_many_writers_wait_for_each_other(started: Started, client: CommitClient) -> None:
    started()
    threads, failures = [], []

    def write(number: int) -> None:
        try:
            for n in range(25):
                client.edit(
                    ALICE if number % 2 else BOB, (MODULE,), vrf(f"w{number}", 100 * number + n + 1)
                )
        except Exception as error:
            failures.append(error)

    for number in range(4):
        threads.append(threading.Thread(target=write, args=(number,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert not failures
    assert {f"w{n}": 100 * n + 25 for n in range(4)}.items() <= running().items()


def test_a_lock_keeps_others_out_and_names_its_holder(
    started: Started, client: CommitClient, place: Path
) -> None:
    started()
    with socket.socket(socket.AF_UNIX) as holder:
        holder.connect(str(commit_socket(place)))
        fields = [("northbound", b"srv6-netconfd"), ("user", b"bob"), ("session", b"7")]
        holder.sendall(encode([("request", b"lock"), *fields, ("address", b"192.0.2.1")]))
        found = receive(holder)
        assert found is not None
        assert found.text("result") == "ok"
        who = "locked by srv6-netconfd session 7 of bob from 192.0.2.1 since"
        with pytest.raises(LockedError, match=who):
            client.edit(ALICE, (MODULE,), vrf("locked"))
    # Its connection ended.
    deadline = time.monotonic() + 5
    while True:
        try:
            client.edit(ALICE, (MODULE,), vrf("locked"))
            break
        except LockedError:
            assert time.monotonic() < deadline


def test_other_users_act_for_themselves(started: Started, place: Path) -> None:
    started()
    path = commit_socket(place)
    place.chmod(0o755)
    path.chmod(0o666)
    os.seteuid(65534)
    try:
        with pytest.raises(DeniedError, match="denied"):
            # Whatever name it gives.
            CommitClient(path).edit(ALICE, (MODULE,), vrf("nobody"))
    finally:
        os.seteuid(0)
    assert "nobody" not in running()


def test_a_rejection_keeps_its_reasons(started: Started, client: CommitClient) -> None:
    started()
    with pytest.raises(RejectedError, match="table-id"):
        client.edit(ALICE, (MODULE,), vrf("wrong", -1))


class Followed:
    """What a watcher heard of."""

    def __init__(self, place: Path) -> None:
        self.calls: list[tuple[int, bool]] = []
        self.names: set[str] = set()
        self.watch = Watch(commit_socket(place), (MODULE,), self._changed, self._read)

    def _changed(self, diffs: object, is_whole: bool) -> None:
        assert isinstance(diffs, list)
        self.calls.append((len(diffs), is_whole))
        for diff in diffs:
            tree = json.loads(diff).get(f"{MODULE}:srv6", {})
            self.names |= {each["name"] for each in tree.get("vrfs", {}).get("vrf", [])}

    @staticmethod
    def _read() -> str:
        return json.dumps({f"{MODULE}:srv6": {"vrfs": {"vrf": [{"name": "read"}]}}})


def test_a_watcher_has_what_was_committed_before(
    started: Started, client: CommitClient, place: Path
) -> None:
    followed = Followed(place)
    assert followed.names == {"read"}
    manager = started()
    for n in range(3):
        client.edit(ALICE, (MODULE,), vrf(f"seen{n}"))
    wait_until(lambda: "seen2" in followed.names, seen=lambda: followed.calls)
    mark = client.edit(ALICE, (MODULE,), vrf("last"))
    assert followed.watch.wait_for(mark, 5)
    assert "last" in followed.names
    # A new process gives the whole configuration again.
    manager.kill()
    before = len(followed.calls)
    started()
    wait_until(lambda: len(followed.calls) > before)
    assert followed.calls[before][1]
    followed.watch.close()


def test_a_watcher_that_does_not_read_holds_nobody_up(
    started: Started, client: CommitClient, place: Path
) -> None:
    started()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.connect(str(commit_socket(place)))
        deaf.sendall(encode([("request", b"watch"), ("module", MODULE.encode())]))
        begun = time.monotonic()
        for _n in range(20):
            client.edit(ALICE, (MODULE,), vrf("deaf"))
        assert time.monotonic() - begun < 5


def test_watchers_have_what_is_committed_without_a_descriptor_left(
    started: Started, client: CommitClient, place: Path
) -> None:
    """sysrepo forgets an event that it cannot announce or read, and its writer waits for it."""
    manager = started()
    followed = Followed(place)
    client.edit(ALICE, (MODULE,), vrf("before"))
    # One for the client's connection.
    with exhausted(manager.process.pid, but=1):
        for n in range(3):
            began = time.monotonic()
            mark = client.edit(ALICE, (MODULE,), vrf(f"exhausted{n}"))
            assert time.monotonic() - began < 5
            assert followed.watch.wait_for(mark, 5)
            assert f"exhausted{n}" in followed.names
    followed.watch.close()


def by_default(action: str) -> list[Edit]:
    """NACM permits or denies writes without a rule."""
    document = {f"{NACM}:nacm": {"write-default": action}}
    return [Edit(Op.REPLACE, f"/{NACM}:nacm/write-default", json.dumps(document).encode())]


def test_rules_that_changed_without_a_descriptor_left_are_followed(
    started: Started, client: CommitClient
) -> None:
    manager, nobody = started(), Caller("test", "nobody", is_restricted=True)
    client.edit(ROOT, (NACM,), by_default("permit"))
    client.edit(nobody, (MODULE,), vrf("permitted"))
    # One for the client's connection.
    with exhausted(manager.process.pid, but=1):
        began = time.monotonic()
        client.edit(ROOT, (NACM,), by_default("deny"))
        assert time.monotonic() - began < 5
    try:
        with pytest.raises(DeniedError):
            client.edit(nobody, (MODULE,), vrf("denied"))
    finally:
        client.edit(ROOT, (NACM,), by_default("permit"))


def test_a_watcher_that_ends_in_a_commit_holds_nobody_up(
    started: Started, client: CommitClient, place: Path
) -> None:
    """sysrepo's writer waits for each subscriber, and a subscription can't end while it does."""
    manager = started(hold=1)
    for n in range(3):
        with socket.socket(socket.AF_UNIX) as watcher:
            watcher.connect(str(commit_socket(place)))
            watcher.sendall(encode([("request", b"watch"), ("module", MODULE.encode())]))
            assert receive(watcher) is not None
            edit = later(client.edit, ALICE, (MODULE,), vrf(f"ending{n}"))
            manager.says("commit")
        edit.result(10)


def test_a_stop_leaves_no_subscription_and_answers_nobody_late(
    started: Started, client: CommitClient, place: Path
) -> None:
    manager = started()
    followed = Followed(place)
    client.edit(ALICE, (MODULE,), vrf("stopped"))
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.connect(str(commit_socket(place)))
        deaf.sendall(encode([("request", b"watch"), ("module", MODULE.encode())]))
        assert receive(deaf) is not None
        subscribed = f"{place.name}sub_{MODULE}.running*"
        assert list(Path("/dev/shm").glob(subscribed))
        begun = time.monotonic()
        manager.stop()
        assert time.monotonic() - begun < 5
    assert not list(Path("/dev/shm").glob(subscribed))
    followed.watch.close()
