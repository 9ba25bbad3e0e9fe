"""Decides which job starts next: the one with the longest path behind it that the CPUs have room
for (longest processing time first)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.runner.job import Job


class Schedule:
    """State of one run. Call ``start`` for what ``ready`` returned, ``end`` when a job ended."""

    def __init__(self, jobs: Iterable[Job], cpus: int) -> None:
        self._waiting = {job.name: job for job in jobs}
        self._known = frozenset(self._waiting)
        self._capacity = float(cpus)
        self._running: dict[str, Job] = {}
        self._passed: set[str] = set()
        self._failed: set[str] = set()
        self._path = _longest_paths(self._waiting)

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(self._running.values())

    @property
    def is_over(self) -> bool:
        return not self._waiting and not self._running

    def ready(self) -> Job | None:
        """The next job to start now, or None until another one ends."""
        load = sum(job.load for job in self._running.values())
        candidates = [job for job in self._waiting.values() if self._may_start(job)]
        candidates.sort(key=lambda job: (-self._path[job.name], job.name))
        for job in candidates:
            if not self._running or load + job.load <= self._capacity + 0.01:
                return job
        return None

    def start(self, job: Job) -> None:
        del self._waiting[job.name]
        self._running[job.name] = job

    def end(self, job: Job, passed: bool) -> None:
        del self._running[job.name]
        (self._passed if passed else self._failed).add(job.name)

    def blocked(self) -> list[tuple[Job, str]]:
        """Take out the jobs that can never start, each with the failed job that it needs."""
        found: list[tuple[Job, str]] = []
        while True:
            hit = [
                (job, need)
                for job in self._waiting.values()
                for need in job.after
                if need in self._failed
            ]
            if not hit:
                return found
            for job, need in hit:
                if self._waiting.pop(job.name, None):
                    self._failed.add(job.name)
                    found.append((job, need))

    def _may_start(self, job: Job) -> bool:
        ended = self._passed | self._failed
        return all(need in self._passed for need in job.after if need in self._known) and all(
            other in ended for other in job.follows if other in self._known
        )


def _longest_paths(jobs: Mapping[str, Job]) -> dict[str, float]:
    """Seconds from the start of each job to the end of the longest chain that depends on it."""
    dependents: dict[str, list[str]] = {name: [] for name in jobs}
    for job in jobs.values():
        for need in (*job.after, *job.follows):
            if need in dependents:
                dependents[need].append(job.name)
    found: dict[str, float] = {}

    def path(name: str) -> float:
        if name not in found:
            behind = max((path(other) for other in dependents[name]), default=0.0)
            found[name] = jobs[name].seconds + behind
        return found[name]

    for name in jobs:
        path(name)
    return found
