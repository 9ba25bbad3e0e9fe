"""The history on disk: neither damage nor a full disk keeps it from going on."""

from __future__ import annotations

import contextlib
import errno
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from srv6mgrd.datastore.history import History, Origin, Pending, Status, listed, packed
from srv6mgrd.model.sid_changes import SidChange
from srv6mgrd.storage import Problems, StorageError

TREE = '{"at":"a"}'
BOB = Origin("srv6-netconfd", "bob")
PENDING = Pending.of(Origin("srv6-gnmid", "alice", "one"), 5, 1, TREE)

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "not a database": lambda content: b"x" * len(content),
    "garbled pages": lambda content: content[:100] + b"\xff" * (len(content) - 100),
    "a garbled page": lambda content: content[:4096] + b"\xff" * 4096 + content[8192:],
    "cut in the middle": lambda content: content[: len(content) // 2 + 7],
    "a header alone": lambda content: content[:100],
    "of a newer version": lambda content: content[:60] + b"\0\0\0\x63" + content[64:],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def filled(path: Path) -> None:
    history = History(path)
    for number in range(40):
        tree = json.dumps({"at": [hash(str(n * number)) for n in range(200)]})
        history.record(number, BOB, 1, Status.DONE, packed(tree))
    history.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_set_aside(path: Path, damage: str) -> None:
    filled(path)
    damaged = DAMAGES[damage](path.read_bytes())
    path.write_bytes(damaged)
    problems = Problems()

    history = History(path, problems=problems)
    for t in history.transactions():
        history.configuration(t.id).result()
    number = history.record(7, BOB, 1, Status.DONE, packed(TREE))
    assert history.save().result() or history.save().result()
    history.close()

    assert path.with_suffix(".damaged").read_bytes()[:4096] == damaged[:4096]
    assert "was set aside" in problems.listed()["history.damaged"][0]
    again = History(path)
    assert again.configuration(number).result() == TREE
    again.close()


def test_a_schema_of_somebody_else_is_set_aside(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("create table transactions (x integer)")
    db.close()

    History(path).close()

    assert path.with_suffix(".damaged").exists()


def test_a_configuration_that_is_damaged_is_not_known(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as db:
        db.execute("update transactions set configuration = x'00ff' where id = 40")
    db.close()
    history = History(path)
    assert history.configuration(40).result() is None
    assert history.latest().result() is None
    assert history.configuration(39).result() is not None
    history.close()


def test_what_the_disk_has_no_room_for_follows(path: Path) -> None:
    history = History(path)

    def limit(pages: int | None) -> None:
        db = history._file._database._db
        pages = pages or db.execute("pragma page_count").fetchone()[0]
        db.execute(f"pragma max_page_count = {pages}")

    history._thread.submit(limit, None).result()
    tree = json.dumps({"at": [hash(str(n)) for n in range(5000)]})

    number = history.record(1, BOB, 1, Status.DONE, packed(tree))

    assert not history.save().result()
    assert history.configuration(number).result() == tree
    history._thread.submit(limit, 1_000_000).result()
    assert history.save().result()
    history.close()
    again = History(path)
    assert again.latest().result() == tree
    again.close()


@pytest.mark.parametrize(
    "content",
    ["", "{", '{"version": 2}', "[]", "null", '{"version": 1, "origin": {}}', "\x00\xff"],
)
def test_a_pending_commit_that_makes_no_sense_is_set_aside(path: Path, content: str) -> None:
    file = path.with_name("pending.json")
    file.write_bytes(content.encode("latin-1"))
    problems = Problems()
    history = History(path, problems=problems)
    assert history.pending is None
    assert "was set aside" in problems.listed()["pending.damaged"][0]
    history.pend(PENDING).result()
    history.close()
    again = History(path)
    assert again.pending == PENDING
    again.close()


def test_a_pending_commit_that_could_not_be_read_rolls_nothing_back_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = History(path)
    before.pend(PENDING).result()
    before.close()
    with monkeypatch.context() as broken:
        broken.setattr("srv6mgrd.datastore.pending.read_text", _fails)
        history = History(path)
    assert history.pending is None

    history.record(1, Origin("gNMI"), 1, Status.DONE, packed("{}"))

    history.close()
    again = History(path)
    assert again.pending is None
    again.close()


def _fails(*_: object) -> str:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("text", ["", "x" * 1_000_000, '\u20ac\\"\n\U0001f600' * 100_000])
def test_a_configuration_of_any_length_is_pending(path: Path, text: str) -> None:
    pending = replace(PENDING, before=json.dumps({"at": text}, ensure_ascii=False))
    history = History(path)
    history.pend(pending).result()
    history.close()
    again = History(path)
    assert again.pending == pending
    again.close()


def test_a_pending_commit_is_for_root_alone(path: Path) -> None:
    history = History(path)
    history.pend(PENDING).result()
    history.close()
    assert path.with_name("pending.json").stat().st_mode & 0o077 == 0


def test_a_pending_commit_that_can_t_be_written_is_not_pending(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    history = History(path)
    monkeypatch.setattr("srv6mgrd.datastore.pending.os.fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        history.pend(PENDING).result()
    assert history.pending is None
    history.close()
    assert History(path).pending is None


def test_where_a_change_came_from_is_kept(path: Path) -> None:
    history = History(path)
    history.record(
        1, Origin("srv6-gnmid", "alice", address="192.0.2.1"), 1, Status.DONE, packed(TREE)
    )
    history.close()
    reopened = History(path)
    (transaction,) = reopened.transactions()
    assert transaction.origin == Origin("srv6-gnmid", "alice", address="192.0.2.1")
    (entry,) = listed([transaction], None, "")["transaction"]
    assert entry["source-host"] == "192.0.2.1"


def test_a_history_without_addresses_is_taken_over(path: Path) -> None:
    filled(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("alter table transactions drop column address")
        db.commit()
    history = History(path)
    assert len(history.transactions()) == 40
    assert history.transactions()[0].origin == BOB
    history.record(99, Origin("srv6-gnmid", address="192.0.2.1"), 1, Status.DONE, packed(TREE))
    history.close()
    assert History(path).transactions()[0].origin.address == "192.0.2.1"


def changes(n: int) -> bytes:
    return packed([SidChange(f"fcbb:0:1:{n:x}::/64", whole={"prefix": f"fcbb:0:1:{n:x}::/64"})])


def sids_of(history: History, number: int) -> list[str] | None:
    text = history.configuration(number).result()
    if text is None:
        return None
    return [e["prefix"] for e in json.loads(text)["srv6mgr-srv6:srv6"]["local-sids"]["sid"]]


EMPTY = packed('{"srv6mgr-srv6:srv6":{}}')


def test_a_configuration_is_made_of_the_changes_since_a_whole_one(path: Path) -> None:
    history = History(path)
    assert not history.takes_changes
    history.record(1, BOB, 1, Status.DONE, EMPTY)
    assert history.takes_changes
    for n in (1, 2):
        history.record(1, BOB, 1, Status.DONE, changes(n))
    history.close()

    again = History(path)
    assert sids_of(again, 2) == ["fcbb:0:1:1::/64"]
    assert sids_of(again, 3) == ["fcbb:0:1:1::/64", "fcbb:0:1:2::/64"]
    again.close()


def test_now_and_then_a_configuration_is_kept_whole(path: Path) -> None:
    history = History(path)
    history.record(1, BOB, 1, Status.DONE, EMPTY)
    taken = 0
    while history.takes_changes:
        taken += 1
        history.record(1, BOB, 1, Status.DONE, changes(taken))
    history.close()

    assert taken == 32
    again = History(path)
    assert not again.takes_changes
    again.close()


def test_what_others_are_made_of_is_kept_but_not_listed(path: Path) -> None:
    history = History(path, keep=3)
    history.record(1, BOB, 1, Status.DONE, EMPTY)
    for n in range(1, 7):
        history.record(1, BOB, 1, Status.DONE, changes(n))
    history.close()

    again = History(path, keep=3)
    assert [t.id for t in again.transactions()] == [7, 6, 5]
    assert len(sids_of(again, 5) or ()) == 4
    again.record(1, BOB, 1, Status.DONE, EMPTY)
    for n in (7, 8):
        again.record(1, BOB, 1, Status.DONE, changes(n))
    assert again.save().result()
    again.close()
    with sqlite3.connect(path) as db:
        assert db.execute("select count(*) from transactions").fetchone() == (3,)
    db.close()


def test_changes_in_what_is_not_known_are_not_known(path: Path) -> None:
    history = History(path)
    history.record(1, BOB, 1, Status.DONE, EMPTY)
    history.record(1, BOB, 1, Status.DONE, packed([SidChange("fcbb:0:1:1::/64")]))

    assert history.configuration(2).result() is None
    history.close()


def test_an_upgrade_keeps_all_whole(path: Path) -> None:
    history = History(path)
    history.record(1, BOB, 1, Status.DONE, EMPTY)
    history.record(1, BOB, 1, Status.DONE, changes(1))

    assert history.convert(lambda tree: tree.replace("srv6mgr-srv6:srv6", "new:srv6"))

    assert "new:srv6" in (history.configuration(2).result() or "")
    assert "fcbb:0:1:1::/64" in (history.configuration(2).result() or "")
    history.close()
