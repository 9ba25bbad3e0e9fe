"""Debian's Prometheus scrapes a real srv6-metricsd; rules, dashboards and the page of examples/."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.unpacked import home
from lab.waiting import wait_until
from tests.contract.metrics.conftest import PASSWORD, USER, Server, Start, free_port
from tests.unit.metrics.router import RED

HOME = home("prometheus")

pytestmark = pytest.mark.contract

CHECKOUT = Path(__file__).resolve().parents[3]
EXAMPLES = CHECKOUT / "examples/prometheus"
SCHEMA = CHECKOUT / "build/bin/grafana_schema"
PROGRAMS = Path(HOME) / "usr/bin"
METRIC = re.compile(r"\bsrv6(?:mgr)?_[a-z0-9_]+\b")


class Prometheus:
    """The API of a running one."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str, **query: str) -> Any:
        text = self.page(f"/api/v1/{path}?{urllib.parse.urlencode(query)}")
        return json.loads(text)["data"]

    def page(self, path: str) -> str:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        found = self.get("query", query=expression)["result"]
        return [(one["metric"], float(one["value"][1])) for one in found]

    def is_scraping(self) -> bool:
        try:
            return bool(self.query('up{job="srv6"} == 1'))
        except OSError:
            return False


@pytest.fixture
def server(start: Start) -> Server:
    return start()


@pytest.fixture
def prometheus(server: Server, tmp_path: Path) -> Iterator[Prometheus]:
    consoles, libraries = tmp_path / "consoles", tmp_path / "libraries"
    for folder in (consoles, libraries):
        folder.mkdir()
    (consoles / "srv6.html").write_text((EXAMPLES / "srv6.html").read_text())
    examples = Path(HOME) / "usr/share/doc/prometheus/examples/console_libraries"
    (libraries / "prom.lib").write_text((examples / "prom.lib").read_text())
    (tmp_path / "srv6.rules.yml").write_text((EXAMPLES / "srv6.rules.yml").read_text())
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [srv6.rules.yml]
scrape_configs:
  - job_name: srv6
    scheme: https
    basic_auth: {{username: {USER}, password_file: password}}
    tls_config: {{ca_file: {server.selfsigned}}}
    static_configs: [{{targets: ["127.0.0.1:{server.port}"]}}]
