"""Daemons in control groups of their own with the weights of their units, as systemd has them."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

UNITS = Path("packaging/deb/debian")
# Of systemd, and what the kernel's first version calls the same (cpu.shares).
_USUAL, _SHARES = 100, 1024
_EMPTY_S = 5.0


def weight(unit: Path) -> int:
    """What a unit says of its share of a CPU (systemd.resource-control(5))."""
    for line in unit.read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "CPUWeight":
            return int(value)
    return _USUAL


class Groups:
    """A control group of each daemon below one of the bench."""

    def __init__(self, groups: Mapping[str, Path]) -> None:
        self._groups = groups

    def within(self, daemon: str, argv: Sequence[str]) -> list[str]:
        """A command that runs in the group of a daemon."""
        group = self._groups.get(daemon)
        if group is None:
            return list(argv)
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *argv]


@contextmanager
def groups(units: Mapping[str, Path]) -> Iterator[Groups]:
    """Of these daemons, with their units. Raises OSError where the kernel has none."""
    with tempfile.TemporaryDirectory(prefix="cgroup-") as name:
        top = Path(name)
        unified = _mount(top)
        try:
            with _made(top / f"bench-{top.name}", units, unified=unified) as made:
                yield made
        finally:
            subprocess.run(["umount", name], check=True)


def _mount(top: Path) -> bool:
    """Whether it is the second version that has the CPUs here."""
    subprocess.run(["mount", "-t", "cgroup2", "none", str(top)], check=True)
    if "cpu" in (top / "cgroup.controllers").read_text().split():
        return True
    subprocess.run(["umount", str(top)], check=True)
    subprocess.run(["mount", "-t", "cgroup", "-o", "cpu", "none", str(top)], check=True)
    return False


@contextmanager
def _made(above: Path, units: Mapping[str, Path], *, unified: bool) -> Iterator[Groups]:
    made = {daemon: above / daemon for daemon in units}
    try:
        above.mkdir()
        if unified:
            for folder in (above.parent, above):
                (folder / "cgroup.subtree_control").write_text("+cpu")
        for daemon, group in made.items():
            group.mkdir()
            given = weight(units[daemon])
            if unified:
                (group / "cpu.weight").write_text(str(given))
            else:
                (group / "cpu.shares").write_text(str(given * _SHARES // _USUAL))
        yield Groups(made)
    finally:
        for group in (*made.values(), above):
            _remove(group)


def _remove(group: Path) -> None:
    """Its last process may be ending still."""
    end = time.monotonic() + _EMPTY_S
    while group.exists():
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
