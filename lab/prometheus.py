"""Debian's Prometheus for a node that collects: its packages, unpacked and not installed."""

from __future__ import annotations

from pathlib import Path

from lab import host
from lab.cache import Entry, digest, log_file
from lab.enclosure import Enclosure, Part
from lab.progress import Progress

HOME = "/opt/prometheus"
# What the package depends on beside libraries that the root has: parts of its pages.
FETCH = """set -e
mkdir -p /tmp/archives/partial
apt-get -q update
apt-get -q -o APT::Sandbox::User=root --download-only -y --no-install-recommends \\
    -o Dir::Cache::archives=/tmp/archives install prometheus
for deb in /tmp/archives/*.deb; do dpkg-deb --extract "$deb" /fetched; done
"""


def entry(root: Path) -> Entry:
    """The folder below which its files are."""

    def build(target: Path, progress: Progress) -> None:
        inside = Enclosure(root, [Part("fetched", target, "/fetched")], source="overlay")
        host.run_logged(
            inside.argv(["sh", "-c", FETCH]), log_file("prometheus"), progress, "Prometheus",
            environment=inside.variables(),
        )  # fmt: skip

    return Entry("prometheus", digest(root.parent.name, FETCH), 400, build)
