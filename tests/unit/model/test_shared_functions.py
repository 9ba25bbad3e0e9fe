"""Warnings of functions that several VRFs share."""

from __future__ import annotations

from srv6mgrd.model.shared_functions import warnings
from tests.unit.model.service_chaining import config, desired


def test_one_vrf_has_it_alone() -> None:
    assert list(warnings(desired())) == []


def test_flows_of_two_vrfs_may_be_alike() -> None:
    tree = config()
    tree["vrfs"]["vrf"].append({"name": "blue", "table-id": 20, "interface": ["ce2"]})
    rules = tree["srv6mgr-chain:service-chaining"]["classifier"][0]["rule"]
    tree["srv6mgr-chain:service-chaining"]["classifier"].append(
        {"name": "other", "vrf": "blue", "rule": rules}
    )
    # Of functions elsewhere their own router knows.
    assert list(warnings(desired(tree))) == [
        f"service function {name}: packets of VRFs blue, red go through it, which knows flows by"
        " addresses and ports alone; give each VRF a function of its own where addresses overlap"
        for name in ("firewall", "cache1")
    ]
