"""Rules of NACM for nodes that are denied to all others (RFC 8341 section 3.4.5)."""

from __future__ import annotations

from typing import Any

import pytest

from srv6mgrd.datastore.secrets import groups_of, permits

NODE = "/srv6mgr-srv6:srv6/srv6mgr-bgp:bgp/neighbor[address='2001:db8::2']/password"
BGP = "/srv6mgr-srv6:srv6/srv6mgr-bgp:bgp"
STAFF = frozenset({"staff"})


def nacm(*rules: dict[str, Any], group: str = "staff", **more: Any) -> dict[str, Any]:
    return {"rule-list": [{"name": "l", "group": [group], "rule": list(rules)}], **more}


def rule(action: str = "permit", **more: str) -> dict[str, Any]:
    return {"name": "r", "action": action, **{k.replace("_", "-"): v for k, v in more.items()}}


@pytest.mark.parametrize(
    ("configured", "permitted"),
    [
        (nacm(), False),
        (nacm(**{"write-default": "permit"}), False),
        (nacm(**{"enable-nacm": False}), True),
        (nacm(rule()), True),
        (nacm(rule(), group="*"), True),
        (nacm(rule(), group="others"), False),
        (nacm(rule(path=BGP)), True),
        (nacm(rule(path=f"{BGP}/neighbor[address='2001:db8::2']")), True),
        (nacm(rule(path=f"{BGP}/neighbor[address='2001:db8::3']")), False),
        (nacm(rule(path="/srv6mgr-srv6:srv6/vrfs")), False),
        (nacm(rule(path=f"{NODE}/below")), False),
        (nacm(rule(module_name="srv6mgr-bgp")), True),
        (nacm(rule(module_name="srv6mgr-srv6")), False),
        (nacm(rule(access_operations="read update")), True),
        (nacm(rule(access_operations="read create")), False),
        (nacm(rule(rpc_name="plan")), False),
        (nacm(rule("deny", path=BGP), rule()), False),
    ],
)
def test_permits(configured: dict[str, Any], permitted: bool) -> None:
    assert permits(configured, STAFF, NODE, "update") is permitted


def test_who_is_in_no_group_is_under_no_rule() -> None:
    assert not permits(nacm(rule(), group="*"), frozenset(), NODE, "update")


def of_the_system(_user: str) -> frozenset[str]:
    return frozenset({"operators"})


def test_groups() -> None:
    listed = {"group": [{"name": "staff", "user-name": ["alice"]}, {"name": "b"}]}
    assert groups_of(
        {"groups": listed, "enable-external-groups": False}, "alice", of_the_system
    ) == (STAFF)
    assert groups_of({}, "alice", of_the_system) == {"operators"}
