"""Declared objects with their status, as rows and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srv6mgrd.cli.output import Cell, Column
from srv6mgrd.cli.units import ago
from srv6mgrd.model.desired import Sid, SteeredRoute
from srv6mgrd.model.status import InstallStatus, ObjectStatus
from srv6mgrd.model.times import time_text

# Columns of a status, for ``status_cell``, ``since_cell`` and the reason.
STATE = (Column("STATUS"), Column("SINCE", right=True), Column("REASON"))
UNKNOWN = ObjectStatus(InstallStatus.PENDING, "srv6mgrd has not told of it yet")
_STYLES = {
    InstallStatus.INSTALLED: "good",
    InstallStatus.PENDING: "warn",
    InstallStatus.DRIFTED: "warn",
    InstallStatus.UNSUPPORTED: "dim",
    InstallStatus.FAILED: "bad",
    InstallStatus.REJECTED: "bad",
    InstallStatus.UNKNOWN: "warn",
}


def status_cell(status: ObjectStatus) -> Cell:
    """The status in its colour."""
    return Cell(status.status.text, _STYLES[status.status])


def since_cell(status: ObjectStatus, now: int) -> Cell:
    """For how long it has been so."""
    return Cell(ago(status.since, now), "dim")


def status_json(status: ObjectStatus) -> dict[str, Any]:
    """The leaves of ``state``, numbers as numbers."""
    reported: dict[str, Any] = {
        "install-status": status.status.text,
        "reason": status.reason,
        "repairs": status.repairs,
    }
    if status.since:
        reported["since"] = time_text(status.since)
    if status.last_repair:
        reported["last-repair"] = time_text(status.last_repair)
    return reported


def leads_to(sid: Sid) -> str:
    """Where a SID sends what it has processed."""
    if sid.proxy is not None:
        return f"function at {sid.proxy.interface}"
    parts = []
    if sid.vrf is not None:
        parts.append(f"VRF {sid.vrf}")
    if sid.next_hop is not None:
        parts.append(f"via {sid.next_hop}")
    if sid.interface is not None:
        parts.append(f"dev {sid.interface}")
    if sid.segment_list is not None:
        parts.append(f"list {sid.segment_list}")
    if sid.bpf_program is not None:
        parts.append(sid.bpf_program)
    return " ".join(parts) or "next segment"


def behavior_of(sid: Sid) -> str:
    """Its behavior with flavors: ``End psp``."""
    return " ".join([sid.behavior.value, *sorted(flavor.value for flavor in sid.flavors)])


def sid_json(sid: Sid) -> dict[str, Any]:
    """What is declared of a SID, in the model's words."""
    reported: dict[str, Any] = {
        "prefix": str(sid.prefix),
        "behavior": sid.behavior.value,
        "locator": sid.locator,
        "flavor": sorted(flavor.value for flavor in sid.flavors),
        "vrf": sid.vrf,
        "next-hop": str(sid.next_hop) if sid.next_hop is not None else None,
        "interface": sid.proxy.interface if sid.proxy is not None else sid.interface,
        "segment-list": sid.segment_list,
        "bpf-program": sid.bpf_program,
    }
    return {name: value for name, value in reported.items() if value not in (None, [])}


def route_json(route: SteeredRoute) -> dict[str, Any]:
    """What is declared of a steered prefix."""
    return {
        "vrf": route.vrf or "main",
        "prefix": str(route.prefix),
        "segment-list": route.segment_list,
        "behavior": route.behavior.value,
        "metric": route.metric,
    }


def proxy_totals(state: Mapping[str, Any]) -> dict[str, int]:
    """Packets of a proxy both ways and all its errors, of the container ``proxy/state``."""
    errors = state.get("errors", {})
    return {
        "to-function": int(state.get("to-function", {}).get("pkts", 0)),
        "from-function": int(state.get("from-function", {}).get("pkts", 0)),
        "errors": sum(int(value) for value in errors.values()),
    }


def segments_of(state: Mapping[str, Any]) -> list[str]:
    """The chain that a proxy puts back on at present, the next segment first."""
    listed = state.get("chain", {}).get("segment", [])
    return [s["sid"] for s in sorted(listed, key=lambda s: int(s["index"]))]
