"""Debian's FRR with the patches of frr-patches/: /opt/frr, for tests and for packaging.

The source is small and always at hand, so that a patch that no longer applies is noticed at
once. The packages take a quarter of an hour of two cores: they are built when asked for.
"""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress

PATCHES = CHECKOUT / "frr-patches"
HOME = "/opt/frr"
SOURCE = "/opt/frr-source"
SCRIPT = "/src/frr-patches/build.sh"


def source(root: Path) -> Entry:
    """The distribution's source package, to which all patches apply."""
    files = sorted(path for path in PATCHES.iterdir() if path.suffix in (".patch", ".sh", ""))
    contents = [text for path in files for text in (path.name, path.read_bytes())]

    def build(target: Path, progress: Progress) -> None:
        _run(root, ["fetch", SOURCE], [Part("frr-source", target, SOURCE)], progress)

    return Entry("frrsource", digest(root.parent.name, *contents), 1000, build, apart=True)


def packages(root: Path) -> Entry:
    """/opt/frr: `debs`, the packages, and `root`, the files of the package frr."""
    fetched = source(root)

    def build(target: Path, progress: Progress) -> None:
        parts = [Part("frr-source", fetched.path, SOURCE), Part("frr", target, HOME)]
        _run(root, ["build", SOURCE, HOME], parts, progress)

    return Entry("frr", fetched.key, 6000, build, apart=True)


def _run(root: Path, arguments: list[str], parts: list[Part], progress: Progress) -> None:
    inside = Enclosure(root, parts, source="overlay")
    host.run_logged(
        inside.argv(["sh", SCRIPT, *arguments]), log_file("frr"), progress, "patched FRR",
        environment=inside.variables(),
    )  # fmt: skip
