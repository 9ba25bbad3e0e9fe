"""The eBPF programs, compiled once in the root."""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress

SOURCES = [
    CHECKOUT / f"srv6mgrd/{room}/bpf" for room in ("ebpf", "proxy", "accounting", "drops", "chains")
]
MOUNT_POINT = "/usr/lib/srv6mgr"


def entry(root: Path) -> Entry:
    sources = [
        path
        for folder in SOURCES
        for path in sorted(folder.iterdir())
        if path.suffix in (".c", ".h", ".sh")
    ]
    contents = [text for path in sources for text in (path.name, path.read_bytes())]
    key = digest(root.parent.name, *contents)

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("programs", target, MOUNT_POINT)], source="overlay")
        command = ["sh", "/src/srv6mgrd/ebpf/bpf/build.sh", MOUNT_POINT]
        host.run_logged(
            inside.argv(command), log_file("programs"), progress, "eBPF programs",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry("programs", key, 10, build)
