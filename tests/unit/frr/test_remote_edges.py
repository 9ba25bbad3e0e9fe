"""Which edges the SIDs of BGP's routes are of, as zebra 10.3 prints its routes."""

from __future__ import annotations

import json
from ipaddress import IPv6Address
from typing import Any

from srv6mgrd.frr.remote_edges import next_hops
from srv6mgrd.service_state.evidence import RouteCount

RED, OTHER = "fcbb:0:2:64::", "fcbb:0:3:64::"
GATEWAY = {"ip": "2001:db8:1::2", "interfaceName": "to-p"}


def tunnel(sid: str, next_hop: str) -> list[dict[str, Any]]:
    through = {"seg6": {"segs": sid}}
    return [
        {"ip": next_hop, "recursive": True, "active": True, **through},
        {**GATEWAY, "resolver": True, **through},
    ]


class Zebra:
    def __init__(self, shown: dict[str, Any]) -> None:
        self.shown = shown
        self.asked: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        assert daemon == "zebra"
        self.asked.append(command)
        return json.dumps(self.shown.get(command, {}))


def test_next_hops_by_sid() -> None:
    zebra = Zebra(
        {
            "show ip route vrf red bgp json": {
                "10.2.0.0/24": [{"nexthops": tunnel(RED, "2001:db8::2")}],
                "10.3.0.0/24": [
                    {"nexthops": [*tunnel(RED, "2001:db8::9"), *tunnel(OTHER, "2001:db8::3")]}
                ],
                "10.4.0.0/24": [{"nexthops": [GATEWAY]}],
                "10.5.0.0/24": [{"nexthops": [{**GATEWAY, "seg6": [RED, OTHER]}]}],
            }
        }
    )
    assert next_hops(zebra, {"red": RouteCount(4, 0)}) == {
        IPv6Address(RED): {"2001:db8::2", "2001:db8::9"},
        IPv6Address(OTHER): {"2001:db8::3"},
    }
    # Of no route is asked for nothing.
    assert len(zebra.asked) == 1


def test_few_vrfs_with_few_routes_are_asked_for() -> None:
    zebra = Zebra({})
    routes = {f"v{n}": RouteCount(0, 1) for n in range(30)}
    next_hops(zebra, {"large": RouteCount(1_999, 2), "empty": RouteCount(), **routes})
    assert zebra.asked == [f"show ipv6 route vrf v{n} bgp json" for n in range(10)]
