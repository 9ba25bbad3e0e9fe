"""The lab's kernel: User-Mode Linux, built inside the lab's root from Debian's source."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from lab import host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import Enclosure, Part
from lab.problem import LabError
from lab.progress import Progress

FRAGMENT = Path(__file__).with_name("kernel.config")
SCRIPT = Path(__file__).with_name("kernel-build.sh")
MOST_CPUS = 8  # CONFIG_NR_CPUS
OLDEST = (7, 2)  # seccomp mode with several CPUs


def entry(root: Path) -> Entry:
    key = digest(root.parent.name, FRAGMENT.read_bytes(), SCRIPT.read_bytes())

    def build(target: Path, progress: Progress) -> None:
        _build(root, target, progress)

    return Entry("kernel", key, 3500, build)


def _build(root: Path, target: Path, progress: Progress) -> None:
    log = log_file("kernel")
    work = target / "work"
    work.mkdir()
    (work / "fragment").write_text(FRAGMENT.read_text())
    (work / "build.sh").write_text(SCRIPT.read_text())
    inside = Enclosure(root, [Part("build", work, "/build")], source="overlay")

    def stage(title: str, name: str) -> None:
        with progress.step(title):
            host.run_logged(
                inside.argv(["sh", "/build/build.sh", name]), log, progress, "kernel",
                environment=inside.variables(),
            )  # fmt: skip

    stage("kernel source", "source")
    version = (work / "version").read_text().strip()
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise LabError("kernel", f"{rootfs.BACKPORTS} has {version}, {wanted} is needed")
    stage(f"kernel {version} configuration", "configure")
    missing = lost_options(FRAGMENT.read_text(), (work / "src/.config").read_text())
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
