"""What doctor says of the files in which srv6mgrd keeps its state."""

import pytest

from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.doctor.services import storage
from srv6mgrd.cli.session import Session
from srv6mgrd.counters.node import NodeWriter, beside
from srv6mgrd.settings import Settings
from srv6mgrd.storage import Problems


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setattr("srv6mgrd.single_instance.is_managed", lambda: True)
    return Session(Settings(runtime_directory=str(tmp_path), state_directory=str(tmp_path)))


def test_a_file_that_can_t_be_written_is_a_failure(session, tmp_path):
    problems = Problems()
    NodeWriter(beside(tmp_path / "store"), 0, problems)
    problems.report("history.sqlite", "it can't be written; make room")
    (finding,) = storage(session)
    assert finding.level is Level.FAIL
    assert finding.message == "history.sqlite: it can't be written"
    assert finding.remedy == "make room"
    problems.resolve("history.sqlite")
    assert [f.level for f in storage(session)] == [Level.OK]


def test_a_file_that_was_set_aside_is_a_warning_until_it_is_deleted(session, tmp_path):
    aside = tmp_path / "history.damaged"
    aside.write_text("")
    (finding,) = storage(session)
    assert finding.level is Level.WARN
    assert str(aside) in finding.remedy
    aside.unlink()
    assert [f.level for f in storage(session)] == [Level.OK]
