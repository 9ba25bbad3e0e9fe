"""The processes of one job: start, deadline, end, and the CPU time they took."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.runner import records
from tests.runner.job import Job

# Between SIGTERM and SIGKILL of a job that is over its deadline.
GRACE = 15.0


@dataclass(frozen=True, slots=True)
class Ended:
    """``cpu``: seconds of CPU of all its processes; ``seconds``: wall time."""

    status: int
    seconds: float
    cpu: float
    is_late: bool


class Process:
    """A running job. Its output goes to ``log``, or to the terminal where that is None."""

    def __init__(self, job: Job, log: Path | None, folder: Path) -> None:
        self.job = job
        self.log = log
        self.records = folder / "records.jsonl"
        self.records.unlink(missing_ok=True)
        self._started = time.monotonic()
        self._is_late = False
        environment = {**os.environ, records.VARIABLE: str(self.records), **job.env}
        with contextlib.ExitStack() as stack:
            out = stack.enter_context(log.open("wb")) if log else None
            self._child = subprocess.Popen(
                job.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment,
                start_new_session=log is not None,
            )  # fmt: skip
        self._pidfd = os.pidfd_open(self._child.pid)

    def fileno(self) -> int:
        """Readable when the process has ended."""
        return self._pidfd

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def check_deadline(self) -> None:
        """End the job when it is late."""
        if self.seconds > self.job.limit + GRACE:
            self._signal(signal.SIGKILL)
        elif self.seconds > self.job.limit and not self._is_late:
            self._is_late = True
            self._signal(signal.SIGTERM)

    def end(self) -> None:
        """End it at once, whatever it does, and wait for that."""
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(GRACE)
        self._signal(signal.SIGKILL)
        self._child.wait()
        os.close(self._pidfd)

    def reap(self) -> Ended:
        """To be called when ``fileno`` is readable."""
        _, status, usage = os.wait4(self._child.pid, 0)
        self._child.returncode = os.waitstatus_to_exitcode(status)
        os.close(self._pidfd)
        cpu = usage.ru_utime + usage.ru_stime
        return Ended(self._child.returncode, self.seconds, cpu, self._is_late)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.log is None:
                self._child.send_signal(number)
            else:
                os.killpg(self._child.pid, number)


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Seconds of all CPUs since boot (proc_stat(5))."""

    busy: float
    waiting: float
    stolen: float

    def __sub__(self, other: CpuTimes) -> CpuTimes:
        return CpuTimes(
            self.busy - other.busy, self.waiting - other.waiting, self.stolen - other.stolen
        )


def cpu_times() -> CpuTimes:
    user, nice, system, idle, iowait, irq, softirq, steal = (
        int(field) / os.sysconf("SC_CLK_TCK")
        for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return CpuTimes(user + nice + system + irq + softirq, idle + iowait, steal)