""")
    port = free_port()
    with (tmp_path / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROGRAMS / "prometheus",
                f"--config.file={tmp_path}/prometheus.yml",
                f"--storage.tsdb.path={tmp_path}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                f"--web.console.templates={consoles}",
                f"--web.console.libraries={libraries}",
            ],
            stdout=log,
            stderr=log,
        )
    found = Prometheus(port)
    try:
        wait_until(found.is_scraping, "a scrape", timeout=60)
        yield found
    finally:
        process.terminate()
        process.wait()


def promtool(*arguments: str) -> str:
    """What it prints; it fails the test when it fails."""
    done = subprocess.run(
        [PROGRAMS / "promtool", *arguments],
        cwd=EXAMPLES, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def expressions() -> list[str]:
    """Of the dashboard and of the page, with Grafana's variables filled in."""
    dashboard = json.loads((EXAMPLES / "srv6.grafana.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    page = (EXAMPLES / "srv6.html").read_text()
    found += re.findall(r'range query "(.*?)"(?: \||\s*}})', page)
    found += [
        text.replace('\\"', '"') for text in re.findall(r'^  \["[^"]*", "(.*?)", "', page, re.M)
    ]
    for variable, value in (("$__rate_interval", "1m"), ("$instance", ".*"), ("$vrf", ".*")):
        found = [text.replace(variable, value) for text in found]
    return found


def test_rules_hold_what_they_promise() -> None:
    promtool("check", "rules", "srv6.rules.yml")
    promtool("test", "rules", "srv6.rules-test.yml")


def test_every_alert_is_tested() -> None:
    rules = (EXAMPLES / "srv6.rules.yml").read_text()
    tests = (EXAMPLES / "srv6.rules-test.yml").read_text()

    alerts = re.findall(r"- alert: (\w+)", rules)
    assert alerts
    assert [name for name in alerts if name not in tests] == []


def test_prometheus_stores_what_is_served(prometheus: Prometheus, server: Server) -> None:
    instance = f"127.0.0.1:{server.port}"
    labels = {
        "__name__": "srv6_sid_bytes_total", "job": "srv6", "instance": instance,
        "sid": RED, "vrf": "red", "behavior": "End.DT46",
    }  # fmt: skip
    assert prometheus.query(f'srv6_sid_bytes_total{{sid="{RED}"}}') == [(labels, 840.0)]
    state = prometheus.query("srv6_vrf_service_state == 1")
    assert {(found["vrf"], found["srv6_vrf_service_state"]) for found, _ in state} == {
        ("red", "up"),
        ("blue", "degraded"),
    }
    # HELP, TYPE and UNIT arrive, too.
    about = prometheus.get("metadata", metric="srv6_sid_bytes")["srv6_sid_bytes"][0]
    assert (about["type"], about["unit"]) == ("counter", "bytes")
    matrix = "sum by (remote_locator, vrf) (srv6_accounting_sent_packets_total)"
    assert prometheus.query(matrix) == [({"remote_locator": "fcbb:0:2::/48", "vrf": "red"}, 25.0)]


def test_dashboards_ask_for_what_there_is(prometheus: Prometheus) -> None:
    stored = set(prometheus.get("label/__name__/values"))
    found = expressions()

    assert len(found) > 15
    for expression in found:
        prometheus.get("format_query", query=expression)
        prometheus.query(expression)
        named = set(METRIC.findall(expression))
        # The label of a state set has the name of its metric.
        assert named
        assert named <= stored, expression


def test_the_dashboard_conforms_to_grafanas_schema(tmp_path: Path) -> None:
    if not SCHEMA.exists():
        pytest.skip(f"{SCHEMA} is absent: make build/bin/grafana_schema")
    dashboard = EXAMPLES / "srv6.grafana.json"
    assert departures(dashboard) == ""
    # What is wrong would be found.
    for number, (right, wrong, found) in enumerate(
        [
            ('"refId"', '"refID"', "unexpected field 'refID'"),
            ('"w": 12', '"w": "12"', "gridPos.w: json: cannot unmarshal"),
            ('"w": 12', '"w": 36', "gridPos.w: must be <= 24"),
            ('"unit"', '"units"', "unexpected field 'units'"),
        ]
    ):
        broken = tmp_path / f"{number}.json"
        broken.write_text(dashboard.read_text().replace(right, wrong))
        assert found in departures(broken)


def departures(dashboard: Path) -> str:
    """Of a dashboard from the schema that Grafana publishes (its Foundation SDK)."""
    done = subprocess.run([SCHEMA, dashboard], check=False, capture_output=True, text=True)
    assert bool(done.returncode) is bool(done.stdout), done
    return done.stdout


def test_rules_ask_for_what_there_is(prometheus: Prometheus) -> None:
    stored = set(prometheus.get("label/__name__/values"))
    groups = prometheus.get("rules")["groups"]

    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) > 10
    recorded = {rule["name"] for rule in rules if rule["type"] == "recording"}
    for rule in rules:
        named = set(METRIC.findall(re.sub(r"\w+:\w+:\w+", "", rule["query"])))
        assert named <= stored | recorded, rule["query"]
    assert recorded <= stored | recorded


def test_the_page_shows_vpns_and_the_matrix(prometheus: Prometheus) -> None:
    page = prometheus.page("/consoles/srv6.html")

    rows = re.sub(r"\s+", " ", page)
    assert '<td>blue</td> <td class="bad">degraded</td>' in rows
    assert "<td>red</td> <td>up</td>" in rows

    def has_matrix() -> bool:
        return "<td>fcbb:0:2::/48</td><td>red</td>" in prometheus.page("/consoles/srv6.html")

    # A rate needs two scrapes.
    wait_until(has_matrix, "the matrix", timeout=30)
