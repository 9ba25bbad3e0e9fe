"""A failed job runs once more with the machine to itself, so that a bound that other jobs made it
miss fails no run. What passes only then is reported as unsteady, never passed over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tests.runner.job import Job
from tests.runner.records import Record

# More failed jobs than these are no accident.
MOST = 5
_STAGES = ("unit", "contract", "robot")


def jobs(all_of_run: Iterable[Job], found: Sequence[Record]) -> list[Job]:
    """The jobs to run once more, each without what it waited for."""
    failed = {r.job for r in found if r.outcome == "failed" and r.kind == "job" and r.seconds}
    if len(failed) > MOST:
        return []
    return [
        replace(job, after=(), follows=())
        for job in all_of_run
        if job.name in failed and job.stage in _STAGES
    ]


def merged(job: Job, first: Sequence[Record], second: Sequence[Record]) -> list[Record]:
    """The records of a whole run, those of ``job`` from its second try; with each failure of the
    first that did not come again."""
    still = {(r.kind, r.id) for r in second if r.outcome == "failed"}
    unsteady = [
        replace(r, outcome="unsteady")
        for r in first
        if r.job == job.name
        and r.outcome == "failed"
        and (r.kind != "job" or r.text)
        and (r.kind, r.id) not in still
    ]
    return [*(r for r in first if r.job != job.name), *second, *unsteady]
