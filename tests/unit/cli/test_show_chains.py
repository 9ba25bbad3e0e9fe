"""``show functions``, ``show chains`` and ``show classifiers``."""

from __future__ import annotations

import pytest

from srv6mgrd.counters.proxies import ProxiesWriter, beside
from srv6mgrd.model.parse import CHAINING
from srv6mgrd.model.proxy_state import ProxyCounts, ProxyState
from tests.unit.cli.conftest import World
from tests.unit.model.service_chaining import CONFIG

FIREWALL, BACK = "fcbb:0:1:1000::/64", "fcbb:0:1:1001::/64"
SEEN = {
    CHAINING: {
        "service-function": [
            {"name": "firewall", "state": {"function-state": "up", "delay": 84}},
            {
                "name": "cache1",
                "state": {
                    "function-state": "down",
                    "function-state-reason": "ipv4 forward: interface cache1 is down",
                },
            },
        ],
        "service-function-chain": [
            {
                "name": "web",
                "state": {
                    "path": [
                        {"number": 1, "direction": "forward", "inner-type": "ipv4", "pkts": "5"},
                        {"number": 2, "direction": "forward", "inner-type": "ipv4", "pkts": "4"},
                        {"number": 3, "direction": "reverse", "inner-type": "ipv4", "pkts": "7"},
                    ],
                    "dropped-pkts": "2",
                },
            }
        ],
        "classifier": [
            {"name": "tenant", "rule": [{"priority": 20, "state": {"pkts": "9", "octets": "900"}}]}
        ],
    }
}


@pytest.fixture
def node(ctl: World, tmp_path):
    ctl.client.tree = {"srv6mgr-srv6:srv6": CONFIG}
    ctl.report()
    ctl.observed.stage("chains", SEEN)
    ctl.observed.publish()
    writer = ProxiesWriter(beside(tmp_path / "store"))
    writer.write(
        {
            FIREWALL: ProxyState(ProxyCounts(to_packets=9, from_packets=8)),
            BACK: ProxyState(ProxyCounts(to_packets=7, from_packets=7)),
        }
    )
    return ctl


def test_functions(node):
    first, second, third = node.run("show", "functions", "--json").json["functions"]
    assert first["name"] == "cache1"
    assert first["function-state-reason"] == "ipv4 forward: interface cache1 is down"
    assert "interface" not in second  # another router has it
    assert third["function-state"] == "up"
    assert (third["in-pkts"], third["out-pkts"], third["delay"]) == (16, 15, 84)
    shown = node.run("show", "functions", "fire*").out
    assert "fw-in fw-out" in shown
    assert "84 us" in shown


def test_chains_have_a_line_for_each_hop_and_direction(node):
    found = node.run("show", "chains", "--json").json["chains"]
    assert [(one["direction"], one["hop"], one["service-function"]) for one in found] == [
        ("forward", 1, "firewall"),
        ("forward", 2, "cache1"),
        ("forward", 2, "cache2"),
        ("reverse", 2, "cache1"),
        ("reverse", 2, "cache2"),
        ("reverse", 1, "firewall"),
    ]
    first = found[0]
    assert (first["classified-pkts"], first["dropped-pkts"]) == (9, 2)
    assert (first["in-pkts"], first["out-pkts"], first["lost-pkts"]) == (9, 8, 1)
    assert "in-pkts" not in found[2]
    # One interface, one SID: packets of both directions count as forward.
    assert "in-pkts" in found[1]
    assert "in-pkts" not in found[3]
    assert found[1]["service-function-group"] == "caches"
    assert "cache1 (caches)" in node.run("show", "chains").out


def test_classifiers(node):
    first, second = node.run("show", "classifiers", "--json").json["classifiers"]
    assert (first["priority"], first["destination-prefix"], first["pkts"]) == (10, "10.2.0.9/32", 0)
    assert second["destination-port"] == "80-443"
    assert (second["service-function-chain"], second["pkts"]) == ("web", 9)
    shown = node.run("show", "classifiers").out
    assert "VRF red" in shown
    assert "web (forward)" in shown
    assert "pass" in shown
