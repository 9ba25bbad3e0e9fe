"""Configurations and states of routers, as far as no router is needed."""

from __future__ import annotations

from typing import Any

import pytest

from srv6net.compile.configuration import Edit, interface_path, sid_path, vrf_path
from srv6net.device import health
from srv6net.device.entries import edited, unqualified

SID = "fcbb:0:1:1000::/64"
RED = {"name": "red", "table-id": 1}
INSTALLED = {"state": {"install-status": "installed", "reason": ""}}


def test_an_edit_leaves_what_it_does_not_name() -> None:
    before = {
        "encapsulation": {"source-address": "2001:db8::1"},
        "vrfs": {"vrf": [RED, {"name": "theirs", "table-id": 2}]},
        "local-sids": {"sid": [{"prefix": SID}]},
    }
    after = edited(
        before,
        Edit(
            (sid_path(SID), vrf_path("absent")),
            {vrf_path("red"): RED | {"table-id": 3}, interface_path("eth1"): {"name": "eth1"}},
        ),
    )
    assert after == {
        "encapsulation": {"source-address": "2001:db8::1"},
        "vrfs": {"vrf": [{"name": "theirs", "table-id": 2}, {"name": "red", "table-id": 3}]},
        "local-sids": {"sid": []},
        "interfaces": {"interface": [{"name": "eth1"}]},
    }
    assert before["vrfs"]["vrf"][0] == RED


def test_members_of_other_modules_keep_theirs() -> None:
    value = {"srv6mgr-srv6:name": "red", "srv6mgr-bgp:bgp": {"rd": "1:1"}}
    assert unqualified(value) == {"name": "red", "srv6mgr-bgp:bgp": {"rd": "1:1"}}


def condition(type: str) -> dict[str, Any]:
    found = [{"type": type, "resource": "/x", "cause": "why"}]
    return {**INSTALLED, "service": {"service-state": "down", "condition": found}}


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (INSTALLED, []),
        ({}, ["VRF red: its status is not reported"]),
        (
            {"state": {"install-status": "pending"}},
            ["VRF red: it is pending: no reason is reported"],
        ),
        (
            {
                **INSTALLED,
                "srv6mgr-bgp:bgp": {"state": {"install-status": "failed", "reason": "x"}},
            },
            ["VRF red: it is failed in BGP: x"],
        ),
        (condition("export-incomplete"), ["VRF red: why"]),
        # A cable that is not there yet is no fault of the router.
        (condition("vrf-interface-down"), []),
    ],
)
def test_faults_are_what_the_router_itself_did_not_do(
    state: dict[str, Any], found: list[str]
) -> None:
    assert health.faults(vrf_path("red"), state) == found
