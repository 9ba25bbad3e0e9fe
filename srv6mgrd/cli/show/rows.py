"""Declared objects with their status, as rows and as JSON. Pure."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from srv6mgrd.cli.output import Cell
from srv6mgrd.cli.show.table import Field
from srv6mgrd.cli.units import ago
from srv6mgrd.model.behavior import Behavior
from srv6mgrd.model.desired import Sid, SteeredRoute
from srv6mgrd.model.status import InstallStatus, ObjectStatus, SidCounters
from srv6mgrd.model.times import time_text

R = TypeVar("R")

UNKNOWN = ObjectStatus(InstallStatus.PENDING, "srv6mgrd has not reported it yet")
_PROXY = "srv6mgr-proxy:proxy"
_PROXIES = frozenset(behavior.value for behavior in Behavior if behavior.is_proxy)
# Leaves of a SID, and those of them that say where it leads.
_LEAVES = (
    "prefix", "behavior", "locator", "flavor", "vrf", "next-hop", "interface", "segment-list",
    "bpf-program", "default-vrf",
)  # fmt: skip
_LEADS = (
    ("vrf", "VRF "),
    ("next-hop", "via "),
    ("interface", "dev "),
    ("segment-list", "list "),
    ("bpf-program", ""),
)
_STYLES = {
    InstallStatus.INSTALLED: "good",
    InstallStatus.PENDING: "warn",
    InstallStatus.DRIFTED: "warn",
    InstallStatus.UNSUPPORTED: "dim",
    InstallStatus.FAILED: "bad",
    InstallStatus.REJECTED: "bad",
    InstallStatus.UNKNOWN: "warn",
}


def state_fields(status: Callable[[R], ObjectStatus]) -> tuple[Field[R], ...]:
    """Columns of a status: what it is, since when, and why."""
    now = time.time_ns
    return (
        Field("STATUS", lambda row: status_cell(status(row))),
        Field("SINCE", lambda row: since_cell(status(row), now()), right=True,
              key=lambda row: -status(row).since),
        Field("REASON", lambda row: status(row).reason, optional=True),
    )  # fmt: skip


def number(title: str, value: Callable[[R], int]) -> Field[R]:
    """A column of whole numbers."""
    return Field(title, lambda row: str(value(row)), right=True, key=value)


def errors(title: str, value: Callable[[R], int]) -> Field[R]:
    """A column of numbers that are bad unless they are 0."""
    return Field(title, lambda row: error_cell(value(row)), right=True, key=value)


def error_cell(count: int) -> Cell | str:
    return Cell(str(count), "bad") if count else "0"


def prefix_key(text: str) -> tuple[bytes, int]:
    """By what prefixes of one family are ordered."""
    address, _, length = text.partition("/")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.inet_pton(family, address), int(length or 128)


def status_cell(status: ObjectStatus) -> Cell:
    """The status in its colour."""
    return Cell(status.status.text, _STYLES[status.status])


def since_cell(status: ObjectStatus, now: int) -> Cell:
    """For how long it has been so."""
    return Cell(ago(status.since, now), "dim")


def status_json(status: ObjectStatus) -> dict[str, Any]:
    """The leaves of ``state``, numbers as numbers."""
    return dict(_status_json(status))


# Thousands of objects share a status.
@lru_cache(maxsize=1024)
def _status_json(status: ObjectStatus) -> Mapping[str, Any]:
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


def counters_json(c: SidCounters) -> dict[str, Any]:
    """The container ``counters``, numbers as numbers."""
    reported: dict[str, Any] = {
        "in-pkts": c.packets,
        "in-octets": c.octets,
        "in-errors": c.errors,
    }
    if c.discontinuity:
        reported["discontinuity-time"] = time_text(c.discontinuity)
    return reported


def leads_to(sid: Mapping[str, Any]) -> str:
    """Where a SID sends what it has processed. ``sid`` is an entry of the model's list."""
    if behavior_name(sid) in _PROXIES:
        return f"function at {sid[_PROXY]['interface'] if _PROXY in sid else sid['interface']}"
    if sid.get("default-vrf"):
        return "VRF default"
    parts = [word + sid[leaf] for leaf, word in _LEADS if leaf in sid]
    return " ".join(parts) or "next segment"


def behavior_of(sid: Mapping[str, Any]) -> str:
    """Its behavior with flavors: ``End psp``."""
    name = behavior_name(sid)
    return " ".join([name, *sorted(sid["flavor"])]) if "flavor" in sid else name


def behavior_name(sid: Mapping[str, Any]) -> str:
    """Without the module that RFC 7951 puts in front."""
    name: str = sid["behavior"].rpartition(":")[2]
    return name


def entry_json(sid: Mapping[str, Any]) -> dict[str, Any]:
    """What is declared of a SID by an entry of the model's list."""
    reported = {leaf: sid[leaf] for leaf in _LEAVES if leaf in sid}
    reported["behavior"] = behavior_name(sid)
    if _PROXY in sid:
        reported["interface"] = sid[_PROXY]["interface"]
    return reported


def sid_json(sid: Sid) -> dict[str, Any]:
    """The same of a SID as srv6mgrd has it."""
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
        "default-vrf": sid.default_vrf or None,
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
