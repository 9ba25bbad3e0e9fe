"""srv6ctl with 10,000 SIDs beside srv6ctl with 2.

    make bench BENCH=cli [PART="sids explain doctor top"]

Each number of SIDs has srv6mgrd, sysrepo and Redis of its own, in a network namespace of the
host's kernel (``bench.reconcile_host``), and every command runs with both in turn, as an operator
types it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.reconcile_host import Host, own_network, prepared
from bench.report import Goal, Report
from bench.sids import address, config
from lab.waiting import wait_until

FEW, MANY = 2, 10_000
ROUNDS = 9
GOAL = 2.0
PARTS = {
    "sids": (["show", "sids"], ["show", "sids", "--json"], ["show", "counters", "--no-rates"]),
    "explain": (["explain", address(2)], ["explain", address(2), "--listen", "0"]),
    "doctor": (["doctor"],),
    "top": (["top"],),
}
# Done; or what doctor finds of a router without FRR, by severity.
_STATUSES = (0, 1, 2, 3)


class World:
    """A process that has so many SIDs, and runs commands beside them."""

    def __init__(self, count: int) -> None:
        command = [sys.executable, "-m", "bench.cli", "world", str(count)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self._answer() != "ready":
            raise RuntimeError(f"the world of {count} SIDs did not begin")

    def run(self, command: list[str]) -> tuple[float, float]:
        """Seconds that a command took, and seconds of CPU."""
        assert self._process.stdin is not None
        print(json.dumps(command), file=self._process.stdin, flush=True)
        took, cpu = json.loads(self._answer())
        return took, cpu

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=120)


def world(count: int) -> None:
    """Serve commands from standard input until it ends."""
    own_network()
    with prepared() as folder, _running(Host(folder, gnmi=False)):
        settings = str(folder / "srv6mgrd.toml")
        ctl = [sys.executable, "-m", "srv6mgrd.cli.main", "--config", settings]
        document = folder / "config.json"
        document.write_text(json.dumps(config(count)))
        subprocess.run([*ctl, "apply", str(document)], check=True, stdout=subprocess.DEVNULL)
        wait_until(lambda: _counted(ctl) == count)
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(_timed([*ctl, *json.loads(line)])), flush=True)


@contextmanager
def _running(host: Host) -> Iterator[None]:
    host.start()
    try:
        yield
    finally:
        host.stop()


def _counted(ctl: list[str]) -> int:
    shown = subprocess.run(
        [*ctl, "show", "counters", "--no-rates", "--json"], stdout=subprocess.PIPE, check=False
    )
    return len(json.loads(shown.stdout or "{}").get("counters", ()))


def _timed(command: list[str]) -> tuple[float, float]:
    before, start = _cpu(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in _STATUSES:
        raise RuntimeError(f"{command} ended with {done.returncode}")
    return time.monotonic() - start, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command: list[str], few: World, many: World) -> Iterator[Goal]:
    runs: dict[str, list[float]] = {name: [] for name in ("few", "many", "few cpu", "many cpu")}
    # Once without looking: what is read for the first time comes from the disk.
    few.run(command), many.run(command)
    for _ in range(ROUNDS):
        for name, where in (("few", few), ("many", many)):
            took, cpu = where.run(command)
            runs[name].append(took)
            runs[f"{name} cpu"].append(cpu)
    name = " ".join(word for word in command if word != address(2))
    yield Goal(f"{name}: {MANY:,} SIDs, or {FEW}", runs["many"], runs["few"], GOAL, of="rounds")
    yield Goal("  its CPU time", runs["many cpu"], runs["few cpu"], None, of="rounds")


def main() -> int:
    if sys.argv[1:2] == ["world"]:
        world(int(sys.argv[2]))
        return 0
    parts = sys.argv[1:] or list(PARTS)
    # The namespaces of the worlds are below this one.
    os.environ.setdefault("PYTHONPATH", str(Path.cwd()))
    report = Report("cli")
    with ExitStack() as stack:
        worlds = []
        for count in (FEW, MANY):
            worlds.append(World(count))
            stack.callback(worlds[-1].close)
        for part in parts:
            for command in PARTS[part]:
                report.goals += measure(command, *worlds)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
