"""What is ours, through crashes."""

import logging
import sqlite3
from ipaddress import IPv6Address

import pytest

from srv6mgrd.apply.journal import Journal
from srv6mgrd.kinds.encap_source.object import EncapSource
from srv6mgrd.kinds.frr_block.object import FrrBlock
from srv6mgrd.kinds.sid.object import SidRoute
from srv6mgrd.kinds.vrf_port.object import VrfPort
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.storage import Problems, StorageError
from tests.builders import net

ROUTE = SidRoute(net("fcbb:0:1:1::/64"), Behavior.END, 8986)
PORT = VrfPort("eth1", "red")
SOURCE = EncapSource(IPv6Address("fcbb:0:1::1"))


def bgp(*lines):
    return FrrBlock("bgpd", ("router bgp 65000",), lines)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "journal.sqlite"


@pytest.fixture
def journal(path):
    journal = Journal(path)
    yield journal
    journal.close()


def reopened(path):
    journal = Journal(path)
    try:
        return dict(journal.checkpoint())
    finally:
        journal.close()


def test_it_is_empty_at_first_and_makes_its_directory(path):
    assert reopened(path) == {}
    assert path.exists()


def test_what_is_intended_is_ours_before_it_is_done(journal):
    journal.intend([ROUTE, PORT])

    assert ROUTE.key in journal
    assert PORT.key in journal


def test_what_was_forgotten_is_not_ours(journal):
    journal.intend([ROUTE, PORT])
    journal.forget([ROUTE.key, "never known"])

    assert list(journal.keys) == [PORT.key]


def test_all_survives_a_crash(journal, path):
    journal.intend([ROUTE, PORT, bgp("a")])
    journal.done([ROUTE, PORT])
    journal.forget([ROUTE.key])

    assert reopened(path) == {PORT.key: ("red",), bgp().key: ("a",)}


def test_old_and_new_lines_are_ours_while_frr_is_written(journal):
    journal.intend([bgp("a", "b")])
    journal.done([bgp("a", "b")])

    journal.intend([bgp("b", "c")])

    assert journal.lines(bgp().key) == ("a", "b", "c")


def test_only_the_new_lines_are_ours_when_frr_is_written(journal, path):
    journal.intend([bgp("a", "b")])
    journal.intend([bgp("b", "c")])

    journal.done([bgp("b", "c")])

    assert journal.lines(bgp().key) == ("b", "c")
    assert reopened(path) == {bgp().key: ("b", "c")}


@pytest.mark.parametrize("lines", ["", "é", "router 'x' \"y\"", "a\\b"])
def test_lines_are_kept_to_the_letter(journal, path, lines):
    journal.intend([bgp(lines)])

    assert reopened(path) == {bgp().key: (lines,)}


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (PORT, VrfPort("eth1", "theirs")),
        (SOURCE, EncapSource(IPv6Address("fcbb:0:9::9"))),
        (bgp("a"), bgp("a", "theirs")),
    ],
)
def test_of_what_bears_no_mark_only_what_we_wrote_is_ours(journal, mine, theirs):
    journal.intend([mine])

    assert journal.owns(mine)
    assert not journal.owns(theirs)


def test_what_bears_a_mark_is_ours_by_its_key(journal):
    journal.intend([ROUTE])

    assert journal.owns(SidRoute(ROUTE.prefix, Behavior.END_DT46, 8986, 10))


def test_restore_brings_back_what_was_owned(journal, path):
    journal.intend([PORT, bgp("a")])
    before = journal.checkpoint()
    journal.intend([ROUTE, bgp("b")])
    journal.forget([PORT.key])

    journal.restore(before, but=())

    assert dict(journal.checkpoint()) == before
    assert reopened(path) == before


def test_restore_leaves_what_could_not_be_taken_back(journal):
    before = journal.checkpoint()
    journal.intend([ROUTE, PORT])

    journal.restore(before, but=[ROUTE.key])

    assert list(journal.keys) == [ROUTE.key]


def test_it_writes_only_what_changes(journal, path):
    journal.intend([ROUTE, PORT, bgp("a")])
    journal.done([ROUTE, PORT, bgp("a")])
    size = path.with_name(path.name + "-wal").stat().st_size

    journal.intend([ROUTE, PORT, bgp("a")])
    journal.done([ROUTE, PORT, bgp("a")])
    journal.forget(["never known"])

    assert path.with_name(path.name + "-wal").stat().st_size == size


