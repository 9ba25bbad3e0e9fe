"""The first start of a release migrates what the last one wrote, once."""

import json
import sqlite3

import pytest

from srv6mgrd.datastore.history import History, Origin, Pending, Status, packed
from srv6mgrd.datastore.migration import CURRENT
from srv6mgrd.datastore.upgrade import upgrade
from srv6mgrd.storage import Problems

TOP = "srv6mgr-srv6:srv6"
OLD = json.dumps({TOP: {"vrfs": {"vrf": [{"name": "red", "table-id": 10}]}}})


class Held:
    def __init__(self, text):
        self.text = text

    def convert(self, convert):
        before, self.text = self.text, convert(self.text)
        return self.text != before

    @property
    def default_role(self):
        return json.loads(self.text).get(TOP, {}).get("boundary", {}).get("default-role")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "revision"


def first_start(file, *holders, seen):
    return upgrade(file, *holders, seen=seen, problems=Problems())


def test_after_an_upgrade_undeclared_interfaces_stay_core(file):
    held = Held(OLD)

    assert first_start(file, held, seen=True)

    assert held.default_role == "core"
    assert file.read_text().strip() == CURRENT


def test_a_new_node_is_closed(file):
    held = Held(OLD)

    assert not first_start(file, held, seen=False)

    assert held.text == OLD


def test_it_is_done_once(file):
    first_start(file, Held(OLD), seen=True)
    held = Held(OLD)

    assert not first_start(file, held, seen=True)

    assert held.text == OLD


def test_nothing_declared_is_nothing_to_migrate(file):
    held = Held("{}")

    assert not first_start(file, held, seen=True)

    assert held.text == "{}"


def test_an_older_release_leaves_the_file_of_a_newer_one(file):
    file.write_text("2099-01-01\n")

    assert not first_start(file, Held(OLD), seen=True)

    assert file.read_text() == "2099-01-01\n"


def test_a_file_that_can_not_be_written_is_reported_and_what_is_held_is_migrated(tmp_path):
    held, problems = Held(OLD), Problems()

    upgrade(tmp_path / "absent" / "revision", held, seen=True, problems=problems)

    assert held.default_role == "core"
    assert "revision" in problems.listed()


def test_a_rollback_after_the_upgrade_leads_to_the_same_roles(tmp_path, file):
    history = History(tmp_path / "history.sqlite")
    history.record(1, Origin("gnmi"), 1, Status.DONE, packed(OLD))
    history.record(2, Origin("gnmi"), 1, Status.AWAITING, packed(OLD))
    history.pend(Pending.of(Origin("gnmi", "", "token"), 10, 10, OLD)).result()

    assert first_start(file, history, seen=True)
    history.close()

    again = History(tmp_path / "history.sqlite")
    texts = [again.configuration(n).result() for n in (1, 2)] + [again.pending.before]
    assert [Held(text).default_role for text in texts] == ["core"] * 3
    assert [t.status for t in again.transactions()] == [Status.AWAITING, Status.DONE]


class Failing:
    def convert(self, _):
        raise RuntimeError("sysrepo is locked")


def test_a_start_that_failed_is_made_good_by_the_next(file):
    with pytest.raises(RuntimeError):
        first_start(file, Failing(), seen=True)
    held = Held(OLD)

    # The history is in the present format by now.
    assert first_start(file, held, seen=False)

    assert held.default_role == "core"


def test_a_lost_file_does_not_open_the_boundary(tmp_path):
    history = History(tmp_path / "history.sqlite")
    history.record(1, Origin("gnmi"), 1, Status.DONE, packed(OLD))
    history.close()

    assert not History(tmp_path / "history.sqlite").of_older_release


def test_the_history_of_an_older_release_is_known_once(tmp_path):
    path = tmp_path / "history.sqlite"
    history = History(path)
    history.record(1, Origin("gnmi"), 1, Status.DONE, packed(OLD))
    history.close()
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 0")

    again = History(path)
    assert again.of_older_release
    again.close()
    assert not History(path).of_older_release
