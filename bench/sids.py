"""The configurations that are measured: one locator, and as many SIDs as asked for."""

from __future__ import annotations

import os
from typing import Any

SIDS = (10_000, 100_000)


def address(number: int) -> str:
    """The SID of this number, from 1 on."""
    return f"fcbb:0:{0x100 + (number >> 16):x}:{number & 0xFFFF:x}::/64".replace(":0::/", "::/")


# Set where the kernel has no VRF: the SIDs then need none.
NO_VRF = "BENCH_NO_VRF"


def config(count: int) -> dict[str, Any]:
    """RFC 7951 JSON of a configuration with SIDs 1 to ``count``."""
    sids = [_sid(number) for number in range(1, count + 1)]
    vrfs = [] if os.environ.get(NO_VRF) else [{"name": "red", "table-id": 10}]
    locator = {
        "name": "MAIN",
        "prefix": "fcbb::/32",
        "block-length": 16,
        "node-length": 16,
        "function-length": 32,
    }
    return {
        "srv6mgr-srv6:srv6": {
            "locators": {"locator": [locator]},
            "vrfs": {"vrf": vrfs},
            "local-sids": {"sid": sids},
        }
    }


def extra(number: int) -> dict[str, Any]:
    """One more SID, to be merged."""
    return {"srv6mgr-srv6:srv6": {"local-sids": {"sid": [_sid(number)]}}}


def _sid(number: int) -> dict[str, Any]:
    """The behaviors in turn, so that no one layout of messages is all there is."""
    behavior: dict[str, Any] = (
        {"behavior": "End.DT46", "vrf": "red"},
        {"behavior": "End.DT6"},
        {"behavior": "End.X", "next-hop": "2001:db8::1"},
        {"behavior": "End"},
    )[number % 4]
    if "vrf" in behavior and os.environ.get(NO_VRF):
        behavior = {"behavior": "End.DT6"}
    return {"prefix": address(number), "locator": "MAIN", **behavior}
