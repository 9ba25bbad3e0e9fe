"""A failed job runs once more, alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.runner import catalogue, process, report, run, second_try
from tests.runner.job import Job
from tests.runner.records import Record


def failed_job(name: str, text: str = "") -> Record:
    return Record("job", name, 5.0, "failed", text, name)


def test_failed_jobs_run_again_without_what_they_waited_for() -> None:
    jobs = [Job("build/lab", ("true",)), Job("robot/vpn", ("false",), after=("build/lab",))]
    (again,) = second_try.jobs(jobs, [failed_job("robot/vpn")])
    assert (again.name, again.after) == ("robot/vpn", ())


@pytest.mark.parametrize(
    "found",
    [
        [failed_job("check/mypy")],
        [Record("job", "robot/vpn", 0, "failed", "not run: it needs build/lab", "robot/vpn")],
        [failed_job(f"robot/{n}") for n in range(second_try.MOST + 1)],
    ],
    ids=["a check", "a job that never ran", "most jobs"],
)
def test_what_is_no_accident_fails_at_once(found: list[Record]) -> None:
    jobs = [Job(record.id, ("false",)) for record in found]
    assert second_try.jobs(jobs, found) == []


def test_what_fails_twice_has_failed_and_what_passes_alone_is_unsteady() -> None:
    job = Job("robot/vpn", ("true",))
    first = [
        Record("test", "vpn::a", 1, "failed", "late", job.name),
        Record("test", "vpn::b", 1, "failed", "wrong", job.name),
        failed_job(job.name),
        Record("test", "other::c", 1, job="robot/other"),
    ]
    second = [
        Record("test", "vpn::a", 1, job=job.name),
        Record("test", "vpn::b", 1, "failed", "wrong", job.name),
        failed_job(job.name),
    ]
    merged = second_try.merged(job, first, second)
    assert [r.id for r in merged if r.outcome == "failed"] == ["vpn::b", job.name]
    assert [(r.id, r.text) for r in merged if r.outcome == "unsteady"] == [("vpn::a", "late")]
    end = report.ending(merged, 1.0, process.CpuTimes(1, 1, 0))
    assert "UNSTEADY  vpn::a  (robot/vpn)" in end
    assert end.endswith("2 passed, 1 failed")


@pytest.mark.parametrize("recovers", [True, False])
def test_a_run_ends_with_the_outcome_of_the_second_try(
    recovers: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(catalogue, "OUT", tmp_path / "out")
    monkeypatch.setattr(run, "DURATIONS", tmp_path / "durations.jsonl")
    there = tmp_path / "there"
    code = f"import pathlib, sys; p = pathlib.Path({str(there)!r}); ok = p.exists(); p.touch(); "
    code += f"sys.exit(0 if ok and {recovers} else 1)"
    jobs = [
        Job("robot/a", (sys.executable, "-c", code)),
        Job("robot/b", (sys.executable, "-c", "pass")),
    ]
    assert run.Run(jobs).go() == (0 if recovers else 1)
    said = capsys.readouterr().out
    assert "again robot/a, alone" in said
    assert ("UNSTEADY  robot/a" in said) == recovers
    assert (tmp_path / "out/robot-a.first/output.log").exists()
