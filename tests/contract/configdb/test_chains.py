"""A service function chain by rows of CONFIG_DB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.contract.configdb.conftest import Northbound

CHAINING = "srv6mgr-chain:service-chaining"
CHAIN, HOP = "SRV6MGR_SERVICE_FUNCTION_CHAIN|clean", "SRV6MGR_CHAIN_HOP|clean|10"
SHAPER, RULE = "SRV6MGR_SERVICE_FUNCTION|shaper", "SRV6MGR_CLASSIFIER_RULE|tenant|10"
SID = "SRV6_MY_SIDS|MAIN|fcbb:bbbb:20:64::/64"
# Dependents first: order must not matter.
ROWS: Mapping[str, Mapping[str, str]] = {
    RULE: {
        "source_prefix": "10.1.0.0/24",
        "protocol": "tcp",
        "destination_port": "80-443",
        "service_function_chain": "clean",
    },
    "SRV6MGR_CLASSIFIER_RULE|tenant|20": {"protocol": "58"},
    "SRV6MGR_CLASSIFIER|tenant": {"vrf": "Vrf1"},
    HOP: {"service_function": "firewall", "on_failure": "chain"},
    "SRV6MGR_CHAIN_HOP|clean|20": {"service_function_group": "shapers", "on_failure": "bypass"},
    "SRV6MGR_CHAIN_HOP|plain|10": {"service_function": "shaper"},
    CHAIN: {"forward_vrf": "Vrf1", "fallback_chain": "plain"},
    "SRV6MGR_SERVICE_FUNCTION_CHAIN|plain": {"forward_segments@": "fcbb:bbbb:22::,fcbb:bbbb:21::"},
    "SRV6MGR_SERVICE_FUNCTION_GROUP|shapers": {"functions@": "shaper"},
    "SRV6MGR_FUNCTION_SID|shaper|fcbb:bbbb:21:f000::": {
        "inner_type@": "ipv4",
        "direction@": "forward,reverse",
    },
    SHAPER: {"weight": "1", "health_check": "false"},
    "SRV6MGR_SERVICE_FUNCTION|firewall": {
        "locator": "MAIN",
        "sid_function": "61440",
        "inner_type@": "ipv4",
        "interface": "fw-in",
        "return_interface": "fw-out",
        "ipv4_next_hop": "10.9.0.2",
        "return_ipv4_next_hop": "10.9.1.2",
        "drain": "false",
        "health_interval": "100",
    },
    SID: {"action": "uDT46", "decap_vrf": "Vrf1"},
    "VRF|Vrf1": {"NULL": "NULL"},
    "SRV6_MY_SOURCE|tunnel-source": {"source-address": "2064:100::1d"},
    "SRV6_MY_LOCATORS|MAIN": {"prefix": "fcbb:bbbb:20::"},
}


def entry(northbound: Northbound, name: str, key: str = "clean") -> Any:
    return northbound.running(CHAINING, name).get(key, {})


def test_rows_make_a_whole_chain(northbound: Northbound) -> None:
    for row, fields in ROWS.items():
        northbound.config.hset(row, mapping=dict(fields))
    for row in ROWS:
        northbound.wait(row, "accepted")
    proxy = entry(northbound, "service-function", "firewall")["proxy"]
    assert (proxy["locator"], proxy["sid-function"]) == ("MAIN", 61440)
    shaper = entry(northbound, "service-function", "shaper")
    assert shaper["function-sid"][0]["address"] == "fcbb:bbbb:21:f000::"
    assert shaper["health-check"]["enabled"] is False
    assert entry(northbound, "service-function-group", "shapers")["service-function"] == ["shaper"]
    clean = entry(northbound, "service-function-chain")
    assert [hop["index"] for hop in clean["hop"]] == [10, 20]
    assert (clean["forward"], clean["fallback-chain"]) == ({"vrf": "Vrf1"}, "plain")
    plain = entry(northbound, "service-function-chain", "plain")
    assert plain["forward"] == {"segment": ["fcbb:bbbb:22::", "fcbb:bbbb:21::"]}
    rules = entry(northbound, "classifier", "tenant")["rule"]
    assert [rule["priority"] for rule in rules] == [10, 20]
    # A leaf changes, a hop goes, a rule comes.
    northbound.config.hset(RULE, mapping={"destination_port": "443"})
    northbound.config.hset("SRV6MGR_CLASSIFIER_RULE|tenant|15", mapping={"dscp": "46"})
    northbound.config.delete("SRV6MGR_CHAIN_HOP|clean|20")
    northbound.wait_until(lambda: len(entry(northbound, "service-function-chain")["hop"]) == 1)
    northbound.wait_until(lambda: len(entry(northbound, "classifier", "tenant")["rule"]) == 3)
    assert entry(northbound, "classifier", "tenant")["rule"][0]["destination-port"] == "443"
    # The model's words, and a row that is wrong: the chain stays as it is.
    northbound.config.hdel(CHAIN, "fallback_chain")
    northbound.wait(CHAIN, "refused", "add fallback-chain")
    northbound.config.hset(CHAIN, mapping={"fallback_chain": "plain"})
    northbound.wait(CHAIN, "accepted")
    northbound.config.hset(HOP, mapping={"on_failure": "none"})
    northbound.wait(HOP, "refused", "on_failure 'none' is unknown; write one of bypass")
    northbound.wait(CHAIN, "refused", f"{HOP} is a part of it, and wrong")
    assert len(entry(northbound, "service-function-chain")["hop"]) == 1
    # What others need stays until they are gone.
    northbound.config.delete(SHAPER)
    northbound.wait(SHAPER, "removed", "service function shaper")
    northbound.config.delete(*ROWS, "SRV6MGR_CLASSIFIER_RULE|tenant|15")
    northbound.wait_until(lambda: not northbound.container(CHAINING))
    northbound.wait_until(lambda: not northbound.running("locators", "locator"))
    northbound.wait_until(lambda: not northbound.state.keys("*"))
