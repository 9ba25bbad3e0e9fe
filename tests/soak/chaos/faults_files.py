"""Full disks, damaged files, a Redis that lost all, and a clock that jumps."""

from __future__ import annotations

import contextlib
import random
import time
from dataclasses import dataclass

from lab.problem import LabError
from tests.soak.chaos.target import DISKS, Target

_FILLED = "filled-by-the-campaign"


@dataclass(frozen=True, slots=True)
class FullDisk:
    name: str
    path: str
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        target.shell(f"dd if=/dev/zero of={self.path}/{_FILLED} bs=64k")
        # Services meet it at their next start, too.
        if rng.random() < 0.5:
            with contextlib.suppress(LabError):
                target.router.kill("srv6mgrd")
            time.sleep(0.5)
            with contextlib.suppress(LabError):
                target.router.start("srv6mgrd")
        time.sleep(rng.uniform(0.5, 3.0))

    def heal(self, target: Target) -> None:
        target.shell(f"rm -f {self.path}/{_FILLED}")


@dataclass(frozen=True, slots=True)
class Damage:
    """A state file is damaged while srv6mgrd is dead."""

    name: str
    file: str
    spares: bool = True
    rejects: bool = True

    def strike(self, target: Target, rng: random.Random) -> None:
        with contextlib.suppress(LabError):
            target.router.kill("srv6mgrd")
        path = f"/var/lib/srv6mgr/{self.file}"
        damage = rng.choice((
            f"rm -f {path}*",
            f": >{path}",
            f"truncate -s 1000 {path}",
            f"dd if=/dev/urandom of={path} bs=100 seek=3 count=20 conv=notrunc",
            f"head -c 8192 /dev/urandom >{path}",
            f"rm -f {path}; mkdir {path}",
        ))  # fmt: skip
        target.shell(damage)

    def heal(self, target: Target) -> None:
        """A folder in the place of a file is somebody's work, and theirs to remove."""
        target.shell(f"rmdir /var/lib/srv6mgr/{self.file}")


class FlushAll:
    name = "FLUSHALL"
    spares = True
    rejects = True

    def strike(self, target: Target, rng: random.Random) -> None:
        target.shell("redis-cli -s /run/redis/redis.sock FLUSHALL")

    def heal(self, target: Target) -> None:
        """srv6mgrd's work; rows of CONFIG_DB are loaded again by the campaign."""


class Clock:
    """The time of day jumps an hour, and back at the end of the step: watchfrr measures by it how
    long ago it restarted a daemon (time_elapsed in watchfrr.c), and restarts none that dies while
    that lies in the future."""

    name = "clock jumps"
    spares = True
    rejects = False

    def __init__(self) -> None:
        self._jumped = 0

    def strike(self, target: Target, rng: random.Random) -> None:
        self._jump(target, rng.choice((-3600, 3600)))

    def heal(self, target: Target) -> None:
        if self._jumped:
            self._jump(target, -self._jumped)

    def _jump(self, target: Target, seconds: int) -> None:
        target.shell(f"date -s @$(($(date +%s) + {seconds}))")
        self._jumped += seconds


FAULTS = (
    *(FullDisk(f"{path} is full", path) for path in DISKS),
    *(Damage(f"{file} is damaged", file) for file in ("journal.sqlite", "history.sqlite")),
    FlushAll(),
    Clock(),
)
