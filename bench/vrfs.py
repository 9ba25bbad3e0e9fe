"""The configurations of many VRFs: each with an RD, route targets and a SID that BGP advertises."""

from __future__ import annotations

from typing import Any

VRFS = 1000
_FIRST_TABLE = 1000


def config(count: int) -> dict[str, Any]:
    """RFC 7951 JSON of a configuration with so many VRFs, a locator and a BGP session."""
    bgp = {
        "as-number": 65000,
        "router-id": "192.0.2.1",
        "neighbor": [
            {"address": "2001:db8::2", "remote-as": 65000, "update-source": "2001:db8::1"}
        ],
    }
    return {
        "srv6mgr-srv6:srv6": {
            "encapsulation": {"source-address": "2001:db8::1"},
            "locators": {"locator": [{"name": "MAIN", "prefix": "fcbb:0:1::/48"}]},
            "interfaces": {"interface": [{"name": "to-p", "role": "core"}]},
            "vrfs": {"vrf": [_vrf(number) for number in range(count)]},
            "srv6mgr-bgp:bgp": bgp,
        }
    }


def extra(number: int) -> dict[str, Any]:
    """One more VRF, to be merged."""
    return {"srv6mgr-srv6:srv6": {"vrfs": {"vrf": [_vrf(number)]}}}


def _vrf(number: int) -> dict[str, Any]:
    table = _FIRST_TABLE + number
    target = f"65000:{table}"
    return {
        "name": f"v{table}",
        "table-id": table,
        "srv6mgr-bgp:bgp": {
            "rd": target,
            "import-rt": [target],
            "export-rt": [target],
            "locator": "MAIN",
            "export-function": table,
        },
    }
