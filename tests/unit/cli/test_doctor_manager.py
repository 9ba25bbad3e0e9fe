"""What doctor says of the process that holds srv6mgrd's lock."""

import contextlib

import pytest

from srv6mgrd.cli.doctor.finding import Level
from srv6mgrd.cli.doctor.services import srv6mgrd
from srv6mgrd.cli.session import Session
from srv6mgrd.counters.store_writer import StoreWriter
from srv6mgrd.settings import Settings
from srv6mgrd.single_instance import Holder


class Client:
    def __init__(self, answers):
        self._answers = answers

    def answers(self, seconds):
        return self._answers


@pytest.mark.parametrize(
    ("holder", "answers", "expected"),
    [
        (Holder(7, "srv6mgrd", False), True, (Level.OK, "process 7, and answers")),
        (Holder(7, "srv6mgrd", False), False, (Level.WARN, "process 7 does not answer")),
        (Holder(7, "srv6mgrd", True), False, (Level.FAIL, "process 7 is stopped")),
        (Holder(7, "sleep 99", False), True, (Level.FAIL, "(sleep 99) holds the lock")),
    ],
)
def test_the_process_that_holds_the_lock_is_judged(
    tmp_path, monkeypatch, holder, answers, expected
):
    @contextlib.contextmanager
    def opened(_):
        yield Client(answers)

    monkeypatch.setattr("srv6mgrd.single_instance.holder", lambda: holder)
    monkeypatch.setattr(Session, "client", opened)
    StoreWriter(tmp_path / "store").close()
    found = [*srv6mgrd(Session(Settings(runtime_directory=str(tmp_path))))]
    level, words = expected
    assert found[0].level is level
    assert words in found[0].message


def test_a_stopped_srv6mgrd_is_not_waited_for(ctl, monkeypatch):
    monkeypatch.setattr(
        "srv6mgrd.single_instance.holder", lambda: Holder(7, "srv6mgrd", is_stopped=True)
    )
    ran = ctl.run("reconcile")
    assert "srv6mgrd: process 7 is stopped" in ran.err
    assert "kill -CONT 7" in ran.err
