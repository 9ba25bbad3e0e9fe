"""The contract of a store, for each of them; and that of SQLite's file."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6net.allocate.plan import Allocations
from srv6net.allocate.pool import Numbers, Released
from srv6net.store.sqlite import SqliteStore
from srv6net.transaction.ports import BusyError, Store, StoreError
from srv6net.transaction.record import Change, Decision, Record, Revision
from tests.fakes.network import FakeStore

ALLOCATIONS = Allocations({"p": Numbers({"red": 1}, {2: Released("blue", 9.5)})})
CHANGES = {"pe1": Change({}, {"/a": {"b": [None]}}), "pe2": Change({"/c": 1}, {})}


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "fake":
        yield FakeStore()
        return
    made = SqliteStore(tmp_path / "net.sqlite")
    yield made
    made.close()


def record(number: int = 1, id: str = "one") -> Record:
    proposed = Revision(number, 5.0, {"intent": [1]}, ALLOCATIONS, {"pe1": {"/a": {"b": [None]}}})
    return Record(id, 4.0, proposed, CHANGES)


def test_an_empty_store_has_revision_0_and_no_transaction(store: Store) -> None:
    assert (store.revision(), store.last(), store.history()) == (Revision(), None, [])


def test_a_record_comes_back_as_it_was_written(store: Store) -> None:
    store.begin(record())
    assert store.last() == record()
    store.touch("one")
    store.settle("one", "pe1")
    last = store.last()
    assert last is not None
    assert (last.is_touched, last.settled, last.unsettled) == (True, {"pe1"}, {"pe2"})


def test_the_proposed_revision_is_current_from_the_decision_on(store: Store) -> None:
    store.begin(record())
    assert store.revision().number == 0
    assert store.decide("one", Decision.COMMITTED, ()) is Decision.COMMITTED
    assert store.revision() == record().proposed
    assert store.revision(1) == record().proposed
    assert [r.number for r in store.history()] == [1]


def test_an_aborted_transaction_leaves_no_revision(store: Store) -> None:
    store.begin(record())
    store.decide("one", Decision.ABORTED, ["router pe1: no"])
    last = store.last()
    assert last is not None
    assert (store.revision().number, last.reasons) == (0, ("router pe1: no",))


def test_a_decision_is_written_once(store: Store) -> None:
    store.begin(record())
    store.decide("one", Decision.ABORTED, ())
    assert store.decide("one", Decision.COMMITTED, ()) is Decision.ABORTED
    assert store.revision().number == 0


def test_one_transaction_is_open_at_a_time(store: Store) -> None:
    store.begin(record())
    store.decide("one", Decision.COMMITTED, ())
    store.settle("one", "pe1")
    with pytest.raises(BusyError):
        store.begin(record(2, "two"))
    store.settle("one", "pe2")
    with pytest.raises(BusyError):
        store.begin(record(1, "two"))
    store.begin(record(2, "two"))


def test_a_revision_that_does_not_exist_is_reported(store: Store) -> None:
    with pytest.raises(StoreError, match="revision 7"):
        store.revision(7)


def test_one_controller_leads(tmp_path: Path) -> None:
    one, other = SqliteStore(tmp_path / "net"), SqliteStore(tmp_path / "net")
    with one.lead(), pytest.raises(BusyError, match="another srv6net"), other.lead():
        pass
    with other.lead():
        pass


def test_nobody_else_reads_the_file(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "net").close()
    assert (tmp_path / "net").stat().st_mode & 0o77 == 0


def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "net").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match="not a database; nothing was written"):
        SqliteStore(tmp_path / "net")
    assert (tmp_path / "net").read_bytes().startswith(b"no database")


def test_a_file_of_a_newer_version_is_an_error(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "net") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match="it has version 99"):
        SqliteStore(tmp_path / "net")


def test_what_was_written_outlives_a_killed_controller(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from srv6net.store.sqlite import SqliteStore\n"
        "from srv6net.transaction.record import Decision\n"
        "from tests.unit.srv6net.test_store import record\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "store.begin(record()); store.decide('one', Decision.COMMITTED, ())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "net")], check=False)
    assert done.returncode == -signal.SIGKILL
    store = SqliteStore(tmp_path / "net")
    assert store.revision().number == 1
    store.close()


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "srv6net" / "network.sqlite").close()
    assert (tmp_path / "srv6net").stat().st_mode & 0o777 == 0o700
