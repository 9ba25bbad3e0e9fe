"""What a server holds, to be compared before and after."""

from __future__ import annotations

import os
from pathlib import Path

from lab.waiting import wait_until

# gRPC's own pool grows with the load, and shrinks again later.
POOL = 3


class Holdings:
    """What a server holds: threads, open files, and sysrepo's connections, event pipes and the
    shared memory that holds subscriptions (bytes)."""

    def __init__(self, pid: int, place: Path) -> None:
        self._process = Path("/proc") / str(pid)
        self._place = place

    def now(self) -> dict[str, int]:
        repository = self._place / "repository"
        return {
            "threads": len(list((self._process / "task").iterdir())),
            "files": len(os.listdir(self._process / "fd")),
            "connections": len(list((repository / "conn").iterdir())),
            "pipes": len(list(repository.glob("sr_evpipe*"))),
            "shared": Path(f"/dev/shm/{self._place.name}_ext").stat().st_size,
        }

    def settle(self, before: dict[str, int]) -> None:
        """Wait until nothing is held beyond what was."""
        before = {**before, "threads": before["threads"] + POOL}

        def more() -> dict[str, int]:
            return {k: n for k, n in self.now().items() if n > before[k]}

        wait_until(lambda: not more(), f"no more than {before}", seen=more)

    def memory(self) -> float:
        """MiB resident."""
        status = (self._process / "status").read_text().splitlines()
        (line,) = (line for line in status if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
