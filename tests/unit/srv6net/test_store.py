"""SQLite's file keeps the contract of a store, and so does the one in memory."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from srv6net.store.sqlite import SqliteStore
from srv6net.transaction.ports import BusyError, Store, StoreError
from tests.fakes.network import FakeStore
from tests.unit.srv6net.store_contract import StoreContract


class TestFake(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return FakeStore()


class TestSqlite(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        made = SqliteStore(tmp_path / "net.sqlite")
        yield made
        made.close()


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
        "from tests.unit.srv6net.store_contract import record\n"
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
