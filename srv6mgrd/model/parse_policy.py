"""Routing policies of the configuration: YANG JSON (RFC 7951) to desired state."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from srv6mgrd.model.entries import entries
from srv6mgrd.model.routing_policy import (
    Actions,
    ApplyPolicy,
    CommunityOption,
    Conditions,
    Policy,
    PolicyResult,
    PrefixRange,
    RoutingPolicy,
    Statement,
)

_Entry = Mapping[str, Any]


def routing_policy(e: _Entry) -> RoutingPolicy:
    """``/srv6/routing-policy``."""
    sets: _Entry = e.get("defined-sets", {})
    return RoutingPolicy(
        policies={
            p["name"]: _policy(p) for p in entries(e, "policy-definitions", "policy-definition")
        },
        prefix_sets={
            s["name"]: tuple(map(_range, s.get("prefix", ())))
            for s in entries(sets, "prefix-sets", "prefix-set")
        },
        community_sets={
            s["name"]: tuple(s.get("member", ()))
            for s in entries(sets, "community-sets", "community-set")
        },
        as_path_sets={
            s["name"]: tuple(s.get("member", ()))
            for s in entries(sets, "as-path-sets", "as-path-set")
        },
    )


def apply_policy(e: _Entry) -> ApplyPolicy:
    """The ``apply-policy`` of a neighbor or a VRF."""
    found: _Entry = e.get("apply-policy", {})
    return ApplyPolicy(found.get("import-policy"), found.get("export-policy"))


def _range(e: _Entry) -> PrefixRange:
    return PrefixRange(
        ip_network(e["ip-prefix"], strict=False),
        e.get("mask-length-lower"),
        e.get("mask-length-upper"),
    )


def _policy(e: _Entry) -> Policy:
    statements = map(_statement, e.get("statement", ()))
    return Policy(e["name"], tuple(sorted(statements, key=lambda s: s.sequence)))


def _statement(e: _Entry) -> Statement:
    conditions: _Entry = e.get("conditions", {})
    communities: _Entry = conditions.get("match-community-set", {})
    return Statement(
        e["sequence"],
        Conditions(
            prefix_set=conditions.get("match-prefix-set"),
            community_set=communities.get("community-set"),
            all_communities=communities.get("match-set-options", "any") == "all",
            as_path_set=conditions.get("match-as-path-set"),
            tag=conditions.get("match-tag"),
        ),
        _actions(e.get("actions", {})),
    )


def _actions(e: _Entry) -> Actions:
    communities: _Entry = e.get("set-community", {})
    prepend: _Entry = e.get("set-as-path-prepend", {})
    return Actions(
        result=PolicyResult(e.get("policy-result", PolicyResult.ACCEPT)),
        local_pref=e.get("set-local-pref"),
        med=e.get("set-med"),
        tag=e.get("set-tag"),
        communities=tuple(communities.get("community", ())),
        community_option=CommunityOption(communities.get("options", CommunityOption.ADD)),
        prepend=prepend.get("repeat-n", 0),
        prepend_as=prepend.get("asn"),
    )
