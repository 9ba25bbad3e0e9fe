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
    -o Dir::Cache::archives=/tmp/archives install "$1"
for deb in /tmp/archives/*.deb; do dpkg-deb --extract "$deb" /fetched; done
"""
# Those that commands of the lab offer, in /opt.
PACKAGES = ("prometheus", "pmacct")


def home(package: str) -> str:
    """Below which its files are."""
    return f"/opt/{package}"


def entry(root: Path, package: str) -> Entry:
    """The folder that is to be there."""

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("fetched", target, "/fetched")], source="overlay")
        host.run_logged(
            inside.argv(["sh", "-c", FETCH, "sh", package]), log_file(package), progress, package,
            environment=inside.variables(),
        )  # fmt: skip

    return Entry(package, digest(root.parent.name, FETCH, package), 400, build)
