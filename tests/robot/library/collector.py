"""A collector of telemetry: what its packages would have installed on a node."""

from __future__ import annotations

from robot.api.deco import library

from lab.unpacked import home
from tests.robot.library.network import node, router

HOME = home("prometheus")

# Files are unpacked below HOME (`lab run --prometheus`).
INSTALL = f"""set -e
mount -t overlay -o lowerdir={HOME}/usr:/usr overlay /usr
cp -r {HOME}/etc/prometheus /etc/
mkdir -p /var/lib/prometheus/metrics2
"""
SERVICE = "prometheus"
CLEAN = "umount /usr; rm -rf /etc/prometheus /var/lib/prometheus"


@library(scope="GLOBAL", auto_keywords=True)
class Collector:
    """Prometheus on a node."""

    def install_collector(self, name: str) -> None:
        """Its programs are there and do not run."""
        node(name).run(["sh", "-c", INSTALL])

    def remove_collector(self, name: str) -> None:
        """Its programs and their files are gone."""
        if router(name).is_running(SERVICE):
            router(name).stop(SERVICE)
        node(name).run(["sh", "-c", CLEAN])
