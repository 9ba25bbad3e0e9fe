"""Which CPU of the host a machine runs on: one, and its own as far as there are enough.

User-Mode Linux hands each system call over between two processes. On one CPU that takes 9 us, on
two CPUs of a virtual machine 50 us.
"""

from __future__ import annotations

import fcntl
import os
import random
from dataclasses import dataclass

from lab.cache import cache_dir, make_folder
from lab.problem import LabError

# More labs than this on a CPU are not spread any more.
_MOST = 16


@dataclass(frozen=True, slots=True)
class Claim:
    """A place on a CPU. It is claimed as long as the lock file is open."""

    number: int
    lock: int

    def release(self) -> None:
        os.close(self.lock)


def claim() -> Claim:
    """A place on one of the CPUs with the fewest labs."""
    allowed = sorted(os.sched_getaffinity(0))
    folder = make_folder(cache_dir() / "cpu")
    for place in range(_MOST):
        for number in random.sample(allowed, len(allowed)):
            file = folder / f"{number}-{place}"
            lock = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return Claim(number, lock)
            except BlockingIOError:
                os.close(lock)
    raise LabError("CPUs", f"{_MOST} labs run on each", "stop some of them")
