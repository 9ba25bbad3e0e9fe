"""A process that has no file descriptor left, and how busy that makes it."""

from __future__ import annotations

import itertools
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.waiting import wait_until

# Longer than any pause between two tries to accept.
WINDOW = 3.0
# Of a CPU. A loop that spins takes all it gets: 0.23 beside other work, where one that waits took
# 0.01.
BUSY = 0.1


def family(pid: int) -> list[int]:
    """The process and its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *itertools.chain.from_iterable(family(int(child)) for child in children)]


def _stat(process: Path) -> list[str]:
    """The fields of proc(5), stat, from the state on."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def cpu(pid: int) -> float:
    """Seconds that it computed."""
    fields = _stat(Path(f"/proc/{pid}"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_idle(pid: int) -> bool:
    """All threads sleep: none works with the descriptors that were held in reserve."""
    with suppress(FileNotFoundError):  # a thread that ended meanwhile
        return all(_stat(thread)[0] == "S" for thread in Path(f"/proc/{pid}/task").iterdir())
    return False


@contextmanager
def exhausted(pid: int, but: int = 0) -> Iterator[None]:
    """No process of the family can open anything ``but`` so many files."""
    wait_until(lambda: all(map(_is_idle, family(pid))), f"process {pid} is idle")
    before = {member: resource.prlimit(member, resource.RLIMIT_NOFILE) for member in family(pid)}
    for member, (_, hard) in before.items():
        taken = {int(name) for name in os.listdir(f"/proc/{member}/fd")}
        free = (n for n in itertools.count() if n not in taken)
        lowest = next(itertools.islice(free, but, None))
        resource.prlimit(member, resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        for member, limits in before.items():
            resource.prlimit(member, resource.RLIMIT_NOFILE, limits)


def check_calm(pid: int, knock: Callable[[], object] = lambda: None) -> None:
    """Without descriptors none of the family spins, though clients knock all the while."""
    with exhausted(pid):
        began, until = {m: cpu(m) for m in family(pid)}, time.monotonic() + WINDOW
        while time.monotonic() < until:
            with suppress(OSError):
                knock()
            time.sleep(0.05)
        took = {m: cpu(m) - before for m, before in began.items()}
    assert max(took.values()) < BUSY * WINDOW, took
