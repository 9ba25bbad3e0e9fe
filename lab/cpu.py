"""Which CPU of the host a machine runs on: one, and its own as far as there are enough.

User-Mode Linux hands each system call over between two processes. On one CPU that takes 9 us, on
two CPUs of a virtual machine 50 us.
"""

from __future__ import annotations

import fcntl
import os
import random
from dataclasses import dataclass

from lab.cache import cache_dir


@dataclass(frozen=True, slots=True)
class Claim:
    """A CPU. It is claimed as long as the lock file is open."""

    number: int
    lock: int | None

    def release(self) -> None:
        if self.lock is not None:
            os.close(self.lock)


def claim() -> Claim:
    """A CPU on which no other lab runs, or any one where a lab runs on each."""
    allowed = sorted(os.sched_getaffinity(0))
    folder = cache_dir() / "cpu"
    folder.mkdir(parents=True, exist_ok=True)
    for number in random.sample(allowed, len(allowed)):
        lock = os.open(folder / str(number), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Claim(number, lock)
        except BlockingIOError:
            os.close(lock)
    return Claim(random.choice(allowed), None)
