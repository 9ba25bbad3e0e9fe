"""/opt/netconfd: the NETCONF server, compiled against the root's own libraries."""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import CHECKOUT, Enclosure, Part
from lab.progress import Progress

SOURCES = CHECKOUT / "netconfd"
HOME = "/opt/netconfd"
# Beside the product one that watches its own use of memory, for tests that try to break it.
VARIANTS = {HOME: "", f"{HOME}/checked": "SANITIZE=address"}


def entry(root: Path) -> Entry:
    files = sorted(
        path for path in SOURCES.rglob("*") if path.is_file() and path.suffix in (".c", ".h", "")
    )
    contents = [
        text for path in files for text in (str(path.relative_to(SOURCES)), path.read_bytes())
    ]
    key = digest(root.parent.name, repr(VARIANTS), *contents)

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("netconfd", target, HOME)], source="overlay")
        for folder, option in VARIANTS.items():
            make = f'make -s -j"$(nproc)" -C /src/netconfd OUT={folder} {option}'
            clean = f"rm -r {folder}/*.o {folder}/tls"
            host.run_logged(
                inside.argv(["sh", "-ec", f"{make}; {clean}"]), log_file("netconfd"),
                progress, "srv6-netconfd", environment=inside.variables(),
            )  # fmt: skip

    return Entry("netconfd", key, 50, build)
