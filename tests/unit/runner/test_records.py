"""Durations on disk, and what is made of them."""

from __future__ import annotations

from pathlib import Path

from tests.runner import records, report
from tests.runner.process import CpuTimes
from tests.runner.records import Record

USED = CpuTimes(60.0, 40.0, 0.0)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    one = Record("test", "a::b", 1.5, "failed", "why\nnot", setup=0.25)
    records.append(file, one)
    records.append(file, Record("boot", "kernel", 0.5))
    with file.open("a") as out:
        out.write('{"kind": "te')
    found = list(records.read(file, "robot/x"))
    assert [r.id for r in found] == ["a::b", "kernel"]
    assert found[0].text == "why\nnot"
    assert found[0].total == 1.75
    assert found[0].job == "robot/x"
    assert list(records.read(tmp_path / "none")) == []


def test_logs_that_were_written_of_late_are_shown(tmp_path: Path) -> None:
    (tmp_path / "pe1").mkdir()
    (tmp_path / "pe1/frr.log").write_text("".join(f"line {n}\n" for n in range(100)))
    (tmp_path / "pe1/old.log").write_text("long ago\n")
    old = tmp_path / "pe1/old.log"
    records.os.utime(old, (1, 1))
    shown = records.log_tails(tmp_path)
    assert shown.splitlines()[0] == "-- pe1/frr.log"
    assert shown.splitlines()[-1] == "line 99"
    assert "long ago" not in shown


def test_a_test_skipped_on_one_kernel_and_run_on_another_counts_once() -> None:
    found = [
        Record("test", "a", 1, "skipped", "no VRF"),
        Record("test", "a", 1),
        Record("test", "b", 1),
        Record("test", "c", 1, "skipped", "no FRR"),
        Record("job", "contract/x", 3),
    ]
    text = report.ending(found, 61, USED)
    assert text.splitlines()[-1] == "2 passed, 0 failed, 1 skipped"
    assert "skipped: no FRR\n        c" in text
    assert "no VRF" not in text
    assert "1:01; CPUs: 60% computing, 40% waiting" in text


def test_a_failure_names_its_last_lines_and_the_command_that_runs_it_alone() -> None:
    found = [
        Record("test", "tests/unit/x.py::y", 1, "failed", "E   assert 1 == 2", "unit/unit"),
        Record("job", "unit/unit", 2, "failed", "", "unit/unit"),
        Record("job", "check/mypy", 2, "failed", "x.py:1: error", "check/mypy"),
    ]
    left = "tests/robot/vpn.robot::leaves the network as it was"
    found.append(Record("suite", left, 0, "failed", "left: x", "robot/vpn"))
    text = report.ending(found, 5, USED)
    assert "left: x\n        again: make robot SUITE=vpn" in text
    assert "E   assert 1 == 2\n        again: make one TEST='tests/unit/x.py::y'" in text
    assert "x.py:1: error\n        again: make job JOB=check/mypy" in text
    assert text.splitlines()[-1] == "0 passed, 3 failed"
    assert report.brief(found[:1]) == "tests/unit/x.py::y: assert 1 == 2"
