"""Record telemetry in the lab: the tutorial of the dashboard, with traffic that comes and goes.

Runs in the lab on topology two-pe; leaves the data of Prometheus, its pages and the time of the end
in ``$LAB_OUT``. `make dashboard` draws them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from docs.site.record import has_routes
from lab.guest.nodes import Node
from lab.guest.services import Router
from lab.waiting import wait_until
from tests.robot.library.collector import Collector
from tests.robot.library.page import Page

PAGE = "docs/tutorial/dashboard.md"
COLLECTOR = "p"
# As the packages set it up.
GROUP = "groupadd --system _srv6-metricsd; mkdir -p /etc/srv6mgr"
SERVICES = ("redis", "frr", "sysrepo", "srv6mgrd", "srv6-gnmid")
# Of each flow: the customer's site, milliseconds between packets, octets, and from when to when.
FLOWS = (
    ("ce-red1", 20, 56, 0, 240),
    ("ce-blue1", 50, 900, 40, 170),
    ("ce-blue2", 10, 56, 110, 210),
)


def main() -> int:
    out = Path(os.environ["LAB_OUT"])
    for name in ("pe1", "pe2"):
        node = Node(name)
        node.run(["sh", "-c", GROUP])
        Router(name).start(*SERVICES)
        node.run(["srv6ctl", "apply", f"examples/l3vpn/{name}.json"])
    for name in ("pe1", "pe2"):
        wait_until(partial(has_routes, Node(name)), f"{name} has routes", timeout=60)
    collector = Collector()
    collector.install_collector(COLLECTOR)
    flows = [start(*flow) for flow in FLOWS]
    Page().follow_page(PAGE)
    for child in flows:
        child.wait()
    ended = time.time()
    Router(COLLECTOR).stop("prometheus")
    disk = Node(COLLECTOR)
    for folder in ("/var/lib/prometheus/metrics2", "/etc/prometheus"):
        shutil.copytree(disk.path(folder), out / Path(folder).name, dirs_exist_ok=True)
    (out / "ended.json").write_text(json.dumps(ended))
    return 0


def start(site: str, interval: int, octets: int, after: int, until: int) -> subprocess.Popen[bytes]:
    """A flow to the same customer's other site, in the background."""
    other = "10.1.0.10" if site.endswith("2") else "10.2.0.10"
    ping = f"ping -q -i {interval / 1000} -s {octets} -w {until - after} {other}"
    return Node(site).popen(["sh", "-c", f"sleep {after}; {ping}"], stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
