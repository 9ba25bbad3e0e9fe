"""What srv6-metricsd serves, as the parser of Prometheus' library reads it."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from robot.api.deco import library

from lab.waiting import wait_until
from tests.robot.library.cli import run
from tests.robot.library.network import node, router

_SOCKET = "/run/srv6mgr/metrics/metrics.sock"
_FILE = "/etc/srv6mgr/srv6-metricsd.toml"
_ACCEPT = "application/openmetrics-text;version=1.0.0"
Samples = Iterator[tuple[dict[str, str], float]]


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(str(self._path))


def samples(name: str, metric: str, kind: str) -> Samples:
    """Labels and value of each."""
    client = _OverSocket(node(name).path(_SOCKET))
    try:
        client.request("GET", f"/metrics?kind={kind}", headers={"Accept": _ACCEPT})
        answer = client.getresponse()
        text = answer.read().decode()
    finally:
        client.close()
    assert answer.status == 200, text
    for family in text_string_to_metric_families(text):
        yield from (
            (sample.labels, sample.value) for sample in family.samples if sample.name == metric
        )


@library(scope="GLOBAL", auto_keywords=True)
class Metrics:
    """Metrics of routers."""

    def serve_metrics(self, *names: str) -> None:
        """Start srv6-metricsd, for root over a socket."""
        for name in names:
            node(name).run(["mkdir", "-p", str(Path(_FILE).parent)])
            node(name).write_file(_FILE, f'plaintext = ["unix:{_SOCKET}"]\n')
            router(name).start("srv6-metricsd")

    def stop_metrics(self, *names: str) -> None:
        """Stop it, and remove its settings."""
        for name in names:
            router(name).stop("srv6-metricsd")
            node(name).run(["rm", _FILE])

    def counters_of_sids_name_behavior_and_vrf(self, name: str) -> None:
        """Metrics have the SIDs of srv6ctl with their labels, and the same packets."""
        sids = json.loads(run(name, "show sids --json").stdout)["sids"]
        labels = {one["prefix"]: (one["behavior"], one.get("vrf") or "") for one in sids}

        def packets() -> dict[str, int]:
            shown = json.loads(run(name, "show counters --no-rates --json").stdout)["counters"]
            return {one["prefix"]: int(one["in-pkts"]) for one in shown}

        def served() -> dict[str, tuple[tuple[str, str], int]]:
            return {
                found["sid"]: ((found["behavior"], found["vrf"]), int(value))
                for found, value in samples(name, "srv6_sid_packets_total", "sid")
            }

        def wanted() -> dict[str, tuple[tuple[str, str], int]]:
            return {sid: (labels[sid], count) for sid, count in packets().items()}

        assert labels
        wait_until(lambda: served() == wanted(), f"{name}: {wanted()}", 15, seen=served)

    def vpns_are_up_in_metrics(self, name: str, *vrfs: str) -> None:
        """The state of these VRFs and of no other is up."""

        def up() -> set[str]:
            found = samples(name, "srv6_vrf_service_state", "vrf")
            return {
                labels["vrf"]
                for labels, value in found
                if value == 1 and labels["srv6_vrf_service_state"] == "up"
            }

        wait_until(lambda: up() == set(vrfs), f"{name}: {vrfs} are up", 60, seen=up)
