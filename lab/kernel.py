"""The lab's kernel: User-Mode Linux, built inside the lab's root from Debian's source."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab import host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import Enclosure, Part
from lab.problem import LabError
from lab.progress import Progress

FRAGMENT = Path(__file__).with_name("kernel.config")
SCRIPT = Path(__file__).with_name("kernel-build.sh")


@dataclass(frozen=True, slots=True)
class Source:
    """Debian's suite that the kernel comes from, and the oldest version that serves. ``kind``
    names it in the cache."""

    kind: str
    suite: str
    oldest: tuple[int, int]

    @property
    def fragment(self) -> str:
        return FRAGMENT.read_text()

    @property
    def script(self) -> str:
        return SCRIPT.read_text().replace(rootfs.BACKPORTS, self.suite)


NEWEST = Source("kernel", rootfs.BACKPORTS, (7, 2))
# What a router with Debian 13 runs.
STABLE = Source("stable-kernel", rootfs.SUITE, (6, 12))


def entry(root: Path, source: Source = NEWEST) -> Entry:
    key = digest(root.parent.name, source.fragment, source.script)

    def build(target: Path, progress: Progress) -> None:
        _build(root, source, target, progress)

    return Entry(source.kind, key, 3500, build)


def _build(root: Path, source: Source, target: Path, progress: Progress) -> None:
    log = log_file("kernel")
    work = target / "work"
    work.mkdir()
    (work / "fragment").write_text(source.fragment)
    (work / "build.sh").write_text(source.script)
    inside = Enclosure(root, [Part("build", work, "/build")], source="overlay")

    def stage(title: str, name: str) -> None:
        with progress.step(title):
            host.run_logged(
                inside.argv(["sh", "/build/build.sh", name]), log, progress, "kernel",
                environment=inside.variables(),
            )  # fmt: skip

    stage("kernel source", "source")
    version = (work / "version").read_text().strip()
    if tuple(int(part) for part in version.split(".")[:2]) < source.oldest:
        wanted = ".".join(map(str, source.oldest))
        raise LabError("kernel", f"{source.suite} has {version}, {wanted} is needed")
    stage(f"kernel {version} configuration", "configure")
    missing = lost_options(source.fragment, (work / "src/.config").read_text())
    if missing:
        raise LabError(
            "kernel.config",
            f"Linux {version} did not accept {', '.join(missing)}",
            "name what they depend on, or drop them",
        )
    stage(f"kernel {version} compilation, {os.cpu_count()} CPUs", "compile")
    for name in ("linux", "config", "version"):
        (work / name).rename(target / name)
    shutil.rmtree(work)


def lost_options(fragment: str, final: str) -> list[str]:
    """Lines of the fragment that are not in the final configuration as written."""
    have = set(final.splitlines())
    return [line for line in _options(fragment.splitlines()) if line not in have]


def _options(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if line.startswith("CONFIG_"))