GARBAGE = {
    "not a database": lambda content: b"x" * len(content),
    "a garbled page": lambda content: content[:100] + b"\xff" * 8000 + content[8100:],
    "cut in the middle": lambda content: content[: len(content) // 2 + 7],
    "a header alone": lambda content: content[:100],
}


@pytest.mark.parametrize("damage", GARBAGE)
def test_a_damaged_file_is_set_aside_and_nothing_is_ours(path, damage, caplog):
    journal = Journal(path)
    journal.intend([bgp(*(f"line {i}" for i in range(2000))), ROUTE])
    journal.close()
    damaged = GARBAGE[damage](path.read_bytes())
    path.write_bytes(damaged)

    with caplog.at_level(logging.ERROR):
        assert reopened(path) == {}

    assert path.with_suffix(".damaged").read_bytes() == damaged
    assert "was set aside" in caplog.text
    assert reopened(path) == {}


def test_a_damaged_file_is_replaced_by_one_that_works(path):
    path.parent.mkdir()
    path.write_bytes(b"x" * 5000)

    journal = Journal(path)
    journal.intend([ROUTE])
    journal.close()

    assert list(reopened(path)) == [ROUTE.key]


def test_a_row_that_makes_no_sense_is_damage(path):
    journal = Journal(path)
    journal._database._db.execute("insert into owned values ('frr bgpd x', '[\"half')")
    journal.close()

    assert reopened(path) == {}


def test_an_empty_file_is_an_empty_journal(path):
    path.parent.mkdir()
    path.touch()

    assert reopened(path) == {}
    assert not path.with_suffix(".damaged").exists()


def test_a_write_that_was_cut_off_is_not_there(path):
    journal = Journal(path)
    journal.intend([ROUTE])
    journal.intend([PORT])
    wal = path.with_name(path.name + "-wal")
    copy = path.with_name("copy.sqlite")
    copy.write_bytes(path.read_bytes())
    copy.with_name(copy.name + "-wal").write_bytes(wal.read_bytes()[:-50])
    journal.close()

    assert list(reopened(copy)) == [ROUTE.key]


def test_a_file_that_cant_be_opened_is_not_taken_for_a_damaged_one(path):
    path.mkdir(parents=True)

    journal = Journal(path)

    with pytest.raises(StorageError, match="unable to open database file"):
        journal.intend([ROUTE])
    assert path.is_dir()
    path.rmdir()
    journal.intend([ROUTE])
    journal.close()
    assert list(reopened(path)) == [ROUTE.key]


def test_what_is_adopted_is_known_before_it_can_be_written(path):
    path.mkdir(parents=True)
    journal = Journal(path)

    with pytest.raises(StorageError, match="it is a folder; remove it"):
        journal.adopt([ROUTE, PORT])

    assert journal.owns(PORT)
    journal.intend([ROUTE])
    with pytest.raises(StorageError):
        journal.intend([bgp("a")])
    path.rmdir()
    journal.adopt([])
    journal.close()
    assert reopened(path) == {ROUTE.key: (), PORT.key: ("red",)}


def test_without_a_path_it_lives_in_memory():
    journal = Journal(None)
    journal.intend([ROUTE])

    assert ROUTE.key in journal


def test_a_full_disk_changes_nothing_and_is_no_end(path):
    made = []

    def small(*args, **kwargs):
        made.append(sqlite3.connect(*args, **kwargs))
        return made[-1]

    journal = Journal(path, small)
    journal.intend([ROUTE])
    pages = made[0].execute("pragma page_count").fetchone()[0]
    made[0].execute(f"pragma max_page_count = {pages}")
    many = [VrfPort(f"eth{i}" * 20, "red") for i in range(1000)]

    with pytest.raises(StorageError, match="database or disk is full"):
        journal.intend(many)

    assert list(journal.keys) == [ROUTE.key]
    assert list(reopened(path)) == [ROUTE.key]
    with pytest.raises(StorageError, match="database or disk is full"):
        journal.adopt(many[:500])
    assert journal.owns(many[0])
    made[0].execute("pragma max_page_count = 1000000")
    journal.intend(many)
    assert len(reopened(path)) == 1001
    journal.close()


def test_a_directory_that_can_not_be_made_is_said(tmp_path):
    (tmp_path / "state").write_text("")
    problems = Problems()
    journal = Journal(tmp_path / "state" / "journal.sqlite", problems=problems)

    with pytest.raises(StorageError, match="writable, with room"):
        journal.intend([ROUTE])

    assert "can't be written" in problems.listed()["journal.sqlite"][0]


def test_damage_found_while_running_loses_nothing(path, journal):
    """What is ours is known in memory: the file is begun again with all of it."""
    journal.intend([ROUTE])
    journal._database._db.execute("pragma wal_checkpoint(truncate)")
    journal._database._db.execute("drop table owned")

    with pytest.raises(StorageError, match="created again"):
        journal.intend([PORT])
    journal.intend([PORT])

    assert dict(reopened(path)) == {ROUTE.key: (), PORT.key: ("red",)}
