"""Processes that die, stop, or have no descriptors left."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from dataclasses import dataclass

from lab.problem import LabError
from tests.soak.chaos.target import FRR, MANAGEMENT, Target

# Seconds that a process is stopped; BGP's hold time of the profile datacenter is 9 s.
STOPPED = (0.5, 3.0)
DESCRIPTORS = 1_048_576


class Nothing:
    """The control: without a fault every change is accepted."""

    name = "nothing"
    spares = True
    rejects = False

    def strike(self, target: Target, rng: random.Random) -> None:
        """No fault."""

    def heal(self, target: Target) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL."""

    name: str
    processes: tuple[str, ...]
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        for process in self.processes:
            with contextlib.suppress(LabError):
                target.router.kill(process)

    def heal(self, target: Target) -> None:
        """Started again by others."""


@dataclass(frozen=True, slots=True)
class Stop:
    """SIGSTOP, and SIGCONT a while later."""

    name: str
    processes: tuple[str, ...]
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        pids = [pid for pid in map(target.pid, self.processes) if pid]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(rng.uniform(*STOPPED))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def heal(self, target: Target) -> None:
        """It went on already."""


@dataclass(frozen=True, slots=True)
class NoDescriptors:
    """A process may open nothing more."""

    name: str
    process: str
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        if pid := target.pid(self.process):
            count = len(os.listdir(f"/proc/{pid}/fd"))
            target.shell(f"prlimit --pid {self._inner(pid)} --nofile={count}:{DESCRIPTORS}")
            time.sleep(rng.uniform(*STOPPED))

    def heal(self, target: Target) -> None:
        if pid := target.pid(self.process):
            target.shell(f"prlimit --pid {self._inner(pid)} --nofile=65536:{DESCRIPTORS}")

    @staticmethod
    def _inner(pid: int) -> int:
        with open(f"/proc/{pid}/status") as status:
            (line,) = (line for line in status if line.startswith("NSpid:"))
        return int(line.split()[-1])


class Reboot:
    name = "reboot"
    spares = False
    rejects = True

    def strike(self, target: Target, rng: random.Random) -> None:
        target.reboot()

    def heal(self, target: Target) -> None:
        """Started again by others."""


FAULTS = (
    *(Kill(f"kill {name}", (name,)) for name in (*MANAGEMENT, "redis", "sshd")),
    Kill("kill all management", (*MANAGEMENT, "redis")),
    *(Kill(f"kill {name}", (name,), spares=False) for name in FRR),
    *(Stop(f"stop {name}", (name,)) for name in (*MANAGEMENT, "redis", *FRR)),
    *(NoDescriptors(f"no descriptors for {name}", name) for name in MANAGEMENT),
    Reboot(),
)
