"""State of the node as a whole."""

import json
from dataclasses import replace

import pytest

from srv6mgrd.counters.node import (
    ABSENT,
    CAPABILITIES,
    STATISTICS,
    STORAGE,
    TRANSACTIONS,
    NodeReader,
    NodeWriter,
    beside,
    capabilities,
)
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.capabilities import EVERYTHING, FrrCapabilities
from srv6mgrd.storage import Problems


@pytest.fixture
def path(tmp_path):
    return beside(tmp_path / "store")


def test_a_reader_sees_what_was_written_last(path):
    reader = NodeReader(path)
    assert reader.version() == ABSENT
    assert reader.read().members == {}
    writer = NodeWriter(path, now=5)
    writer.set_capabilities(EVERYTHING, FrrCapabilities())
    first = reader.read()
    assert set(first.members) == {CAPABILITIES, STATISTICS}
    assert reader.read() is first
    writer.statistics.drifted(1, 1, 1_700_000_000_000_000_000)
    writer.write()
    assert reader.version() != first.version
    statistics = reader.read().members[STATISTICS]
    assert (statistics["drifts"], statistics["compares"]) == ("1", "1")
    assert statistics["last-drift"].startswith("2023-11-14T22:13:20")


def test_statistics_go_on_after_a_restart(path):
    writer = NodeWriter(path, now=5)
    writer.statistics.commits = 7
    writer.write()
    again = NodeWriter(path, now=99)
    assert (again.statistics.commits, again.statistics.since) == (7, 5)


def test_a_restart_takes_nothing_away_from_readers(path):
    writer = NodeWriter(path, now=5)
    writer.set_capabilities(EVERYTHING, FrrCapabilities(version="10.5"))
    writer.show(TRANSACTIONS, {"transaction": [{"id": "1"}]})
    before = NodeReader(path).read().members

    again = NodeWriter(path, now=99)
    again.set_capabilities(EVERYTHING, FrrCapabilities())
    again.write()
    assert NodeReader(path).read().members == before

    # What it says itself takes the place of what was said.
    again.show(TRANSACTIONS, {})
    assert NodeReader(path).read().members == {**before, TRANSACTIONS: {}}
    again.set_capabilities(EVERYTHING, FrrCapabilities(version="10.6"))
    assert NodeReader(path).read().members[CAPABILITIES]["frr"] == "10.6"


def test_problems_with_files_are_those_of_now(path):
    problems = Problems()
    problems.report("journal", "no space left; make room")
    writer = NodeWriter(path, now=5, problems=problems)
    writer.write()
    assert STORAGE in NodeReader(path).read().members

    NodeWriter(path, now=99).write()
    assert STORAGE not in NodeReader(path).read().members


@pytest.mark.parametrize("content", ["", "{", '{"@statistics": {"commits": 1}}', "[]"])
def test_a_damaged_file_is_begun_anew(path, content):
    path.write_text(content)
    assert NodeWriter(path, now=99).statistics.since == 99


def test_a_damaged_file_is_no_state(path):
    path.write_text(json.dumps({})[:1])
    assert NodeReader(path).read().members == {}


def test_capabilities_name_what_is_missing():
    lacking = replace(
        EVERYTHING,
        behaviors=frozenset({Behavior.END}),
        flavors=frozenset(),
        missing={"End.T": "the kernel refused it"},
        kernel="6.1",
    )
    reported = capabilities(
        lacking, FrrCapabilities("10.5", frozenset({"frr-locator"}), {"frr-export-sid": "no"})
    )
    assert reported["behavior"] == ["srv6mgr-srv6:End"]
    assert "flavor" not in reported
    assert reported["missing"] == [
        {"name": "End.T", "reason": "the kernel refused it"},
        {"name": "frr-export-sid", "reason": "no"},
    ]
    assert "frr-locator" in reported["facility"]
    assert "vrf" in reported["facility"]
    assert (reported["kernel"], reported["frr"]) == ("6.1", "10.5")
