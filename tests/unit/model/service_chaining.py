"""A router with a firewall and two caches, and a chain through both."""

from __future__ import annotations

import copy
from typing import Any

from srv6mgrd.model.desired import Desired
from srv6mgrd.model.parse import parse

CONFIG: dict[str, Any] = {
    "encapsulation": {"source-address": "2001:db8::1"},
    "locators": {"locator": [{"name": "main", "prefix": "fcbb:0:1::/48"}]},
    "vrfs": {"vrf": [{"name": "red", "table-id": 10, "interface": ["ce1"]}]},
    "local-sids": {
        "sid": [
            {"prefix": "fcbb:0:1:64::/64", "locator": "main", "behavior": "End.DT46", "vrf": "red"}
        ]
    },
    "srv6mgr-chain:service-chaining": {
        "service-function": [
            {
                "name": "firewall",
                "proxy": {
                    "locator": "main",
                    "sid-function": 4096,
                    "inner-type": ["ipv6", "ipv4"],
                    "interface": "fw-in",
                    "return-interface": "fw-out",
                    "ipv4-next-hop": "10.9.0.2",
                    "ipv6-next-hop": "fd09::2",
                    "return-ipv4-next-hop": "10.9.1.2",
                    "return-ipv6-next-hop": "fd09:1::2",
                },
            },
            {
                "name": "cache1",
                "weight": 3,
                "proxy": {
                    "locator": "main",
                    "sid-function": 4102,
                    "inner-type": ["ipv4"],
                    "interface": "cache1",
                    "ipv4-next-hop": "10.9.2.2",
                },
            },
            {
                "name": "cache2",
                "function-sid": [
                    {"address": "fcbb:0:2:1::", "inner-type": ["ipv4"], "direction": ["forward"]},
                    {"address": "fcbb:0:2:2::", "inner-type": ["ipv4"], "direction": ["reverse"]},
                ],
            },
        ],
        "service-function-group": [
            {"name": "caches", "service-function": ["cache2", "cache1"]},
        ],
        "service-function-chain": [
            {
                "name": "web",
                "hop": [
                    {"index": 2, "service-function-group": "caches", "on-failure": "drop"},
                    {"index": 1, "service-function": "firewall"},
                ],
                "forward": {"vrf": "red"},
                "reverse": {"segment": ["fcbb:0:3:64::"]},
            }
        ],
        "classifier": [
            {
                "name": "tenant",
                "vrf": "red",
                "rule": [
                    {
                        "priority": 20,
                        "source-prefix": "10.1.0.0/24",
                        "protocol": "tcp",
                        "destination-port": "80-443",
                        "service-function-chain": "web",
                    },
                    {"priority": 10, "destination-prefix": "10.2.0.9/32"},
                ],
            }
        ],
    },
}


def config() -> dict[str, Any]:
    """A copy, to be changed."""
    return copy.deepcopy(CONFIG)


def desired(changed: dict[str, Any] | None = None) -> Desired:
    return parse({"srv6mgr-srv6:srv6": changed or CONFIG})
