"""Runs jobs side by side until all have ended, and reports."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.runner import catalogue, process, records, report, second_try
from tests.runner.job import Job
from tests.runner.process import Ended, Process
from tests.runner.records import Record
from tests.runner.schedule import Schedule

BUILD = catalogue.CHECKOUT / "build"
DURATIONS = BUILD / "durations.jsonl"
# Of pytest and Robot Framework; of the lab.
_RECORDS = ("records.jsonl", "boot.jsonl")
# So often the jobs that run are named, where nothing else is said meanwhile.
REMINDER = 30.0


class Run:
    """One call of the runner; ``go`` returns its exit status."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        work = [job for job in jobs if job.stage != "build"]
        # One job alone has the terminal.
        self._has_terminal = work[0] if len(work) == 1 else None
        self._is_shared = len(work) > 1
        self._schedule = Schedule(jobs, len(os.sched_getaffinity(0)))
        self._processes: list[Process] = []
        self._records: list[Record] = []
        self._ended = 0
        self._said = time.monotonic()

    def go(self) -> int:
        before, started = process.cpu_times(), time.monotonic()
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        try:
            self._until_over()
            for job in second_try.jobs(self._jobs, self._records) if self._is_shared else ():
                self._once_more(job)
        finally:
            for running in self._processes:
                running.end()
        seconds = time.monotonic() - started
        used = process.cpu_times() - before
        self._records.append(Record("run", " ".join(_stages(self._jobs)), seconds, cpu=used.busy))
        self._keep_durations()
        print(report.ending(self._records, seconds, used), flush=True)
        return 1 if any(r.outcome == "failed" for r in self._records) else 0

    def _until_over(self) -> None:
        while not self._schedule.is_over:
            self._start_ready()
            self._wait()

    def _once_more(self, job: Job) -> None:
        """With the machine to itself; what the first try wrote is kept beside."""
        self._say(f"  again {job.name}, alone")
        folder = catalogue.folder(job)
        kept = folder.with_name(f"{folder.name}.first")
        shutil.rmtree(kept, ignore_errors=True)
        folder.rename(kept)
        first, self._records = self._records, []
        self._schedule = Schedule([job], 1)
        self._ended -= 1
        self._until_over()
        self._records = second_try.merged(job, first, self._records)

    def _keep_durations(self) -> None:
        """Other jobs keep those of an earlier run."""
        again = {"", *(job.name for job in self._jobs)}
        earlier = [r for r in records.read(DURATIONS) if r.job not in again]
        records.write(DURATIONS, [*earlier, *self._records])

    def _start_ready(self) -> None:
        for job, need in self._schedule.blocked():
            text = f"not run: it needs {need}, which failed"
            self._take([Record("job", job.name, 0, "failed", text, job.name)])
            self._say(f"  FAIL  {job.name}: {text}")
        while following := self._schedule.ready():
            self._schedule.start(following)
            is_build = following.stage == "build" and sys.stderr.isatty()
            shows = is_build or following is self._has_terminal
            self._processes.append(_started(following, shows))

    def _wait(self) -> None:
        if not self._processes:
            return
        ready, _, _ = select.select(self._processes, [], [], 1.0)
        for running in ready:
            self._processes.remove(running)
            self._end(running, running.reap())
        for running in self._processes:
            running.check_deadline()
        if self._has_terminal is None and time.monotonic() - self._said > REMINDER:
            names = ", ".join(f"{p.job.name} {p.seconds:.0f} s" for p in self._processes)
            self._say(f"        running: {names}")

    def _end(self, running: Process, ended: Ended) -> None:
        job = running.job
        folder = catalogue.folder(job)
        found = [r for f in _RECORDS for r in records.read(folder / f, job.name)]
        passed = ended.status == 0 and not any(r.outcome == "failed" for r in found)
        text = ""
        if not passed and not any(r.outcome == "failed" for r in found):
            text = _why(running, ended)
        verdict = "passed" if passed else "failed"
        whole = Record("job", job.name, ended.seconds, verdict, text, job.name, cpu=ended.cpu)
        found.append(whole)
        self._take(found)
        self._schedule.end(job, passed)
        self._ended += 1
        tests = sum(r.kind == "test" and r.outcome == "passed" for r in found)
        count = f", {tests} tests" if tests else ""
        mark = "pass" if passed else "FAIL"
        place = f"[{self._ended}/{len(self._jobs)}]"
        self._say(f"  {mark}  {job.name} ({ended.seconds:.0f} s{count}) {place}")
        if not passed:
            self._say(report.indented(report.brief(found)))

    def _take(self, found: Sequence[Record]) -> None:
        self._records += found

    def _say(self, text: str) -> None:
        print(text, flush=True)
        self._said = time.monotonic()


def _started(job: Job, shows: bool) -> Process:
    folder = catalogue.folder(job)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Process(job, None if shows else folder / "output.log", folder)


def _why(running: Process, ended: Ended) -> str:
    if ended.is_late:
        cause = f"did not end within {running.job.limit:.0f} s"
    else:
        cause = f"ended with status {ended.status}"
    said = _tail(running.log)
    return f"{cause}\n{said}" if said else cause


def _tail(log: Path | None) -> str:
    if log is None:
        return ""
    return records.last_lines(log.read_text(errors="replace"), records.FAILURE_LINES)


def _stages(jobs: Sequence[Job]) -> list[str]:
    return list(dict.fromkeys(job.stage for job in jobs))
