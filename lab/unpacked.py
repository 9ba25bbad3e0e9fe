"""Debian's packages that a test needs and no router has: unpacked and not installed."""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import Enclosure, Part
from lab.progress import Progress

# What a package depends on beside what the root has: parts of its pages, libraries.
FETCH = """set -e
mkdir -p /tmp/archives/partial
apt-get -q update
apt-get -q -o APT::Sandbox::User=root --download-only -y --no-install-recommends \\
    -o Dir::Cache::archives=/tmp/archives install "$@"
for deb in /tmp/archives/*.deb; do dpkg-deb --extract "$deb" /fetched; done
"""
# What commands of the lab offer, in /opt: names, and Debian's packages.
PACKAGES = {
    "prometheus": ("prometheus",),
    "pmacct": ("pmacct",),
    "etcd": ("etcd-server", "etcd-client"),
}


def home(name: str) -> str:
    """Below which its files are."""
    return f"/opt/{name}"


def entry(root: Path, name: str) -> Entry:
    """The folder that is to be there."""
    packages = PACKAGES[name]

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("fetched", target, "/fetched")], source="overlay")
        host.run_logged(
            inside.argv(["sh", "-c", FETCH, "sh", *packages]), log_file(name), progress, name,
            environment=inside.variables(),
        )  # fmt: skip

    return Entry(name, digest(root.parent.name, FETCH, *packages), 400, build)
