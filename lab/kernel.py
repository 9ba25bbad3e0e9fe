"""The lab's kernel: User-Mode Linux, built inside the lab's root from Debian's source."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab import host, rootfs
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.problem import LabError
from lab.progress import Progress

FRAGMENT = Path(__file__).with_name("kernel.config")
SCRIPT = Path(__file__).with_name("kernel-build.sh")
PATCHES = Path(__file__).with_name("kernels")
OFFERED = CHECKOUT / "docs/upstream/linux"


@dataclass(frozen=True, slots=True)
class Source:
    """Debian's suite that the kernel comes from, and the oldest version that serves. ``kind``
    names it in the cache. ``changes`` are patches of the source, ``without`` are options of the
    fragment that are left out, ``more`` are lines of options beside it."""

    kind: str
    suite: str
    oldest: tuple[int, int]
    changes: tuple[Path, ...] = ()
    without: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def fragment(self) -> str:
        lines = FRAGMENT.read_text().splitlines(keepends=True)
        kept = [line for line in lines if line.partition("=")[0] not in self.without]
        return "".join([*kept, *(f"{line}\n" for line in self.more)])

    @property
    def for_benches(self) -> bool:
        return bool(self.changes or self.without)

    @property
    def patch(self) -> str:
        return "".join(path.read_text() for path in self.changes)

    @property
    def script(self) -> str:
        return SCRIPT.read_text().replace(rootfs.BACKPORTS, self.suite)


NEWEST = Source("kernel", rootfs.BACKPORTS, (7, 2))
# What a router with Debian 13 runs.
STABLE = Source("stable-kernel", rootfs.SUITE, (6, 12))
# Where each function begins must not depend on what is before it: that moved a path by 6 %.
_COMPARABLE = ("CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y",)
# Peers of benches, not for tests: without two of the changes that the project needs, and
# without the third, for which there is an option.
VANILLA = Source(
    "vanilla-kernel", NEWEST.suite, NEWEST.oldest,
    changes=(PATCHES / "vanilla.patch",), more=_COMPARABLE,
)  # fmt: skip
# With what is offered upstream.
UPSTREAM = Source(
    "upstream-kernel", NEWEST.suite, NEWEST.oldest,
    changes=tuple(sorted(OFFERED.glob("*.patch"))), more=_COMPARABLE,
)  # fmt: skip
NO_L3MDEV = Source(
    "no-l3mdev-kernel", NEWEST.suite, NEWEST.oldest,
    without=("CONFIG_NET_L3_MASTER_DEV", "CONFIG_NET_VRF"),
)  # fmt: skip

# By value of LAB_KERNEL.
SOURCES = {
    "": NEWEST,
    "stable": STABLE,
    "vanilla": VANILLA,
    "upstream": UPSTREAM,
    "no-l3mdev": NO_L3MDEV,
}


def entry(root: Path, source: Source = NEWEST) -> Entry:
    parts = [root.parent.name, source.fragment, source.script]
    key = digest(*parts, *([source.patch] if source.patch else []))

    def build(target: Path, progress: Progress) -> None:
        _build(root, source, target, progress)

    return Entry(source.kind, key, 3500, build, apart=source.for_benches)


def _build(root: Path, source: Source, target: Path, progress: Progress) -> None:
    log = log_file(source.kind)
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
    for patch in source.changes:
        with progress.step(f"kernel {version}, {patch.name}"):
            host.require_tools({"patch": "patch"}, progress)
            command = ["patch", "-d", str(work / "src"), "-p1", "-i", str(patch)]
            host.run_logged(command, log, progress, patch.name)
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
