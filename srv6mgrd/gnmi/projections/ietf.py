"""SIDs as draft-ietf-spring-srv6-yang shows them (ietf-srv6-base, ietf-srv6-types 2026-05-06)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.counters.status import InstallStatus
from srv6mgrd.gnmi.path import Step
from srv6mgrd.gnmi.projections.view import Sid, View, container, counter, leaf, listed
from srv6mgrd.gnmi.schema import Base, Kind, Node, root

_ROUTING, _SR, _SRV6 = "ietf-routing", "ietf-segment-routing", "ietf-srv6-base"
_TYPES = "ietf-srv6-types"
# What is declared is static there; all SIDs of this router are.
_OWNER = f"{_TYPES}:static"
_INSTANCE = "srv6mgr"

# Where flavors make another identity there, or ours has none.
_BEHAVIORS: Mapping[tuple[str, frozenset[str]], str] = {
    ("End", frozenset({"psp"})): "End_PSP",
    ("End", frozenset({"next-csid"})): "END.NEXT-CSID",
    ("End", frozenset({"psp", "next-csid"})): "END.NEXT-CSID_PSP",
    ("End.X", frozenset({"next-csid"})): "END.X.NEXT-CSID",
    ("End.BPF", frozenset()): "",
}


def behavior(config: Mapping[str, Any]) -> str:
    """Identity of a SID's behavior and flavors; empty when the draft has none."""
    name = str(config.get("behavior", "")).rpartition(":")[2]
    identity = _BEHAVIORS.get((name, frozenset(config.get("flavor", ()))), name)
    return f"{_TYPES}:{identity}" if identity else ""


def _entry(sid: Sid) -> dict[str, Any]:
    installed = sid.status.status is InstallStatus.INSTALLED
    entry: dict[str, Any] = {
        "sid": sid.prefix,
        "behavior": behavior(sid.config),
        "locator": sid.config.get("locator"),
        "allocation": {
            "alloc-type": "Explicit",
            "owner": {
                (_OWNER, _INSTANCE): {
                    "type": _OWNER,
                    "instance": _INSTANCE,
                    "is-winner": installed,
                }
            },
        },
        "forwarding": {"is-installed": installed},
    }
    if sid.config.get("counters") is not False:
        entry["counters"] = {
            "success": {
                "in-pkts": str(sid.counters.packets),
                "in-octets": str(sid.counters.octets),
            }
        }
    return {name: value for name, value in entry.items() if value}


def views() -> tuple[View, ...]:
    """The list of local SIDs."""
    routing = root().add(Node("routing", _ROUTING, config=False))
    sids = container(container(container(routing, "segment-routing", _SR), "srv6", _SRV6), "sids")
    sid = listed(sids, "sid", leaf(_SRV6, "sid", typedef="ipv6-prefix"))
    sid.add(leaf(_SRV6, "behavior", Base.IDENTITY))
    sid.add(leaf(_SRV6, "locator"))
    allocation = container(sid, "allocation")
    allocation.add(leaf(_SRV6, "alloc-type"))
    owner = listed(
        allocation,
        "owner",
        leaf(_SRV6, "type", Base.IDENTITY),
        leaf(_SRV6, "instance"),
    )
    owner.add(leaf(_SRV6, "is-winner", Base.BOOL))
    container(sid, "forwarding").add(leaf(_SRV6, "is-installed", Base.BOOL))
    success = container(container(sid, "counters"), "success")
    success.add(counter(_SRV6, "in-pkts"))
    success.add(counter(_SRV6, "in-octets"))
    path = tuple(
        Step(node, (None,)) if node.kind is Kind.LIST else Step(node) for node in sid.lineage()
    )
    return (View(path, _entry, origins=("ietf", _ROUTING), bare=False),)
